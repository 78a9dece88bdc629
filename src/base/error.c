/* error.c - a code and a text.  The first word is PJRT's: a table of functions
 * that newer clients read an error by, set once by the plugin. */
#include "base/error.h"

#include "base/guard.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct PJRT_Error {
    _Atomic(const void *) vtable; /* set by the plugin; NULL elsewhere */
    ErrorCode code;
    char text[];
};

const void *error_vtable;

/* Shared by all failures that there is no memory for an error of; never freed. */
static Error no_memory = { .code = CODE_EXHAUSTED,
                           .text = "no memory, not even for the message that says for what" };

/* Under a guard the error is noted like any block, and without memory for it the guard is left. */
static Error *with_room(ErrorCode code, size_t n)
{
    size_t bytes = sizeof(Error) + n + 1;
    Error *error = guard_here() ? heap_new(bytes, "an error") : heap_try(bytes);
    if (error)
        error->code = code;
    else
        error = &no_memory;
    /* relaxed: every thread writes the same */
    atomic_store_explicit(&error->vtable, error_vtable, memory_order_relaxed);
    return error;
}

Error *error_new(ErrorCode code, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    n = n > 0 ? n : 0;
    Error *error = with_room(code, (size_t)n);
    if (error != &no_memory)
        vsnprintf(error->text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return error;
}

Error *error_copy(const Error *error)
{
    return error ? error_new(error->code, "%s", error->text) : NULL;
}

/* Without memory for the context, the error stays as it is. */
Error *error_in(Error *error, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    n = n > 0 ? n : 0;
    size_t old = strlen(error->text);
    Error *longer = error == &no_memory ? error : with_room(error->code, (size_t)n + 2 + old);
    if (longer != &no_memory) {
        vsnprintf(longer->text, (size_t)n + 1, format, again);
        memcpy(longer->text + n, ": ", 2);
        memcpy(longer->text + n + 2, error->text, old + 1);
        error_free(error);
        error = longer;
    }
    va_end(again);
    va_end(args);
    return error;
}

void error_note(Error *error, Guard *owner)
{
    if (error != &no_memory)
        heap_note(error, owner);
}

void error_free(Error *error)
{
    if (error != &no_memory)
        heap_free(error);
}

ErrorCode error_code(const Error *error)
{
    return error->code;
}

const char *error_text(const Error *error)
{
    return error->text;
}
