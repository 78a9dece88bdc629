/* read.c - which of the two notations a program is in: bytecode says so in its first bytes. */
#include "hlo/module.h"

#include <string.h>

Error *read_program(const char *bytes, size_t n, const char *name, Module **out)
{
    static const char magic[] = { 'M', 'L', '\xEF', 'R' };
    if (n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0)
        return read_bytecode(bytes, n, name, out);
    return read_text(bytes, n, name, out);
}
