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

#include <stdlib.h>
#include <string.h>

enum { ROWS, INTO, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };

/* The n numbers of one of rank r's lists. */
static void read_list(const Parts *p, int r, int list, int64_t n, int64_t *out)
{
    Element e = p->m->in_types[list].element;
    const char *at = part_in(p, r, list);
    if (e == I32) /* as everybody writes it */
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

static Error *outside(const Parts *p, int from, int to, int64_t start, int64_t n, bool is_sent)
{
    Type t = p->m->in_types[is_sent ? ROWS : INTO];
    int64_t last;
    if (__builtin_add_overflow(start, n, &last) || __builtin_sub_overflow(last, 1, &last))
        last = n > 0 ? INT64_MAX : INT64_MIN;
    return error_new(CODE_INVALID,
                     "%s (%s): partition %d %s partition %d rows %lld to %lld, outside of %s",
                     p->m->name, p->m->where, p->frames[from]->partition,
                     is_sent ? "sends" : "sends into", p->frames[to]->partition, (long long)start,
                     (long long)last, type_name(t));
}

/* Rows on their way. */
typedef struct Sent {
    int from;
    int64_t start, at, n; /* rows of the sender, and where they come to lie */
} Sent;

static Error *check_sent(const Parts *p, int to, const Sent *sent)
{
    if (!is_within(sent->start, sent->n, p->m->in_types[ROWS].dims[0]))
        return outside(p, sent->from, to, sent->start, sent->n, true);
    if (!is_within(sent->at, sent->n, p->m->in_types[INTO].dims[0]))
        return outside(p, sent->from, to, sent->at, sent->n, false);
    return NULL;
}

typedef struct Ragged {
    const Parts *p;
    int64_t each;  /* what comes to a rank */
    Sent *sent;    /* [n][each], in the order in which it is put down */
    Sent *by_place; /* room for the same, sorted by place */
    size_t row;
    bool streams;
} Ragged;

static int lower_first(const void *a, const void *b)
{
    const Sent *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_by_place(const Ragged *g, Sent *sorted)
{
    for (int64_t k = 1; k < g->each; k++)
        if (sorted[k].at < sorted[k - 1].at) {
            qsort(sorted, (size_t)g->each, sizeof *sorted, lower_first);
            return;
        }
}

static void keep_rows(const Ragged *g, int to, int64_t first, int64_t end)
{
    if (first < end)
        bytes_move(part_out(g->p, to, 0) + (size_t)first * g->row,
                   part_in(g->p, to, INTO) + (size_t)first * g->row, (size_t)(end - first) * g->row,
                   g->streams);
}

/* Rows that nobody sends are those of the second operand. */
static void keep_the_rest(const Ragged *g, int64_t to)
{
    Sent *sorted = g->by_place + to * g->each;
    memcpy(sorted, g->sent + to * g->each, sizeof *sorted * (size_t)g->each);
    sort_by_place(g, sorted);
    int64_t done = 0;
    for (int64_t k = 0; k < g->each; k++) {
        keep_rows(g, (int)to, done, sorted[k].at);
        done = sorted[k].at + sorted[k].n > done ? sorted[k].at + sorted[k].n : done;
    }
    keep_rows(g, (int)to, done, g->p->m->in_types[INTO].dims[0]);
}

static void receive(void *user, int64_t to)
{
    const Ragged *g = user;
    const Sent *sent = g->sent + to * g->each;
    bool are_there = part_out(g->p, (int)to, 0) == part_in(g->p, (int)to, INTO);
    if (!are_there)
        keep_the_rest(g, to);
    for (int64_t k = 0; k < g->each; k++)
        if (sent[k].n)
            bytes_move(part_out(g->p, (int)to, 0) + (size_t)sent[k].at * g->row,
                       part_in(g->p, sent[k].from, ROWS) + (size_t)sent[k].start * g->row,
                       (size_t)sent[k].n * g->row, g->streams);
}

/* What `from` sends, `each` entries to every rank; lists has room for three times as many
 * numbers. */
static Error *look_up(const Ragged *g, int from, int64_t each, int64_t *lists)
{
    const Parts *p = g->p;
    int64_t entries = each * p->n, *start = lists, *n = start + entries, *at = n + entries;
    read_list(p, from, INPUT_OFFSETS, entries, start);
    read_list(p, from, SEND_SIZES, entries, n);
    read_list(p, from, OUTPUT_OFFSETS, entries, at);
    for (int to = 0; to < p->n; to++)
        for (int64_t k = 0; k < each; k++) {
            int64_t i = to * each + k;
            Sent sent = { from, start[i], n[i] ? at[i] : 0, n[i] }; /* nothing comes anywhere */
            if (sent.n)
                TRY(check_sent(p, to, &sent));
            g->sent[to * g->each + from * each + k] = sent;
        }
    return NULL;
}

/* Everything is looked at before anything is written. */
static Error *look_up_all(const Ragged *g, int64_t *lists)
{
    for (int from = 0; from < g->p->n; from++)
        TRY(look_up(g, from, g->each / g->p->n, lists));
    return NULL;
}

Error *meet_ragged(const Parts *p)
{
    int64_t entries = p->m->in_types[INPUT_OFFSETS].dims[0];
    size_t touched = 2 * type_bytes(p->m->out_types[0]) * (size_t)p->n;
    if (entries % p->n)
        return meet_misfit(p, INPUT_OFFSETS);
    if (!touched)
        return NULL;
    enum { FEW = 64 };
    size_t n = (size_t)entries * (size_t)p->n;
    struct Tables {
        Sent sent[2 * FEW];
        int64_t lists[3 * FEW];
    } few;
    size_t room = 2 * n * sizeof(Sent) + 3 * (size_t)entries * sizeof(int64_t);
    Sent *table = n <= FEW ? few.sent : malloc(room);
    if (!table)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu entries", p->m->name,
                         p->m->where, n);
    Ragged g = { p, entries, table, table + n, bytes_from(p->m->in_types[ROWS], 1),
                 meet_streams(touched) };
    Error *error = look_up_all(&g, n <= FEW ? few.lists : (int64_t *)(table + 2 * n));
    if (!error)
        meet_slices(p, p->n, touched, receive, &g);
    if (table != few.sent)
        free(table);
    return error;
}
