/* apply.c - a region of scalars applied to elements, and folds by one.
 *
 *     a short list:   (((init . a) . b) . c) . d       one by one, as the specification has it
 *     a long one:     init . (fold of one half . fold of the other)
 *
 * A level of the tree needs one set of k scalars, and there are at most 64 levels. */
#include "engine/eval/apply.h"

#include "engine/tensor.h"

static Tensor *scalars(Arena *arena, int n)
{
    Tensor *at = ARENA_ARRAY(arena, Tensor, n);
    for (int i = 0; i < n; i++)
        at[i].data = arena_alloc(arena, sizeof(Complex));
    return at;
}

static Error *check_scalar(const Module *m, RegionId r, Type type)
{
    if (type.rank == 0 && element_carrier(type.element) != CARRY_NOTHING)
        return NULL;
    const Node *parent = node_at(m, region_at(m, r)->parent);
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: %s with a region on %s, at %s: scalars are",
                     op_name(parent->op), type_name(type), loc_name(parent->loc));
}

Error *apply_new(const Module *m, RegionId r, Apply *out)
{
    const Region *region = region_at(m, r);
    const Node *last = region_return(m, r);
    Apply a = { .nargs = region->nargs, .nresults = last->nin };
    for (int i = 0; i < a.nargs; i++)
        TRY(check_scalar(m, r, type_of(m, region->args + (ValueId)i)));
    for (int i = 0; i < a.nresults; i++)
        TRY(check_scalar(m, r, type_of(m, last->in[i])));
    TRY(evaluator_new(m, r, &a.evaluator));
    a.arena = arena_new();
    a.args = scalars(a.arena, a.nargs);
    a.results = scalars(a.arena, a.nresults);
    for (int i = 0; i < a.nargs; i++)
        a.args[i].type = type_of(m, region->args + (ValueId)i);
    for (int i = 0; i < a.nresults; i++)
        a.results[i].type = type_of(m, last->in[i]);
    *out = a;
    return NULL;
}

void apply_free(Apply *a)
{
    evaluator_free(a->evaluator);
    arena_free(a->arena);
}

Error *apply(Apply *a)
{
    return evaluator_run(a->evaluator, a->args, a->results);
}

void fold_new(Apply *f, int k, const Tensor *in, const Tensor *init, Fold *out)
{
    *out = (Fold){ .f = f, .k = k, .in = in, .init = init };
    out->levels = scalars(f->arena, FOLD_LEVELS * k);
    for (int i = 0; i < FOLD_LEVELS * k; i++)
        out->levels[i].type = f->results[i % k].type;
}

/* left = f(left, right). */
static Error *combine(Apply *f, int k, Tensor *left, const Tensor *right)
{
    for (int j = 0; j < k; j++) {
        convert_element(f->args[j], 0, left[j], 0);
        convert_element(f->args[k + j], 0, right[j], 0);
    }
    TRY(apply(f));
    for (int j = 0; j < k; j++)
        convert_element(left[j], 0, f->results[j], 0);
    return NULL;
}

static void fetch(const Fold *d, int64_t offset, Tensor *to)
{
    for (int j = 0; j < d->k; j++)
        if (offset < 0)
            convert_element(to[j], 0, d->init[j], 0);
        else
            convert_element(to[j], 0, d->in[j], d->base + offset);
}

/* left, then offsets[first .. first + n) one by one. */
static Error *fold_line(Fold *d, int64_t first, int64_t n, Tensor *left)
{
    for (int64_t i = 0; i < n; i++) {
        fetch(d, d->offsets[first + i], left + d->k);
        TRY(combine(d->f, d->k, left, left + d->k));
    }
    return NULL;
}

enum { SHORT = 64 };

/* Into level `level`: offsets[first .. first + n), n > 0. */
static Error *fold_tree(Fold *d, int64_t first, int64_t n, int level)
{
    Tensor *left = d->levels + level * d->k;
    if (n <= SHORT) {
        fetch(d, d->offsets[first], left);
        return fold_line(d, first + 1, n - 1, left);
    }
    TRY(fold_tree(d, first, n / 2, level));
    TRY(fold_tree(d, first + n / 2, n - n / 2, level + 1));
    return combine(d->f, d->k, left, left + d->k);
}

Error *fold(Fold *d, int64_t n, const int64_t *offsets, int64_t base, Tensor *out, int64_t at)
{
    d->offsets = offsets;
    d->base = base;
    Tensor *start = d->levels;
    fetch(d, -1, start);
    if (n <= SHORT) {
        TRY(fold_line(d, 0, n, start));
    } else {
        TRY(fold_tree(d, 0, n, 1));
        TRY(combine(d->f, d->k, start, start + d->k));
    }
    for (int j = 0; j < d->k; j++)
        convert_element(out[j], at, start[j], 0);
    return NULL;
}
