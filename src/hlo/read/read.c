/* read.c - which of the two notations a program is in: bytecode says so in its first bytes. */
#include "hlo/module.h"

#include <string.h>

/* Bytes that text does not have: control characters other than white space. */
static bool is_binary(const char *bytes, size_t n)
{
    enum { ENOUGH = 256 };
    for (size_t i = 0; i < n && i < ENOUGH; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < ' ' && !(c >= '\t' && c <= '\r'))
            return true;
    }
    return false;
}

Error *read_program(const char *bytes, size_t n, const char *name, Module **out)
{
    static const char magic[] = { 'M', 'L', '\xEF', 'R' };
    if (n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0)
        return read_bytecode(bytes, n, name, out);
    if (is_binary(bytes, n))
        return error_new(
            CODE_INVALID,
            "%s is no StableHLO program: neither text, which has a func.func @main, nor "
            "MLIR bytecode, which begins with ML\\xEFR",
            name);
    return read_text(bytes, n, name, out);
}
