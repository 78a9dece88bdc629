/* einsum.c - products of arrays by the names of their axes, as numpy.einsum.
 *
 *     "bqhd,bkhd->bhqk"      axes that both have and the result has: one for each (b, h)
 *                            axes that both have and the result has not: summed over (d)
 *
 * Operands are multiplied from left to right, two at a time, each by one dot_general. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

enum { MOST_OPERANDS = 16, SPEC_ROOM = 256, REST = 128 /* and above: axes that ... stands for */ };

typedef struct Config {
    int64_t n, precision;
    char spec[SPEC_ROOM];
} Config;

/* An operand, or what has come of some: a label for each axis. */
typedef struct Term {
    tt x;
    int rank;
    unsigned char label[2 * TT_MAX_RANK];
} Term;

static int find_label(const Term *t, unsigned char label)
{
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == label)
            return i;
    return -1;
}

/* ---- reading the spec ---- */

static bool report_spec(const Config *c, const char *why)
{
    report_broken("tt_einsum: \"%s\": %s", c->spec, why);
    return false;
}

/* The labels from *at up to a comma, an arrow or the end; `rank` axes, or -1 for a result, for which
 * the axes of ... are `nrest`. */
static bool read_labels(const Config *c, const char **at, int rank, int nrest, Term *out)
{
    int letters = 0;
    bool has_rest = false;
    for (const char *p = *at; *p && *p != ',' && *p != '-'; p++)
        letters += *p >= 'A' && *p <= 'z';
    out->rank = 0;
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        char p = **at;
        if (p == ' ')
            continue;
        if (p == '.') {
            if (has_rest || strncmp(*at, "...", 3) != 0)
                return report_spec(c, "dots are three, ..., and stand once in each part");
            has_rest = true;
            *at += 2;
            int n = rank < 0 ? nrest : rank - letters;
            for (int i = 0; i < n && out->rank < TT_MAX_RANK; i++)
                out->label[out->rank++] = (unsigned char)(REST + n - 1 - i);
            continue;
        }
        bool is_letter = (p >= 'a' && p <= 'z') || (p >= 'A' && p <= 'Z');
        if (!is_letter || out->rank == TT_MAX_RANK)
            return report_spec(c, "axes are named by letters, and an array has at most 12");
        out->label[out->rank++] = (unsigned char)p;
    }
    return true;
}

/* ---- two at a time ---- */

static tt sum_over(tt x, const bool *goes, int rank)
{
    int64_t axes[2 * TT_MAX_RANK];
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (goes[i])
            axes[n++] = i;
    return n ? build_reduce(OP_ADD, x, ints_of(n, axes)) : x;
}

static void drop(Term *t, const bool *goes)
{
    int rank = 0;
    t->x = sum_over(t->x, goes, t->rank);
    for (int i = 0; i < t->rank; i++)
        if (!goes[i])
            t->label[rank++] = t->label[i];
    t->rank = rank;
}

/* A label twice in one operand: its diagonal. */
static bool take_diagonals(const Config *c, Term *t)
{
    for (int i = 0; i < t->rank; i++)
        for (int k = i + 1; k < t->rank; k++) {
            if (t->label[i] != t->label[k])
                continue;
            Type type = type_at(t->x), at = type_with(type, I32);
            if (type.dims[i] != type.dims[k])
                return report_spec(c, "an axis named twice in one operand has two extents");
            tt is_on = build_compare(EQ, build_iota(at, i), build_iota(at, k));
            bool goes[2 * TT_MAX_RANK] = { 0 };
            goes[k--] = true;
            t->x = build_select(is_on, t->x, build_zeros(type));
            drop(t, goes);
        }
    return true;
}

/* Axes of t that nothing else has are summed. */
static void drop_alone(Term *t, const Term *other, const bool *is_needed)
{
    bool goes[2 * TT_MAX_RANK] = { 0 };
    for (int i = 0; i < t->rank; i++)
        goes[i] = !is_needed[t->label[i]] && (!other || find_label(other, t->label[i]) < 0);
    drop(t, goes);
}

/* is_needed[label]: the result has it, or an operand behind these two. */
static bool multiply(const Config *c, Term *a, Term *b, const bool *is_needed)
{
    int64_t batch[2][TT_MAX_RANK], contract[2][TT_MAX_RANK];
    int nbatch = 0, ncontract = 0;
    Term y = { .rank = 0 };
    drop_alone(a, b, is_needed);
    drop_alone(b, a, is_needed);
    for (int i = 0; i < a->rank; i++) {
        int k = find_label(b, a->label[i]);
        if (k < 0)
            continue;
        if (type_at(a->x).dims[i] != type_at(b->x).dims[k])
            return report_broken("tt_einsum: \"%s\": axis %.*s has %lld in one operand and %lld in "
                                 "another",
                                 c->spec, a->label[i] >= REST ? 3 : 1,
                                 a->label[i] >= REST ? "..." : (const char *)&a->label[i],
                                 (long long)type_at(a->x).dims[i],
                                 (long long)type_at(b->x).dims[k]),
                   false;
        if (is_needed[a->label[i]]) {
            batch[0][nbatch] = i;
            batch[1][nbatch++] = k;
            y.label[y.rank++] = a->label[i];
        } else {
            contract[0][ncontract] = i;
            contract[1][ncontract++] = k;
        }
    }
    for (int i = 0; i < a->rank; i++)
        if (find_label(b, a->label[i]) < 0)
            y.label[y.rank++] = a->label[i];
    for (int k = 0; k < b->rank; k++)
        if (find_label(a, b->label[k]) < 0)
            y.label[y.rank++] = b->label[k];
    y.x = build_dot(a->x, b->x, ints_of(nbatch, batch[0]), ints_of(nbatch, batch[1]),
                    ints_of(ncontract, contract[0]), ints_of(ncontract, contract[1]),
                    precisions_of(c->precision));
    *a = y;
    return true;
}

/* ---- the whole ---- */

/* Labels that stand once, in their order: the result of a spec without an arrow. */
static void implied_result(const Term *terms, int n, int nrest, Term *out)
{
    out->rank = 0;
    for (int i = 0; i < nrest; i++)
        out->label[out->rank++] = (unsigned char)(REST + nrest - 1 - i);
    for (int label = 'A'; label <= 'z'; label++) {
        int count = 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < terms[i].rank; k++)
                count += terms[i].label[k] == label;
        if (count == 1 && out->rank < TT_MAX_RANK)
            out->label[out->rank++] = (unsigned char)label;
    }
}

static bool read_spec(const Config *c, const tt *in, Term *terms, Term *result)
{
    const char *at = c->spec;
    int nrest = 0;
    for (int i = 0; i < c->n; i++) {
        Shape s;
        if (!shapes_of("tt_einsum", 1, &in[i], &s) || !read_labels(c, &at, s.rank, 0, &terms[i]))
            return false;
        if (terms[i].rank != s.rank)
            return report_broken("tt_einsum: \"%s\": operand %d is %s, and is given %d axes",
                                 c->spec, i, shape_text(&s), terms[i].rank),
                   false;
        for (int k = 0; k < s.rank; k++)
            nrest = terms[i].label[k] - REST >= nrest ? terms[i].label[k] - REST + 1 : nrest;
        bool is_last = i == c->n - 1;
        if (is_last ? *at == ',' : *at != ',')
            return report_broken("tt_einsum: \"%s\": there are %lld operands", c->spec,
                                 (long long)c->n),
                   false;
        at += !is_last;
    }
    if (!*at)
        return implied_result(terms, (int)c->n, nrest, result), true;
    if (strncmp(at, "->", 2) != 0)
        return report_spec(c, "the result stands behind an arrow, ->");
    at += 2;
    if (!read_labels(c, &at, -1, nrest, result))
        return false;
    for (int k = 0; k < result->rank; k++) {
        bool is_there = false;
        for (int i = 0; i < c->n; i++)
            is_there |= find_label(&terms[i], result->label[k]) >= 0;
        if (!is_there || find_label(result, result->label[k]) != k)
            return report_spec(c, "an axis of the result is one of an operand, and stands once");
    }
    return true;
}

static void einsum_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    int n = (int)c->n;
    Term terms[MOST_OPERANDS], result;
    Shape shapes[MOST_OPERANDS];
    if (!shapes_of("tt_einsum", n, in, shapes) || !read_spec(c, in, terms, &result))
        return;
    Promoted met = promote_types(n, shapes);
    for (int i = 0; i < n; i++) {
        terms[i].x = as_element(in[i], met.element);
        if (!take_diagonals(c, &terms[i]))
            return;
    }
    for (int i = 1; i < n; i++) {
        bool is_needed[256] = { 0 };
        for (int k = 0; k < result.rank; k++)
            is_needed[result.label[k]] = true;
        for (int j = i + 1; j < n; j++)
            for (int k = 0; k < terms[j].rank; k++)
                is_needed[terms[j].label[k]] = true;
        if (!multiply(c, &terms[0], &terms[i], is_needed))
            return;
    }
    bool is_needed[256] = { 0 };
    int64_t order[TT_MAX_RANK];
    for (int k = 0; k < result.rank; k++)
        is_needed[result.label[k]] = true;
    drop_alone(&terms[0], NULL, is_needed);
    for (int k = 0; k < result.rank; k++)
        order[k] = find_label(&terms[0], result.label[k]);
    *out = as_weak(build_transpose(terms[0].x, ints_of(result.rank, order)), met.is_weak);
}

tt tt_einsum_with(const char *spec, const tt *x, int n, const tt_product_options *given)
{
    PUBLIC;
    OPTIONS(tt_product_options, "tt_einsum", given, return NO_VALUE);
    if (!precision_ok("tt_einsum", options.precision))
        return NO_VALUE;
    Config c;
    memset(&c, 0, sizeof c);
    c.n = n;
    c.precision = options.precision;
    if (n < 1 || n > MOST_OPERANDS || !spec || strlen(spec) >= SPEC_ROOM)
        return report_broken("tt_einsum: %d operands by \"%s\": 1 to %d are possible", n,
                             spec ? spec : "", MOST_OPERANDS);
    strcpy(c.spec, spec);
    return call_eager_one("tt_einsum", einsum_body, &c, sizeof c, n, x);
}

tt tt_einsum_n(const char *spec, const tt *x, int n)
{
    return tt_einsum_with(spec, x, n, NULL);
}
