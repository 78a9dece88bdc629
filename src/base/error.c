/* error.c - a code and a text.  The first word is PJRT's: a table of functions
 * that newer clients read an error by, set once by the plugin. */
#include "base/error.h"

#include "base/fail.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>

struct PJRT_Error {
    const void *vtable; /* set by the plugin; NULL elsewhere */
    ErrorCode code;
    Text text;
};

const void *error_vtable;

static Error *with_text(ErrorCode code, Text text)
{
    Error *error = malloc(sizeof *error);
    if (!error)
        fail("no memory for an error: %s", text_cstr(&text));
    *error = (Error){ error_vtable, code, text };
    return error;
}

Error *error_new(ErrorCode code, const char *format, ...)
{
    Text text = { 0 };
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    return with_text(code, text);
}

Error *error_copy(const Error *error)
{
    return error ? error_new(error->code, "%s", error_text(error)) : NULL;
}

Error *error_in(Error *error, const char *format, ...)
{
    Text text = { 0 };
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    text_printf(&text, ": %s", error_text(error));
    text_free(&error->text);
    error->text = text;
    return error;
}

void error_free(Error *error)
{
    if (!error)
        return;
    text_free(&error->text);
    free(error);
}

ErrorCode error_code(const Error *error)
{
    return error->code;
}

const char *error_text(const Error *error)
{
    return text_cstr(&error->text);
}
