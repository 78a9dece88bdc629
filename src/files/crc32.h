/* crc32.h - the checksum of ZIP files, and of our checkpoints. */
#ifndef TUTTI_FILES_CRC32_H
#define TUTTI_FILES_CRC32_H
#include <stddef.h>
#include <stdint.h>

/* Of bytes that follow others, whose checksum is `before`; 0 at the beginning. */
uint32_t crc32_of(uint32_t before, const void *bytes, size_t n);
#endif
