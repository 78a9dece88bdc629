/* ragged.c - ragged_all_to_all: everybody sends rows to everybody, as many as it likes.
 *
 * Operands of each member: rows to send; an array to put rows into; then lists with an entry (or
 * several) for each member r, in rank order:
 *
 *     input_offsets, send_sizes   which of my rows go to r
 *     output_offsets              and where they come to lie in r's result
 *     recv_sizes                  how many come from r: says nothing new
 *
 * The result is the second operand with the rows that came.  Where two land in one place, the one
 * from the later rank is seen. */
#include "engine/comm/group.h"

#include "ops/number.h"

#include <string.h>

enum { ROWS, INTO, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };

static int64_t number_at(const Parts *p, int r, int list, int64_t i)
{
    Type t = p->m->in_types[list];
    const char *at = part_in(p, r, list) + i * element_info[t.element].bytes;
    return number_int(t.element, at);
}

static bool is_within(int64_t start, int64_t n, int64_t extent)
{
    return start >= 0 && n >= 0 && n <= extent && start <= extent - n;
}

static Error *outside(const Parts *p, int from, int to, int64_t start, int64_t n, bool is_sent)
{
    Type t = p->m->in_types[is_sent ? ROWS : INTO];
    return error_new(CODE_INVALID,
                     "%s (%s): partition %d %s partition %d rows %lld to %lld, outside of %s",
                     p->m->name, p->m->where, p->frames[from]->partition,
                     is_sent ? "sends" : "sends into", p->frames[to]->partition, (long long)start,
                     (long long)(start + n - 1), type_name(t));
}

/* Entry i of the lists of `from`. */
static Error *send_rows(const Parts *p, int from, int to, int64_t i)
{
    Type rows = p->m->in_types[ROWS], into = p->m->in_types[INTO];
    int64_t start = number_at(p, from, INPUT_OFFSETS, i), n = number_at(p, from, SEND_SIZES, i);
    int64_t at = number_at(p, from, OUTPUT_OFFSETS, i);
    if (n == 0)
        return NULL;
    if (!is_within(start, n, rows.dims[0]))
        return outside(p, from, to, start, n, true);
    if (!is_within(at, n, into.dims[0]))
        return outside(p, from, to, at, n, false);
    size_t row = bytes_from(rows, 1);
    if (row)
        memcpy(part_out(p, to, 0) + (size_t)at * row, part_in(p, from, ROWS) + (size_t)start * row,
               (size_t)n * row);
    return NULL;
}

Error *meet_ragged(const Parts *p)
{
    int64_t entries = p->m->in_types[INPUT_OFFSETS].dims[0];
    size_t bytes = type_bytes(p->m->out_types[0]);
    if (entries % p->n)
        return meet_misfit(p, INPUT_OFFSETS);
    for (int r = 0; bytes && r < p->n; r++)
        memcpy(part_out(p, r, 0), part_in(p, r, INTO), bytes);
    for (int from = 0; from < p->n; from++)
        for (int64_t i = 0; i < entries; i++)
            TRY(send_rows(p, from, (int)(i / (entries / p->n)), i));
    return NULL;
}
