/* random.c - rng_bit_generator: random bits from a state, numbered as XLA numbers them.
 *
 * The state is a key and a counter; a count gives a block of 32-bit words.
 *
 *   Threefry  a block of two.  64-bit elements take one each.  For narrower ones the result is
 *             seen as pairs along its first even dimension (or, with none, its longest, rounded
 *             up): counts go over the pairs, and the two words of a block are the pair.
 *   Philox    a block of four, used up in order; the counter has 128 bits, of which a state of
 *             two words keeps the low half, with the key as the high one.
 *
 * Elements of fewer than 32 bits are the low bits of a word. */
#include "engine/numerics/numerics.h"
#include "engine/slices.h"
#include "engine/tensor.h"

#include <stdatomic.h>
#include <string.h>

enum { DEFAULT, THREE_FRY, PHILOX };

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* Threefry-2x32 with 20 rounds (Salmon and others, 2011). */
static uint64_t threefry(uint64_t key, uint64_t count)
{
    static const int rotations[2][4] = { { 13, 15, 26, 6 }, { 17, 29, 16, 24 } };
    uint32_t keys[3] = { (uint32_t)key, (uint32_t)(key >> 32), 0 };
    keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDA;
    uint32_t x = (uint32_t)count + keys[0], y = (uint32_t)(count >> 32) + keys[1];
    for (uint32_t group = 0; group < 5; group++) {
        for (int i = 0; i < 4; i++) {
            x += y;
            y = rotate(y, rotations[group % 2][i]) ^ x;
        }
        x += keys[(group + 1) % 3];
        y += keys[(group + 2) % 3] + group + 1;
    }
    return x | (uint64_t)y << 32;
}

enum { BLOCKS = 16, WORDS = 4 * BLOCKS }; /* of Philox, made side by side */

/* Philox-4x32 with 10 rounds, of the same authors: the blocks from number `first` on. */
static void philox(uint64_t key, uint64_t low, uint64_t high, uint64_t first, uint32_t *words)
{
    uint32_t c[4][BLOCKS], high_p[BLOCKS], high_q[BLOCKS];
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t at = low + first + (uint64_t)i, above = high + (at < low);
        c[0][i] = (uint32_t)at;
        c[1][i] = (uint32_t)(at >> 32);
        c[2][i] = (uint32_t)above;
        c[3][i] = (uint32_t)(above >> 32);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            high_p[i] = (uint32_t)(UINT64_C(0xD2511F53) * c[0][i] >> 32);
            high_q[i] = (uint32_t)(UINT64_C(0xCD9E8D57) * c[2][i] >> 32);
        }
        for (int i = 0; i < BLOCKS; i++) {
            uint32_t p = 0xD2511F53 * c[0][i], q = 0xCD9E8D57 * c[2][i];
            c[0][i] = high_q[i] ^ c[1][i] ^ k0;
            c[2][i] = high_p[i] ^ c[3][i] ^ k1;
            c[1][i] = q;
            c[3][i] = p;
        }
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    for (int i = 0; i < BLOCKS; i++)
        for (int w = 0; w < 4; w++)
            words[4 * i + w] = c[w][i];
}

static void put(Tensor out, int64_t i, uint64_t bits)
{
    int width = element_info[out.type.element].bits;
    bits_set(out, i, width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits);
}

/* The dimension along which neighbours are pairs; extents of the result with it halved. */
static int pair_dimension(Type t, int64_t *dims)
{
    int dim = -1;
    for (int d = 0; d < t.rank && dim < 0; d++)
        dim = t.dims[d] % 2 == 0 ? d : -1;
    for (int d = 0; d < t.rank && (dim < 0 || t.dims[dim] % 2); d++)
        dim = dim < 0 || t.dims[d] > t.dims[dim] ? d : dim;
    for (int d = 0; d < t.rank; d++)
        dims[d] = d == dim ? (t.dims[d] + 1) / 2 : t.dims[d];
    return dim;
}

/* Returns how many counts were used. */
static uint64_t threefry_pairs(uint64_t key, uint64_t counter, Tensor out)
{
    int64_t dims[MAX_RANK], strides[MAX_RANK], index[MAX_RANK] = { 0 }, count = 1;
    int rank = out.type.rank, dim = pair_dimension(out.type, dims);
    type_strides(out.type, strides);
    for (int d = 0; d < rank; d++)
        count *= dims[d];
    for (int64_t i = 0; i < count; i++) {
        uint64_t block = threefry(key, counter + (uint64_t)i);
        int64_t first = index_flat(rank, index, strides);
        if (dim < 0) {
            put(out, 0, block);
            continue;
        }
        first += index[dim] * strides[dim];
        put(out, first, (uint32_t)block);
        if (2 * index[dim] + 1 < out.type.dims[dim])
            put(out, first + strides[dim], block >> 32);
        index_next(rank, dims, index);
    }
    return (uint64_t)count;
}

static uint64_t threefry_words(uint64_t key, uint64_t counter, Tensor out)
{
    int64_t count = type_count(out.type);
    for (int64_t i = 0; i < count; i++)
        bits_set(out, i, threefry(key, counter + (uint64_t)i));
    return (uint64_t)count;
}

/* ---- Philox, in slices ---- */

typedef struct PhiloxWork {
    uint64_t key, low, high;
    Tensor out;
    int64_t words;
} PhiloxWork;

enum { WORDS_OF_SLICE = 256 * WORDS };

/* Words `first` and so on become elements. */
static void put_words(Tensor out, int64_t first, int64_t n, const uint32_t *words)
{
    int bits = element_info[out.type.element].bits;
    if (bits < 32)
        for (int64_t i = 0; i < n; i++)
            put(out, first + i, words[i]);
    else if (bits == 32)
        memcpy((uint32_t *)out.data + first, words, sizeof *words * (size_t)n);
    else
        for (int64_t i = 0; i < n; i += 2)
            ((uint64_t *)out.data)[(first + i) / 2] = words[i] | (uint64_t)words[i + 1] << 32;
}

static void philox_slice(void *user, int64_t slice)
{
    const PhiloxWork *w = user;
    int64_t end = (slice + 1) * WORDS_OF_SLICE < w->words ? (slice + 1) * WORDS_OF_SLICE : w->words;
    for (int64_t at = slice * WORDS_OF_SLICE; at < end; at += WORDS) {
        uint32_t words[WORDS];
        philox(w->key, w->low, w->high, (uint64_t)at / 4, words);
        put_words(w->out, at, end - at < WORDS ? end - at : WORDS, words);
    }
}

static uint64_t philox_all(const Frame *f, uint64_t key, uint64_t low, uint64_t high, Tensor out)
{
    bool is_wide = element_info[out.type.element].bits == 64;
    PhiloxWork w = { key, low, high, out, type_count(out.type) * (is_wide ? 2 : 1) };
    slices_run(f, (w.words + WORDS_OF_SLICE - 1) / WORDS_OF_SLICE, philox_slice, &w);
    return (uint64_t)(w.words + 3) / 4;
}

Error *routine_rng_bits(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    int algorithm = ((const RngBitsAttrs *)n->attrs)->rng_algorithm;
    int64_t words = in->type.element == U64 ? type_count(in->type) : 0;
    if (words != 2 && (words != 3 || algorithm == THREE_FRY))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: rng_bit_generator with state %s, at %s: ui64[2] is",
                         type_name(in->type), loc_name(n->loc));
    uint64_t key = bits_at(*in, 0), low = bits_at(*in, 1),
             high = words == 3 ? bits_at(*in, 2) : key;
    uint64_t used;
    if (algorithm != THREE_FRY)
        used = philox_all(f, key, low, high, out[1]);
    else if (element_info[out[1].type.element].bits == 64)
        used = threefry_words(key, low, out[1]);
    else
        used = threefry_pairs(key, low, out[1]);
    bits_set(out[0], 0, key);
    bits_set(out[0], 1, low + used);
    if (words == 3)
        bits_set(out[0], 2, high + (low + used < low));
    return NULL;
}

/* The state for the next numbers of a device, which is its operand: a key of its own, and a range
 * of 2^32 blocks behind the last one. */
Error *routine_rng_state(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
                         Tensor *out)
{
    enum { DEVICES = 256 };
    static _Atomic uint64_t asked[DEVICES];
    if (!call_takes(CALL_RNG_STATE, n->nin, n->nout) || in[0].type.element != U32 ||
        type_count(in[0].type) != 1 || out[0].type.element != U64 || type_count(out[0].type) != 2)
        return error_new(CODE_INVALID,
                         "tutti.rng_state takes a device's number, ui32[], and gives "
                         "ui64[2], at %s",
                         loc_name(n->loc));
    uint32_t device = *(const uint32_t *)in[0].data;
    uint64_t count = atomic_fetch_add_explicit(&asked[device % DEVICES], 1, memory_order_relaxed);
    uint64_t state[] = { UINT64_C(0x9E3779B97F4A7C15) * (device + 1), count << 32 };
    memcpy(out[0].data, state, sizeof state);
    return NULL;
}
