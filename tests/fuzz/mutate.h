/* mutate.h - changes to the text of a program that leave most of it a program.
 *
 * Bytes changed at random rarely get past the reader.  These change what a program is made of: an
 * operand, an extent or an element type (everywhere, so that types still agree, or in one place,
 * so that they do not), an operation, a number, a line. */
#ifndef TUTTI_TESTS_FUZZ_MUTATE_H
#define TUTTI_TESTS_FUZZ_MUTATE_H
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Draft {
    char *at;
    size_t n, room;
    uint32_t seed;
} Draft;

static uint32_t draw(Draft *d, uint32_t below)
{
    d->seed ^= d->seed << 13;
    d->seed ^= d->seed >> 17;
    d->seed ^= d->seed << 5;
    return below ? d->seed % below : 0;
}

/* Replaces n bytes at `from`; nothing happens where there is no room. */
static void splice(Draft *d, size_t from, size_t n, const char *by, size_t bytes)
{
    if (d->n - n + bytes > d->room)
        return;
    memmove(d->at + from + bytes, d->at + from + n, d->n - from - n);
    memcpy(d->at + from, by, bytes);
    d->n += bytes - n;
}

typedef bool Starts(const Draft *d, size_t i); /* what is looked for begins here */
typedef size_t Length(const Draft *d, size_t i);

/* A place chosen at random among those where it begins; false: there is none. */
static bool find(Draft *d, Starts *starts, size_t *out)
{
    size_t from = draw(d, (uint32_t)d->n);
    for (size_t k = 0; k < d->n; k++) {
        *out = (from + k) % d->n;
        if (starts(d, *out))
            return true;
    }
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_at(const Draft *d, size_t i, const char *word)
{
    size_t n = strlen(word);
    return d->n - i >= n && memcmp(d->at + i, word, n) == 0;
}

/* ---- what there is ---- */

static bool starts_value(const Draft *d, size_t i)
{
    return d->at[i] == '%' && i + 1 < d->n && is_word(d->at[i + 1]);
}

static size_t value_length(const Draft *d, size_t i)
{
    size_t n = 1;
    while (i + n < d->n && (is_word(d->at[i + n]) || d->at[i + n] == '#'))
        n++;
    return n;
}

static bool starts_number(const Draft *d, size_t i)
{
    return isdigit((unsigned char)d->at[i]) && i > 0 && !is_word(d->at[i - 1]) &&
           d->at[i - 1] != '%' && d->at[i - 1] != '#';
}

static size_t number_length(const Draft *d, size_t i)
{
    size_t n = 0;
    while (i + n < d->n && isdigit((unsigned char)d->at[i + n]))
        n++;
    return n;
}

static bool starts_type(const Draft *d, size_t i)
{
    return is_at(d, i, "tensor<");
}

static size_t type_length(const Draft *d, size_t i)
{
    size_t n = 0, depth = 0;
    for (; i + n < d->n; n++) {
        depth += d->at[i + n] == '<';
        if (d->at[i + n] == '>' && --depth == 0)
            return n + 1;
    }
    return n;
}

static bool starts_op(const Draft *d, size_t i)
{
    return is_at(d, i, "stablehlo.") || is_at(d, i, "chlo.");
}

static size_t op_length(const Draft *d, size_t i)
{
    size_t n = 0;
    while (i + n < d->n && (is_word(d->at[i + n]) || d->at[i + n] == '.'))
        n++;
    return n;
}

static const char *const element_names[] = {
    "f32", "f64",  "bf16", "f16", "i1",       "i8",           "i16",          "i32", "i64",
    "ui8", "ui32", "ui64", "i4",  "f8E4M3FN", "complex<f32>", "complex<f64>", "ui4", "f8E5M2",
};

static size_t element_at(const Draft *d, size_t i)
{
    size_t longest = 0;
    for (size_t k = 0; k < sizeof element_names / sizeof *element_names; k++)
        if (is_at(d, i, element_names[k]) && strlen(element_names[k]) > longest)
            longest = strlen(element_names[k]);
    return i > 0 && (d->at[i - 1] == '<' || d->at[i - 1] == 'x') ? longest : 0;
}

static bool starts_element(const Draft *d, size_t i)
{
    return element_at(d, i) != 0;
}

/* An extent: digits, then an x, within a type. */
static bool starts_extent(const Draft *d, size_t i)
{
    size_t n = isdigit((unsigned char)d->at[i]) ? number_length(d, i) : 0;
    return n && i > 0 && (d->at[i - 1] == '<' || d->at[i - 1] == 'x') && i + n < d->n &&
           d->at[i + n] == 'x';
}

/* ---- changes ---- */

/* Everywhere the same is changed the same way, or this one place only. */
static void replace(Draft *d, Starts *starts, Length *length, size_t at, const char *by)
{
    char old[128];
    size_t n = length(d, at);
    if (n >= sizeof old)
        return;
    memcpy(old, d->at + at, n);
    if (draw(d, 3) == 0) {
        splice(d, at, n, by, strlen(by));
        return;
    }
    for (size_t i = 0; i < d->n; i++)
        if (starts(d, i) && length(d, i) == n && memcmp(d->at + i, old, n) == 0) {
            splice(d, i, n, by, strlen(by));
            i += strlen(by) ? strlen(by) - 1 : 0;
        }
}

static void change_number(Draft *d, Starts *starts)
{
    /* clang-format off */
    static const char *const numbers[] = { "0", "1", "2", "3", "4", "5", "7", "8", "16", "17", "33",
                                           "100", "-1", "9223372036854775807", "4294967296" };
    /* clang-format on */
    size_t at;
    if (find(d, starts, &at))
        replace(d, starts, number_length, at, numbers[draw(d, draw(d, 8) ? 11 : 15)]);
}

static void change_element(Draft *d)
{
    size_t at;
    if (find(d, starts_element, &at))
        replace(d, starts_element, element_at, at,
                element_names[draw(d, sizeof element_names / sizeof *element_names)]);
}

static void change_op(Draft *d)
{
    /* clang-format off */
    static const char *const ops[] = {
        "add", "subtract", "multiply", "divide", "remainder", "power", "maximum", "minimum", "and",
        "or", "xor", "atan2", "shift_left", "negate", "abs", "sign", "exponential", "log", "tanh",
        "sine", "cosine", "sqrt", "rsqrt", "floor", "ceil", "not", "popcnt", "is_finite", "real",
        "imag", "convert", "reshape", "transpose", "reverse", "slice", "pad", "concatenate",
        "broadcast_in_dim", "select", "clamp", "compare", "reduce", "dot_general", "iota", "gather",
        "scatter", "sort", "reduce_window", "while", "case", "dynamic_slice", "dynamic_update_slice",
        "bitcast_convert", "cbrt", "logistic", "round_nearest_even", "reduce_precision", "fft",
        "cholesky", "triangular_solve", "rng_bit_generator", "optimization_barrier", "convolution",
        "select_and_scatter", "all_reduce", "custom_call", "partition_id", "dynamic_reshape",
    };
    /* clang-format on */
    char name[64];
    size_t at;
    snprintf(name, sizeof name, "stablehlo.%s", ops[draw(d, sizeof ops / sizeof *ops)]);
    if (find(d, starts_op, &at))
        splice(d, at, op_length(d, at), name, strlen(name));
}

/* What stands at one place is put at another too. */
static void copy_over(Draft *d, Starts *starts, Length *length)
{
    char text[128];
    size_t from, to;
    if (!find(d, starts, &from) || !find(d, starts, &to) || length(d, from) >= sizeof text)
        return;
    size_t n = length(d, from);
    memcpy(text, d->at + from, n);
    text[n] = 0;
    if (draw(d, 2))
        replace(d, starts, length, to, text);
    else
        splice(d, to, length(d, to), text, n);
}

static void change_line(Draft *d)
{
    size_t from = draw(d, (uint32_t)d->n), to = from;
    while (from > 0 && d->at[from - 1] != '\n')
        from--;
    while (to < d->n && d->at[to] != '\n')
        to++;
    char line[512];
    size_t n = to - from < sizeof line ? to - from : sizeof line;
    memcpy(line, d->at + from, n);
    if (draw(d, 2))
        splice(d, from, to - from, "", 0);
    else
        splice(d, from, 0, line, n);
}

static size_t mutate_program(uint8_t *data, size_t n, size_t room, unsigned seed)
{
    Draft d = { (char *)data, n, room, seed * 2654435761u + 1 };
    for (int k = 1 + (int)draw(&d, 4); k > 0 && d.n > 0; k--)
        switch (draw(&d, 8)) {
        case 0: copy_over(&d, starts_value, value_length); break;
        case 1: copy_over(&d, starts_type, type_length); break;
        case 2: change_number(&d, starts_extent); break;
        case 3: change_number(&d, starts_number); break;
        case 4: change_element(&d); break;
        case 5: change_op(&d); break;
        case 6: copy_over(&d, starts_number, number_length); break;
        default: change_line(&d); break;
        }
    return d.n;
}
#endif
