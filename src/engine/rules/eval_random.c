/* eval_random.c - rng_bit_generator: random bits from a state, by Threefry.
 *
 * The state is a key and a counter.  Every count gives 64 bits; a result of 64-bit elements
 * takes one count per element:
 *
 *     bits(i) = threefry(key, counter + i)          counter afterwards: counter + elements */
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

Error *eval_rng_bits(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                     Tensor *out)
{
    static const char *const names[] = { "DEFAULT", "THREE_FRY", "PHILOX" };
    int algorithm = ((const RngBitsAttrs *)n->attrs)->rng_algorithm;
    if (n->nout != 2 || in->type.element != U64 || type_count(in->type) != 2 ||
        !type_equal(in->type, out->type) || algorithm != THREE_FRY ||
        element_info[out[1].type.element].bits != 64)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: rng_bit_generator by %s with state %s for %s, at %s: "
                         "THREE_FRY with ui64[2] for 64-bit elements is",
                         names[algorithm], type_name(in->type),
                         n->nout == 2 ? type_name(out[1].type) : "nothing", loc_name(n->loc));
    uint64_t key = bits_at(*in, 0), counter = bits_at(*in, 1);
    int64_t count = type_count(out[1].type);
    for (int64_t i = 0; i < count; i++)
        bits_set(out[1], i, threefry(key, counter + (uint64_t)i));
    bits_set(out[0], 0, key);
    bits_set(out[0], 1, counter + (uint64_t)count);
    return NULL;
}
