/* inflate.c - deflated bytes: blocks of literals and of copies of what came before.
 *
 * Codes are Huffman's, given by the lengths of the codes of all symbols: codes of one length are
 * consecutive numbers, so a code is read bit by bit until it lies below the next number of its
 * length. */
#include "files/inflate.h"

#include <string.h>

enum { LONGEST = 15, LITERALS = 288, DISTANCES = 32, END = 256 };

typedef struct Bits {
    Str in;
    size_t at;
    uint32_t held; /* bits taken from `in`, the next one lowest */
    int nheld;
    bool is_short; /* asked for more than there are */
} Bits;

typedef struct Codes {
    uint16_t count[LONGEST + 1]; /* how many codes have this length */
    uint16_t symbol[LITERALS];   /* by length, then by code */
} Codes;

typedef struct Output {
    unsigned char *at;
    size_t n, room;
} Output;

static uint32_t take_bits(Bits *b, int n)
{
    while (b->nheld < n) {
        b->is_short |= b->at >= b->in.n;
        uint32_t next = b->at < b->in.n ? (unsigned char)b->in.at[b->at++] : 0;
        b->held |= next << b->nheld;
        b->nheld += 8;
    }
    uint32_t bits = b->held & ((1u << n) - 1);
    b->held >>= n;
    b->nheld -= n;
    return bits;
}

/* False: more codes than their lengths leave room for. */
static bool make_codes(Codes *c, const unsigned char *lengths, int n)
{
    uint16_t first[LONGEST + 2] = { 0 };
    int left = 1;
    memset(c, 0, sizeof *c);
    for (int i = 0; i < n; i++)
        c->count[lengths[i]]++;
    c->count[0] = 0;
    for (int length = 1; length <= LONGEST; length++) {
        left = 2 * left - c->count[length];
        if (left < 0)
            return false;
        first[length + 1] = (uint16_t)(first[length] + c->count[length]);
    }
    for (int i = 0; i < n; i++)
        if (lengths[i])
            c->symbol[first[lengths[i]]++] = (uint16_t)i;
    return true;
}

/* The next symbol; -1: no code begins so. */
static int take_symbol(Bits *b, const Codes *c)
{
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= LONGEST; length++) {
        code |= (int)take_bits(b, 1);
        int count = c->count[length];
        if (code - first < count)
            return c->symbol[index + code - first];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

static bool stored_block(Bits *b, Output *out)
{
    b->at -= (size_t)(b->nheld / 8); /* whole bytes that were not used */
    b->held = 0;
    b->nheld = 0;
    uint32_t n = take_bits(b, 16), inverse = take_bits(b, 16);
    if (b->is_short || (n ^ inverse) != 0xFFFF || n > b->in.n - b->at)
        return false;
    size_t fits = n < out->room - out->n ? n : out->room - out->n;
    memcpy(out->at + out->n, b->in.at + b->at, fits);
    out->n += fits;
    b->at += n;
    return true;
}

/* A length or a distance: a base, and so many more bits, by its symbol; -1: no such symbol. */
static int length_of(Bits *b, int symbol)
{
    static const uint16_t base[29] = { 3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                       67, 83, 99, 115, 131, 163, 195, 227, 258 };
    int more = symbol < 8 || symbol == 28 ? 0 : (symbol - 4) / 4;
    return symbol > 28 ? -1 : base[symbol] + (int)take_bits(b, more);
}

static int distance_of(Bits *b, int symbol)
{
    int more = symbol < 4 ? 0 : (symbol - 2) / 2;
    if (symbol < 0 || symbol > 29)
        return -1;
    return (symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << more) + 1) + (int)take_bits(b, more);
}

static bool copy_back(Output *out, int length, int distance)
{
    if (length < 0 || distance < 0 || (size_t)distance > out->n)
        return false;
    for (; length && out->n < out->room; length--, out->n++)
        out->at[out->n] = out->at[out->n - (size_t)distance];
    return true;
}

static bool coded_block(Bits *b, const Codes *literals, const Codes *distances, Output *out)
{
    while (out->n < out->room) {
        int symbol = take_symbol(b, literals);
        if (symbol < 0 || b->is_short)
            return false;
        if (symbol == END)
            return true;
        if (symbol < END) {
            out->at[out->n++] = (unsigned char)symbol;
            continue;
        }
        int length = length_of(b, symbol - END - 1);
        int distance = distance_of(b, take_symbol(b, distances));
        if (b->is_short || !copy_back(out, length, distance))
            return false;
    }
    return true;
}

static bool fixed_block(Bits *b, Output *out)
{
    unsigned char lengths[LITERALS];
    Codes literals, distances;
    for (int i = 0; i < LITERALS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_codes(&literals, lengths, LITERALS);
    memset(lengths, 5, 30);
    make_codes(&distances, lengths, 30);
    return coded_block(b, &literals, &distances, out);
}

/* The lengths of the codes, themselves coded: 16 repeats the last, 17 and 18 are runs of zeros. */
static bool take_lengths(Bits *b, const Codes *codes, unsigned char *lengths, int n)
{
    for (int i = 0; i < n;) {
        int symbol = take_symbol(b, codes);
        if (symbol < 0 || b->is_short || (symbol == 16 && i == 0))
            return false;
        if (symbol < 16) {
            lengths[i++] = (unsigned char)symbol;
            continue;
        }
        unsigned char again = symbol == 16 ? lengths[i - 1] : 0;
        int times = symbol == 16   ? 3 + (int)take_bits(b, 2)
                    : symbol == 17 ? 3 + (int)take_bits(b, 3)
                                   : 11 + (int)take_bits(b, 7);
        if (times > n - i)
            return false;
        for (; times; times--)
            lengths[i++] = again;
    }
    return true;
}

static bool dynamic_block(Bits *b, Output *out)
{
    static const unsigned char order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                             11, 4,  12, 3, 13, 2, 14, 1, 15 };
    unsigned char lengths[LITERALS + DISTANCES] = { 0 };
    Codes codes, literals, distances;
    int nliterals = 257 + (int)take_bits(b, 5), ndistances = 1 + (int)take_bits(b, 5);
    int ncodes = 4 + (int)take_bits(b, 4);
    for (int i = 0; i < ncodes; i++)
        lengths[order[i]] = (unsigned char)take_bits(b, 3);
    if (nliterals > 286 || ndistances > 30 || !make_codes(&codes, lengths, 19))
        return false;
    memset(lengths, 0, sizeof lengths);
    return take_lengths(b, &codes, lengths, nliterals + ndistances) &&
           make_codes(&literals, lengths, nliterals) &&
           make_codes(&distances, lengths + nliterals, ndistances) &&
           coded_block(b, &literals, &distances, out);
}

bool inflate_into(Str deflated, void *out, size_t room, size_t *made)
{
    Bits b = { .in = deflated };
    Output o = { out, 0, room };
    bool is_last = false, is_well = true;
    while (is_well && !is_last && (o.n < o.room || room == 0)) {
        is_last = take_bits(&b, 1);
        uint32_t kind = take_bits(&b, 2);
        is_well = !b.is_short && (kind == 0   ? stored_block(&b, &o)
                                  : kind == 1 ? fixed_block(&b, &o)
                                  : kind == 2 ? dynamic_block(&b, &o)
                                              : false);
        if (room == 0)
            break;
    }
    *made = o.n;
    return is_well;
}
