/* crc32.c - the remainder of the bytes, as a polynomial over bits, by 0xEDB88320; eight at a time.
 *
 * table[k][b] is the remainder of byte b with k bytes of zeros behind it.
 *
 * The remainder of a sum is the sum (^) of the remainders, and zeros in front of bytes change nothing.
 * So those who have parts of a whole each take the remainder of theirs with zeros in place of what
 * they lack; behind a part zeros are a power of x to multiply by.  The checksum proper begins with a
 * rest of ones and ends with its complement, which is put right at the end. */
#include "files/crc32.h"

#include <pthread.h>
#include <string.h>

static const uint32_t POLYNOMIAL = 0xEDB88320u;

static uint32_t table[8][256];
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t rest = b;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? POLYNOMIAL : 0);
        table[0][b] = rest;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

uint32_t crc32_of(uint32_t before, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint32_t crc = ~before;
    pthread_once(&made, make_table);
    for (; n >= 8; n -= 8, at += 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= crc;
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
              table[4][low >> 24] ^ table[3][high & 255] ^ table[2][high >> 8 & 255] ^
              table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    for (; n; n--)
        crc = crc >> 8 ^ table[0][(crc ^ *at++) & 255];
    return ~crc;
}

/* ---- shares ---- */

static const uint32_t ONE =
    0x80000000u; /* the polynomial 1: the highest bit has the lowest power */

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = ONE; bit; bit >>= 1) {
        product ^= a & bit ? b : 0;
        b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

/* x to the power of 8 n: n bytes of zeros. */
static uint32_t power_of_zeros(uint64_t n)
{
    uint32_t power = ONE, square = ONE >> 8;
    for (; n; n >>= 1, square = multiply(square, square))
        if (n & 1)
            power = multiply(power, square);
    return power;
}

/* Zeros follow, up to `at`. */
static void pass_zeros(CrcShare *share, uint64_t at)
{
    uint64_t gap = at - share->at;
    if (gap && share->rest) {
        if (gap != share->gap)
            share->power = power_of_zeros(gap);
        share->gap = gap;
        share->rest = multiply(share->rest, share->power);
    }
    share->at = at;
}

void crc32_share_add(CrcShare *share, uint64_t at, const void *bytes, size_t n)
{
    pass_zeros(share, at);
    share->rest = ~crc32_of(~share->rest, bytes, n);
    share->at = at + n;
}

uint32_t crc32_share_end(CrcShare *share, uint64_t size)
{
    pass_zeros(share, size);
    return share->rest;
}

uint32_t crc32_of_shares(uint32_t joined, uint64_t size)
{
    return ~(joined ^ multiply(UINT32_MAX, power_of_zeros(size)));
}
