/* cross_gather.c - what others have and the members here need comes as it is; then the collective is
 * performed for those that are here.
 *
 * Parts that lie together in memory go straight from there, and come to the same place of a copy of the
 * operand; others are packed for the way. */
#include "engine/exec/crossing.h"
#include "engine/numerics/numerics.h"

#include <stdlib.h>

/* A part whose bytes do not lie together. */
typedef struct Packed {
    char *packed, *scattered;
    Rows rows;
    bool is_sent;
} Packed;

typedef struct Gathering {
    size_t staged; /* bytes of the staging memory that are in use */
    int nparts, npacked;
    bool has_performed;
    Packed packed[];
} Gathering;

/* What is to be made room for. */
typedef struct Counts {
    Crossing *x;
    int nparts, npacked;
    size_t bytes; /* of copies and of what is packed */
    bool *has_copy;
} Counts;

static bool lies_together(const Rows *r)
{
    return r->inner == 1 && r->outer == 1;
}

static void count_part(void *user, const CrossPart *part)
{
    Counts *counts = user;
    const Collective *c = counts->x->members.c;
    bool *has_copy = &counts->has_copy[part->rank * c->nin + part->operand];
    bool is_sent = part->from == counts->x->elsewhere.process;
    counts->nparts++;
    if (!is_sent && !*has_copy) {
        *has_copy = true;
        counts->bytes += crossing_aligned(type_bytes(c->in_types[part->operand]));
    }
    if (!lies_together(&part->rows)) {
        counts->npacked++;
        counts->bytes += crossing_aligned(rows_bytes(&part->rows));
    }
}

static char *take_staged(Crossing *x, size_t bytes)
{
    Gathering *gather = x->way;
    char *at = (char *)x->staging + gather->staged;
    gather->staged += crossing_aligned(bytes);
    return at;
}

/* Where an operand of a rank is, or its copy. */
static char *operand_of(Crossing *x, int rank, int operand, bool is_here)
{
    const Collective *c = x->members.c;
    if (is_here)
        return frame_at(x->members.frames[rank], c->in[operand]);
    void **copy = &x->elsewhere.copies[rank * c->nin + operand];
    if (!*copy)
        *copy = take_staged(x, type_bytes(c->in_types[operand]));
    return *copy;
}

static void fill_part(void *user, const CrossPart *part)
{
    Crossing *x = user;
    Gathering *gather = x->way;
    bool is_sent = part->from == x->elsewhere.process;
    size_t bytes = rows_bytes(&part->rows);
    char *at = operand_of(x, part->rank, part->operand, is_sent) + part->at;
    if (!lies_together(&part->rows)) {
        char *packed = take_staged(x, bytes);
        gather->packed[gather->npacked++] = (Packed){ packed, at, part->rows, is_sent };
        at = packed;
    }
    x->exchanges[0].parts[gather->nparts++] =
        (WirePart){ is_sent ? part->to : part->from, is_sent, at, bytes };
}

/* Packs what is to be sent, or unpacks what has come. */
static void pack(const Gathering *gather, bool is_sent)
{
    for (int i = 0; i < gather->npacked; i++) {
        const Packed *p = &gather->packed[i];
        const Rows *r = &p->rows;
        int64_t extents[] = { r->outer, r->inner }, scattered[] = { r->in_outer, r->in_inner };
        int64_t packed[] = { r->inner * (int64_t)r->span, (int64_t)r->span };
        if (p->is_sent != is_sent)
            continue;
        if (is_sent)
            strided_copy(p->packed, packed, p->scattered, scattered, 2, extents, r->span);
        else
            strided_copy(p->scattered, scattered, p->packed, packed, 2, extents, r->span);
    }
}

/* Makes room for what comes, and lists what crosses. */
static Error *list_parts(Crossing *x)
{
    const Participants *p = &x->members;
    size_t noperands = (size_t)p->n * (size_t)p->c->nin;
    Counts counts = { .x = x, .has_copy = calloc(noperands + 1, 1) };
    if (!counts.has_copy)
        return crossing_no_memory(x);
    Error *error = cross_list(p->c, p->n, p->frames, &x->elsewhere, count_part, &counts);
    free(counts.has_copy);
    if (error)
        return error;
    x->exchanges[0].parts = malloc(sizeof(WirePart) * (size_t)(counts.nparts + 1));
    x->elsewhere.copies = calloc(noperands + 1, sizeof(void *));
    x->way = calloc(1, sizeof(Gathering) + sizeof(Packed) * (size_t)counts.npacked);
    if (!x->exchanges[0].parts || !x->elsewhere.copies || !x->way)
        return crossing_no_memory(x);
    TRY(crossing_staging(x, counts.bytes));
    return cross_list(p->c, p->n, p->frames, &x->elsewhere, fill_part, x);
}

static Error *step(Crossing *x)
{
    Gathering *gather = x->way;
    const Participants *p = &x->members;
    if (crossing_is_open(x) || gather->has_performed)
        return NULL;
    gather->has_performed = true;
    pack(gather, false);
    return collective_perform_here(p->c, p->n, p->frames, p->scratch, &x->elsewhere);
}

Error *cross_by_gather(Crossing *x)
{
    TRY(list_parts(x));
    Gathering *gather = x->way;
    pack(gather, true);
    x->exchanges[0].nparts = gather->nparts;
    x->step = step;
    if (gather->nparts)
        crossing_exchange(x, 0);
    return NULL;
}
