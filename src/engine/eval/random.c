/* random.c - rng_bit_generator, element by element: which block of random words an element's
 * bits come from, and that block by the book (Salmon and others, 2011).
 *
 *   Threefry  blocks of two words, counted from the state's second number.  A 64-bit element is a
 *             block.  Narrower ones are the words of a pair along one dimension: the first that is
 *             even, or the longest, with a word too many at its end.
 *   Philox    blocks of four words, used up in order, two for a 64-bit element.
 *
 * The state's first number is the key.  Narrow elements are the low bits of their word. */
#include "engine/eval/rules.h"
#include "engine/tensor.h"

enum { THREE_FRY = 1 }; /* in the order of attrs.def */

typedef struct Words {
    uint32_t at[4];
} Words;

static Words threefry(uint64_t key, uint64_t count)
{
    static const int rotations[8] = { 13, 15, 26, 6, 17, 29, 16, 24 };
    uint32_t keys[3] = { (uint32_t)key, (uint32_t)(key >> 32),
                         0x1BD11BDA ^ (uint32_t)key ^ (uint32_t)(key >> 32) };
    uint32_t x = (uint32_t)count, y = (uint32_t)(count >> 32);
    for (int round = 0; round <= 20; round++) {
        if (round % 4 == 0) { /* the keys are added before the first and after every fourth round */
            int group = round / 4;
            x += keys[group % 3];
            y += keys[(group + 1) % 3] + (uint32_t)group;
        }
        if (round == 20)
            break;
        int by = rotations[round % 8];
        x += y;
        y = (y << by) | (y >> (32 - by));
        y ^= x;
    }
    return (Words){ { x, y } };
}

static Words philox(uint64_t key, unsigned __int128 count)
{
    Words c;
    for (int i = 0; i < 4; i++)
        c.at[i] = (uint32_t)(count >> (32 * i));
    for (uint32_t round = 0; round < 10; round++) {
        uint64_t even = (uint64_t)c.at[0] * 0xD2511F53, odd = (uint64_t)c.at[2] * 0xCD9E8D57;
        uint32_t low_key = (uint32_t)key + round * 0x9E3779B9;
        uint32_t high_key = (uint32_t)(key >> 32) + round * 0xBB67AE85;
        c = (Words){ { (uint32_t)(odd >> 32) ^ c.at[1] ^ low_key, (uint32_t)odd,
                       (uint32_t)(even >> 32) ^ c.at[3] ^ high_key, (uint32_t)even } };
    }
    return c;
}

/* The dimension whose neighbours are pairs; -1: of a scalar. */
static int paired(Type t)
{
    int longest = t.rank ? 0 : -1;
    for (int d = 0; d < t.rank; d++) {
        if (t.dims[d] % 2 == 0)
            return d;
        if (t.dims[d] > t.dims[longest])
            longest = d;
    }
    return longest;
}

/* How many blocks a result takes. */
static uint64_t blocks(Type t, bool is_threefry)
{
    bool is_wide = element_info[t.element].bits == 64;
    int64_t count = type_count(t);
    int dim = paired(t);
    if (!is_threefry)
        return (uint64_t)(count * (is_wide ? 2 : 1) + 3) / 4;
    if (is_wide || dim < 0)
        return (uint64_t)count;
    return t.dims[dim] ? (uint64_t)(count / t.dims[dim] * ((t.dims[dim] + 1) / 2)) : 0;
}

static uint64_t threefry_element(uint64_t key, uint64_t first, Type t, int64_t i)
{
    int dim = paired(t);
    if (element_info[t.element].bits == 64 || dim < 0) {
        Words w = threefry(key, first + (uint64_t)i);
        return w.at[0] | (uint64_t)w.at[1] << 32;
    }
    int64_t inner = 1; /* elements per step along dim */
    for (int d = dim + 1; d < t.rank; d++)
        inner *= t.dims[d];
    int64_t at = i / inner % t.dims[dim], outer = i / inner / t.dims[dim];
    int64_t pair = (outer * ((t.dims[dim] + 1) / 2) + at / 2) * inner + i % inner;
    return threefry(key, first + (uint64_t)pair).at[at % 2];
}

static uint64_t philox_element(uint64_t key, unsigned __int128 first, Type t, int64_t i)
{
    bool is_wide = element_info[t.element].bits == 64;
    int64_t word = is_wide ? 2 * i : i;
    Words w = philox(key, first + (uint64_t)(word / 4));
    return is_wide ? w.at[word % 4] | (uint64_t)w.at[word % 4 + 1] << 32 : w.at[word % 4];
}

Error *eval_rng_bits(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                     Tensor *out)
{
    bool is_threefry = ((const RngBitsAttrs *)n->attrs)->rng_algorithm == THREE_FRY;
    int64_t state = in->type.element == U64 ? type_count(in->type) : 0;
    Type t = out[1].type;
    if (state != 2 && (state != 3 || is_threefry))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: rng_bit_generator with state %s, at %s: ui64[2] is",
                         type_name(in->type), loc_name(n->loc));
    uint64_t key = bits_at(*in, 0), low = bits_at(*in, 1);
    uint64_t high = state == 3 ? bits_at(*in, 2) : key; /* of Philox's counter */
    unsigned __int128 first = (unsigned __int128)high << 64 | low;
    uint64_t mask = ~UINT64_C(0) >> (64 - element_info[t.element].bits);
    int64_t count = type_count(t);
    for (int64_t i = 0; i < count; i++)
        bits_set(out[1], i,
                 mask & (is_threefry ? threefry_element(key, low, t, i)
                                     : philox_element(key, first, t, i)));
    first += blocks(t, is_threefry);
    bits_set(out[0], 0, key);
    bits_set(out[0], 1, (uint64_t)first);
    if (state == 3)
        bits_set(out[0], 2, (uint64_t)(first >> 64));
    return NULL;
}
