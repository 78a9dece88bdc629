/* fail.c - the one way out when our own code is wrong. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fail_at(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "tutti: bug at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
