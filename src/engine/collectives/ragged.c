/* ragged.c - ragged_all_to_all: each rank sends rows to each rank, as many as its operands say.
 *
 * Operands of each member: rows to send; an array to put rows into; then lists with an entry (or
 * several) for each member r, in rank order:
 *
 *     input_offsets, send_sizes   which of its rows go to r
 *     output_offsets              and where in r's result
 *     recv_sizes                  how many come from r: says nothing new
 *
 * The result is the second operand with the rows that came.  Where two land in one row, the one
 * from the later rank stays. */
#include "engine/collectives/collectives.h"

#include "ops/number.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS, INTO, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };

/* The n numbers of one of rank r's lists. */
static void read_list(const Participants *p, int r, int list, int64_t n, int64_t *out)
{
    Element e = p->c->in_types[list].element;
    const char *at = operand_at(p, r, list);
    if (e == I32) /* the usual type */
        for (int64_t i = 0; i < n; i++)
            out[i] = ((const int32_t *)at)[i];
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = number_int(e, at + i * element_info[e].bytes);
}

static bool is_within(int64_t start, int64_t n, int64_t extent)
{
    return start >= 0 && n >= 0 && n <= extent && start <= extent - n;
}

static Error *outside(const Participants *p, int from, int to, int64_t start, int64_t n,
                      bool is_sent)
{
    Type t = p->c->in_types[is_sent ? ROWS : INTO];
    int64_t last;
    if (__builtin_add_overflow(start, n, &last) || __builtin_sub_overflow(last, 1, &last))
        last = n > 0 ? INT64_MAX : INT64_MIN;
    return error_new(CODE_INVALID,
                     "%s (%s): partition %d %s partition %d rows %lld to %lld, outside of %s",
                     p->c->name, collective_where(p->c), p->frames[from]->partition,
                     is_sent ? "sends" : "sends into", p->frames[to]->partition, (long long)start,
                     (long long)last, type_name(t));
}

/* Rows that one rank sends to another. */
typedef struct Sent {
    char *to;
    const char *from;
    size_t bytes;
} Sent;

typedef struct Ragged {
    const Participants *p;
    int64_t to_each;  /* entries of one rank's lists for one other rank, */
    int64_t each;     /* and for all of them */
    Sent *sent;       /* [n][each], by receiving rank, in the order in which it is written */
    Sent *by_address; /* room for the same, sorted by address */
    int64_t *lists;   /* room for three, of one rank */
    size_t row;
    bool streams;
} Ragged;

static int lower_first(const void *a, const void *b)
{
    const Sent *x = a, *y = b;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void sort_by_address(const Ragged *g, Sent *sorted)
{
    for (int64_t k = 1; k < g->each; k++)
        if (sorted[k].to < sorted[k - 1].to) {
            qsort(sorted, (size_t)g->each, sizeof *sorted, lower_first);
            return;
        }
}

/* Bytes of the result that no rank sends are those of the second operand. */
static void keep_bytes(const Ragged *g, int rank, char *first, const char *end)
{
    if (first < end)
        bytes_move(first, operand_at(g->p, rank, INTO) + (first - result_at(g->p, rank, 0)),
                   (size_t)(end - first), g->streams);
}

static void keep_the_rest(const Ragged *g, int rank)
{
    Sent *sorted = g->by_address + rank * g->each;
    memcpy(sorted, g->sent + rank * g->each, sizeof *sorted * (size_t)g->each);
    sort_by_address(g, sorted);
    char *done = result_at(g->p, rank, 0), *end = done + type_bytes(g->p->c->out_types[0]);
    for (int64_t k = 0; k < g->each; k++) {
        keep_bytes(g, rank, done, sorted[k].to);
        char *behind = sorted[k].to + sorted[k].bytes;
        done = behind > done ? behind : done;
    }
    keep_bytes(g, rank, done, end);
}

static void receive(void *user, int64_t rank)
{
    const Ragged *g = user;
    if (!is_here(g->p, (int)rank))
        return;
    if (result_at(g->p, (int)rank, 0) !=
        operand_at(g->p, (int)rank, INTO)) /* else they are there */
        keep_the_rest(g, (int)rank);
    for (const Sent *sent = g->sent + rank * g->each, *end = sent + g->each; sent < end; sent++)
        if (sent->bytes)
            bytes_move(sent->to, sent->from, sent->bytes, g->streams);
}

/* Reads and checks the lists of rank `from`. */
static Error *look_up(const Ragged *g, int from)
{
    const Participants *p = g->p;
    int64_t nrows = p->c->in_types[ROWS].dims[0], ninto = p->c->in_types[INTO].dims[0];
    int64_t *start = g->lists, *n = start + g->each, *at = n + g->each;
    const char *rows = operand_at(p, from, ROWS);
    read_list(p, from, INPUT_OFFSETS, g->each, start);
    read_list(p, from, SEND_SIZES, g->each, n);
    read_list(p, from, OUTPUT_OFFSETS, g->each, at);
    for (int to = 0; to < p->n; to++) {
        char *out = result_at(p, to, 0); /* NULL elsewhere: then only the lists are checked */
        Sent *sent = g->sent + to * g->each + from * g->to_each;
        for (int64_t i = to * g->to_each, end = i + g->to_each; i < end; i++) {
            bool comes = n[i] != 0; /* else its offsets may be anything */
            if (comes && !is_within(start[i], n[i], nrows))
                return outside(p, from, to, start[i], n[i], true);
            if (comes && !is_within(at[i], n[i], ninto))
                return outside(p, from, to, at[i], n[i], false);
            *sent++ = comes && out
                          ? (Sent){ out + (size_t)at[i] * g->row, rows + (size_t)start[i] * g->row,
                                    (size_t)n[i] * g->row }
                          : (Sent){ out, rows, 0 };
        }
    }
    return NULL;
}

/* All lists are checked before any row is written. */
static Error *look_up_all(const Ragged *g)
{
    for (int from = 0; from < g->p->n; from++)
        TRY(look_up(g, from));
    return NULL;
}

Error *perform_ragged(const Participants *p, CopyPlan *plan)
{
    (void)plan;
    int64_t entries = p->c->in_types[INPUT_OFFSETS].dims[0];
    size_t touched = 2 * type_bytes(p->c->out_types[0]) * (size_t)p->n;
    if (entries % p->n)
        return collective_misfit(p, INPUT_OFFSETS);
    if (!touched)
        return NULL;
    enum { FEW = 64 };
    size_t n = (size_t)entries * (size_t)p->n, nlists = 3 * (size_t)entries;
    Sent few[2 * FEW], *table = few;
    int64_t few_lists[3 * FEW], *lists = few_lists;
    if (n > FEW) {
        table = malloc(2 * n * sizeof *table + nlists * sizeof *lists);
        lists = (int64_t *)(table + 2 * n);
    }
    if (!table)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu entries", p->c->name,
                         collective_where(p->c), n);
    Ragged g = { p,
                 entries / p->n,
                 entries,
                 table,
                 table + n,
                 lists,
                 bytes_from(p->c->in_types[ROWS], 1),
                 collective_streams(touched) };
    Error *error = look_up_all(&g);
    if (!error)
        collective_slices(p, p->n, touched, receive, &g);
    if (table != few)
        free(table);
    return error;
}
