/* file_bytes.h - a file that a fuzzer built as a program is given. */
#ifndef TUTTI_TESTS_FUZZ_FILE_BYTES_H
#define TUTTI_TESTS_FUZZ_FILE_BYTES_H
#include <stdio.h>
#include <stdlib.h>

/* The caller frees it; NULL: there is no such file. */
static inline char *file_bytes(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*n + 1);
    if (bytes)
        *n = fread(bytes, 1, *n, file);
    fclose(file);
    return bytes;
}
#endif
