/* crc32.h - the checksum of ZIP files, and of our checkpoints. */
#ifndef TUTTI_FILES_CRC32_H
#define TUTTI_FILES_CRC32_H
#include <stddef.h>
#include <stdint.h>

/* Of bytes that follow others, whose checksum is `before`; 0 at the beginning. */
uint32_t crc32_of(uint32_t before, const void *bytes, size_t n);

/* The checksum of a whole that several have in parts.  Each makes its share, of runs of bytes in
 * rising order; the shares of parts that cover the whole, joined by ^, make the checksum. */
typedef struct CrcShare {
    uint32_t rest;  /* of the runs so far, zeros standing between them */
    uint64_t at;    /* where the last ended */
    uint64_t gap;   /* as it was last, */
    uint32_t power; /* and what it makes of a rest: runs mostly lie equally far apart */
} CrcShare;
void crc32_share_add(CrcShare *share, uint64_t at, const void *bytes, size_t n);
uint32_t crc32_share_end(CrcShare *share, uint64_t size); /* size: of the whole */
uint32_t crc32_of_shares(uint32_t joined, uint64_t size);
#endif
