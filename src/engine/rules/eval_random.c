/* eval_random.c - rng_bit_generator: random bits from a state, as XLA numbers them.
 *
 * The state is ui64[2], a key and a counter (ui64[3] for Philox: two words of counter).  Narrow
 * elements are the low bits of 32-bit ones.
 *
 *   Threefry  a count gives 64 bits: one 64-bit element, or two 32-bit ones, which are neighbours
 *             along the first even dimension (else the longest; then the last one is dropped):
 *
 *                 f32[2,3]:  counts  0 1 2     low halves
 *                                    0 1 2     high halves
 *
 *   Philox    a count gives 128 bits: two or four elements in row-major order.  The default. */
#include "engine/rules.h"
#include "engine/rules/eval_number.h"

enum { DEFAULT, THREE_FRY, PHILOX };

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* Threefry-2x32 with 20 rounds (Salmon and others, 2011). */
static uint64_t threefry(uint64_t key, uint64_t count)
{
    static const int turns[2][4] = { { 13, 15, 26, 6 }, { 17, 29, 16, 24 } };
    uint32_t keys[3] = { (uint32_t)key, (uint32_t)(key >> 32), 0 };
    keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDA;
    uint32_t x = (uint32_t)count + keys[0], y = (uint32_t)(count >> 32) + keys[1];
    for (uint32_t group = 0; group < 5; group++) {
        for (int i = 0; i < 4; i++) {
            x += y;
            y = rotate(y, turns[group % 2][i]) ^ x;
        }
        x += keys[(group + 1) % 3];
        y += keys[(group + 2) % 3] + group + 1;
    }
    return x | (uint64_t)y << 32;
}

/* Philox-4x32 with 10 rounds (the same paper); x holds the count going in. */
static void philox(uint64_t key, uint32_t x[4])
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
        uint32_t next[4] = { (uint32_t)(b >> 32) ^ x[1] ^ k0, (uint32_t)b,
                             (uint32_t)(a >> 32) ^ x[3] ^ k1, (uint32_t)a };
        for (int i = 0; i < 4; i++)
            x[i] = next[i];
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

/* The dimension along which two 32-bit elements share a count; -1: a scalar. */
static int shared_dimension(Type t)
{
    int longest = t.rank - 1;
    for (int d = t.rank - 1; d >= 0; d--)
        if (t.dims[d] >= t.dims[longest])
            longest = d;
    for (int d = 0; d < t.rank; d++)
        if (t.dims[d] % 2 == 0)
            return d;
    return longest;
}

static uint64_t fill_threefry(Tensor out, uint64_t key, uint64_t counter)
{
    int64_t n = type_count(out.type);
    if (element_info[out.type.element].bits == 64) {
        for (int64_t i = 0; i < n; i++)
            bits_set(out, i, threefry(key, counter + (uint64_t)i));
        return (uint64_t)n;
    }
    int along = shared_dimension(out.type);
    int64_t extent = along < 0 ? 1 : out.type.dims[along], inner = 1;
    for (int d = along + 1; d < out.type.rank; d++)
        inner *= out.type.dims[d];
    int64_t half = (extent + 1) / 2;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i / inner % extent, outer = i / inner / extent;
        int64_t count = (outer * half + at / 2) * inner + i % inner;
        bits_set(out, i, threefry(key, counter + (uint64_t)count) >> (at % 2 ? 32 : 0));
    }
    return (uint64_t)(n ? n / extent * half : 0);
}

static uint64_t fill_philox(Tensor out, uint64_t key, uint64_t low, uint64_t high)
{
    int64_t n = type_count(out.type);
    bool is_wide = element_info[out.type.element].bits == 64;
    int64_t each = is_wide ? 2 : 4, blocks = (n + each - 1) / each;
    for (int64_t block = 0; block < blocks; block++) {
        uint64_t a = low + (uint64_t)block, b = high + (a < low);
        uint32_t x[4] = { (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32) };
        philox(key, x);
        for (int64_t k = 0; k < each && block * each + k < n; k++)
            bits_set(out, block * each + k,
                     is_wide ? x[2 * k] | (uint64_t)x[2 * k + 1] << 32 : x[k]);
    }
    return (uint64_t)blocks;
}

Error *eval_rng_bits(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                     Tensor *out)
{
    static const char *const names[] = { "DEFAULT", "THREE_FRY", "PHILOX" };
    int algorithm = ((const RngBitsAttrs *)n->attrs)->rng_algorithm;
    int64_t words = in->type.element == U64 && in->type.rank == 1 ? in->type.dims[0] : 0;
    bool takes = words == 2 || (words == 3 && algorithm != THREE_FRY);
    if (n->nout != 2 || !takes || !type_equal(in->type, out->type) ||
        element_info[out[1].type.element].bits > 64)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: rng_bit_generator by %s with state %s for %s, at %s: the "
                         "state must be ui64[2], or ui64[3] for PHILOX",
                         names[algorithm], type_name(in->type),
                         n->nout == 2 ? type_name(out[1].type) : "nothing", loc_name(n->loc));
    uint64_t key = bits_at(*in, 0), low = bits_at(*in, 1);
    uint64_t high = words == 3 ? bits_at(*in, 2) : key;
    uint64_t used = algorithm == THREE_FRY ? fill_threefry(out[1], key, low)
                                           : fill_philox(out[1], key, low, high);
    bits_set(out[0], 0, key);
    bits_set(out[0], 1, low + used);
    if (words == 3)
        bits_set(out[0], 2, high + (low + used < low));
    return NULL;
}
