/* einsum.c - sums of products named by letters: einsum, unary_einsum.
 *
 *     "bik,kj->bji"    b i      in the left and the result: stay
 *                      k        in both and not in the result: summed, by the dot
 *                      j        in the right and the result: stays
 *
 * A letter of one side that is nowhere else is summed before.  The dot gives batch, left and
 * right letters in that order; a transpose puts them where the result has them. */
#include "hlo/define/writer.h"

#include <string.h>

typedef struct Letters {
    int n;
    char at[MAX_RANK];
} Letters;

static int find(const Letters *l, char c)
{
    const char *at = memchr(l->at, c, (size_t)l->n);
    return at ? (int)(at - l->at) : -1;
}

static Error *refuse(const Node *n, Str config, const char *why)
{
    return error_new(CODE_UNIMPLEMENTED, "not supported: %s \"%.*s\" %s, at %s", op_name(n->op),
                     STR_ARG(config), why, loc_name(n->loc));
}

/* The letters up to an end, without blanks; each once. */
static Error *take(const Node *n, Str config, size_t *at, Letters *out)
{
    *out = (Letters){ 0 };
    for (; *at < config.n && config.at[*at] != ',' && config.at[*at] != '-'; ++*at) {
        char c = config.at[*at];
        if (c == ' ')
            continue;
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
            return refuse(n, config, "with anything but letters");
        if (find(out, c) >= 0)
            return refuse(n, config, "with a letter twice in one place");
        if (out->n == MAX_RANK)
            return refuse(n, config, "with so many letters");
        out->at[out->n++] = c;
    }
    return NULL;
}

/* "ab,bc->ac" into sides[nsides] and the result, which must fit the ranks of the types. */
static Error *parse(const Module *m, const Node *n, int nsides, Letters *sides, Letters *result)
{
    Str config = ((const EinsumAttrs *)n->attrs)->einsum_config;
    size_t at = 0;
    for (int i = 0; i < nsides; i++) {
        TRY(take(n, config, &at, &sides[i]));
        const char *end = i + 1 < nsides ? "," : "->";
        size_t length = strlen(end);
        if (config.n - at < length || memcmp(config.at + at, end, length) != 0)
            return error_new(CODE_INVALID,
                             "%s \"%.*s\": expected '%s' after the letters of operand "
                             "%d, at %s",
                             op_name(n->op), STR_ARG(config), end, i, loc_name(n->loc));
        at += length;
    }
    TRY(take(n, config, &at, result));
    for (int i = 0; i <= nsides; i++) {
        Type t = type_of(m, i < nsides ? n->in[i] : n->out);
        int letters = (i < nsides ? &sides[i] : result)->n;
        if (t.rank != letters || (i == nsides && at != config.n))
            return error_new(CODE_INVALID, "%s \"%.*s\": %d letters for %s, at %s", op_name(n->op),
                             STR_ARG(config), letters, type_name(t), loc_name(n->loc));
    }
    return NULL;
}

/* Without the letters that are neither in `other` nor in `result`. */
static ValueId sum_alone(Writer *w, ValueId x, Letters *own, const Letters *other,
                         const Letters *result)
{
    Letters kept = { 0 };
    int64_t over[MAX_RANK];
    int n = 0;
    for (int i = 0; i < own->n; i++)
        if ((other && find(other, own->at[i]) >= 0) || find(result, own->at[i]) >= 0)
            kept.at[kept.n++] = own->at[i];
        else
            over[n++] = i;
    *own = kept;
    return n ? put_sum(w, x, n, over) : x;
}

static Error *in_order(Writer *w, const Node *n, ValueId x, const Letters *has,
                       const Letters *result, ValueId *out)
{
    int64_t order[MAX_RANK];
    for (int i = 0; i < result->n; i++) {
        int at = find(has, result->at[i]);
        if (at < 0)
            return error_new(CODE_INVALID,
                             "%s: no operand has the letter '%c' of the result, at %s",
                             op_name(n->op), result->at[i], loc_name(n->loc));
        order[i] = at;
    }
    *out = put_transpose(w, x, order);
    if (type_equal(type_of(w->m, *out), type_of(w->m, n->out)))
        return NULL;
    return error_new(CODE_INVALID, "%s gives %s, but %s is stated, at %s", op_name(n->op),
                     type_name(type_of(w->m, *out)), type_name(type_of(w->m, n->out)),
                     loc_name(n->loc));
}

Error *define_unary_einsum(Writer *w, Node n, ValueId *results)
{
    Letters side, result;
    TRY(parse(w->m, &n, 1, &side, &result));
    ValueId x = sum_alone(w, n.in[0], &side, NULL, &result);
    return in_order(w, &n, x, &side, &result, results);
}

typedef struct Product {
    DotAttrs *attrs;
    Letters has; /* of the dot's result, in order */
    int64_t dims[MAX_RANK];
} Product;

/* Letters of both sides that are in the result (batch) or are not (contracted). */
static Error *share(const Node *n, Type l, Type r, const Letters *sides, const Letters *result,
                    bool is_batch, Product *p, int64_t *left, int64_t *right, int *count)
{
    *count = 0;
    for (int i = 0; i < sides[0].n; i++) {
        int at = find(&sides[1], sides[0].at[i]);
        if (at < 0 || (find(result, sides[0].at[i]) >= 0) != is_batch)
            continue;
        if (l.dims[i] != r.dims[at])
            return error_new(CODE_INVALID, "%s of %s and %s: '%c' is %lld and %lld, at %s",
                             op_name(n->op), type_name(l), type_name(r), sides[0].at[i],
                             (long long)l.dims[i], (long long)r.dims[at], loc_name(n->loc));
        left[*count] = i;
        right[(*count)++] = at;
        if (is_batch) {
            p->dims[p->has.n] = l.dims[i];
            p->has.at[p->has.n++] = sides[0].at[i];
        }
    }
    return NULL;
}

static Error *pair_up(Writer *w, const Node *n, Type l, Type r, const Letters *sides,
                      const Letters *result, Product *p)
{
    Arena *arena = w->m->arena;
    int64_t left[MAX_RANK], right[MAX_RANK];
    int count;
    p->attrs = ARENA_NEW(arena, DotAttrs);
    TRY(share(n, l, r, sides, result, true, p, left, right, &count));
    p->attrs->lhs_batching_dimensions = ints_copy(arena, count, left);
    p->attrs->rhs_batching_dimensions = ints_copy(arena, count, right);
    TRY(share(n, l, r, sides, result, false, p, left, right, &count));
    p->attrs->lhs_contracting_dimensions = ints_copy(arena, count, left);
    p->attrs->rhs_contracting_dimensions = ints_copy(arena, count, right);
    return NULL;
}

static void add_free(Product *p, const Letters *own, const Letters *other, Type t)
{
    for (int i = 0; i < own->n; i++)
        if (find(other, own->at[i]) < 0) {
            p->dims[p->has.n] = t.dims[i];
            p->has.at[p->has.n++] = own->at[i];
        }
}

Error *define_einsum(Writer *w, Node n, ValueId *results)
{
    Letters sides[2], result;
    Product p = { 0 };
    TRY(parse(w->m, &n, 2, sides, &result));
    ValueId in[2];
    in[0] = sum_alone(w, n.in[0], &sides[0], &sides[1], &result);
    in[1] = sum_alone(w, n.in[1], &sides[1], &sides[0], &result);
    Type l = type_of(w->m, in[0]), r = type_of(w->m, in[1]);
    TRY(pair_up(w, &n, l, r, sides, &result, &p));
    if (l.rank + r.rank - p.attrs->lhs_batching_dimensions.n -
            2 * p.attrs->lhs_contracting_dimensions.n >
        MAX_RANK)
        return refuse(&n, ((const EinsumAttrs *)n.attrs)->einsum_config, "with so many letters");
    add_free(&p, &sides[0], &sides[1], l);
    add_free(&p, &sides[1], &sides[0], r);
    Element e = type_of(w->m, n.out).element;
    Type t = type_new(w->m->arena, e, p.has.n, p.dims);
    return in_order(w, &n, put(w, OP_DOT, t, p.attrs, 2, in), &p.has, &result, results);
}
