/* read_text.h - a program given as text in a test, as a module. */
#ifndef TUTTI_TESTS_READ_TEXT_H
#define TUTTI_TESTS_READ_TEXT_H
#include "hlo/module.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* NULL: it cannot be read, which is a failure and is said. */
static inline Module *read_module(const char *text)
{
    Module *m = NULL;
    Error *error = read_text(text, strlen(text), "test", &m);
    if (error)
        printf("%s\n%s\n", error_text(error), text);
    CHECK(!error);
    error_free(error);
    return m;
}
#endif
