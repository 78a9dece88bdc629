/* bytes.h - numbers of bytes, as people write them. */
#ifndef TUTTI_BASE_BYTES_H
#define TUTTI_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>

/* "1000000", "512M": K, M, G and T are 1024 and its powers.  False: it is no such number, 0, too large, or NULL. */
bool bytes_parse(const char *text, size_t *out);
#endif
