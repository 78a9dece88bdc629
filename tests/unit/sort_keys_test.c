/* sort_keys_test.c - sorting by keys against a plain insertion by comparison: every kind of key,
 * several keys, strides, ties, zeros and nans, lines of which only the first are kept. */
#include "engine/numerics/numerics.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 3, LONGEST = 20000 };

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

/* ---- elements ---- */

static const Element elements[] = { F32, F64, I8, I16, I32, I64, U8, U32, U64, I1 };

/* Few different values, so that there are ties. */
static void fill(Element e, char *at)
{
    static const double odd[] = { 0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1e-310, -1e-310 };
    double x = draw(4) ? (double)draw(1000) / 7 - 70 : odd[draw(8)];
    uint64_t bits = draw(2) ? state : draw(5) - 2;
    float narrow = (float)x;
    if (e == F64)
        memcpy(at, &x, 8);
    else if (e == F32)
        memcpy(at, &narrow, 4);
    else if (e == I1)
        *at = (char)(bits & 1);
    else
        memcpy(at, &bits, (size_t)element_info[e].bytes); /* little-endian */
}

static int compare_floats(double a, double b, const SortKey *key)
{
    int class_a = isnan(a) ? (signbit(a) && !key->one_nan ? -1 : 1) : 0;
    int class_b = isnan(b) ? (signbit(b) && !key->one_nan ? -1 : 1) : 0;
    if (class_a || class_b)
        return class_a - class_b;
    if (a == b && a == 0 && !key->one_zero)
        return !!signbit(b) - !!signbit(a);
    return (a > b) - (a < b);
}

/* As the key says: before (-1), equal, behind. */
static int compare(Element e, const char *a, const char *b, const SortKey *key)
{
    int bytes = element_info[e].bytes, order;
    if (element_info[e].kind == FLOAT) {
        double x = e == F64 ? *(const double *)a : (double)*(const float *)a;
        double y = e == F64 ? *(const double *)b : (double)*(const float *)b;
        order = compare_floats(x, y, key);
    } else {
        uint64_t x = 0, y = 0;
        memcpy(&x, a, (size_t)bytes);
        memcpy(&y, b, (size_t)bytes);
        if (element_info[e].kind == SIGNED) {
            int64_t p = (int64_t)(x << (64 - 8 * bytes)), q = (int64_t)(y << (64 - 8 * bytes));
            order = (p > q) - (p < q);
        } else {
            order = (x > y) - (x < y);
        }
    }
    return key->is_falling ? -order : order;
}

/* ---- one trial ---- */

typedef struct Trial {
    SortPlan *plan;
    char *in[MOST], *out[MOST];
    bool is_position[MOST];
} Trial;

static int64_t place(const SortPlan *p, int64_t line, int64_t i, int64_t extent)
{
    return (line / p->stride * extent + i) * p->stride + line % p->stride;
}

static const char *element_in(const Trial *t, int array, int64_t line, int64_t i)
{
    int bytes = element_info[t->plan->elements[array]].bytes;
    return t->in[array] + place(t->plan, line, i, t->plan->extent) * bytes;
}

static bool goes_before(const Trial *t, int64_t line, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < t->plan->nkeys; k++) {
        const SortKey *key = &t->plan->keys[k];
        int array = (int)key->array;
        int order = compare((Element)t->plan->elements[array], element_in(t, array, line, i),
                            element_in(t, array, line, j), key);
        if (order)
            return order < 0;
    }
    return i < j;
}

static const Trial *sorted_trial;
static int64_t sorted_line;

static int by_trial(const void *a, const void *b)
{
    return goes_before(sorted_trial, sorted_line, *(const int64_t *)a, *(const int64_t *)b) ? -1
                                                                                            : 1;
}

static bool is_right(const Trial *t, int64_t line, const int64_t *order)
{
    const SortPlan *p = t->plan;
    for (int64_t i = 0; i < p->kept; i++)
        for (int a = 0; a < p->narrays; a++) {
            int bytes = element_info[p->elements[a]].bytes;
            const char *found = t->out[a] + place(p, line, i, p->kept) * bytes;
            int32_t position = (int32_t)order[i];
            const char *want =
                t->is_position[a] ? (const char *)&position : element_in(t, a, line, order[i]);
            if (memcmp(found, want, (size_t)bytes) != 0)
                return false;
        }
    return true;
}

static void check_lines(const Trial *t)
{
    int64_t *order = malloc(sizeof *order * (size_t)(t->plan->extent + 1));
    int wrong = 0;
    for (int64_t line = 0; line < t->plan->nlines; line++) {
        for (int64_t i = 0; i < t->plan->extent; i++)
            order[i] = i;
        sorted_trial = t, sorted_line = line;
        qsort(order, (size_t)t->plan->extent, sizeof *order, by_trial);
        wrong += !is_right(t, line, order);
    }
    CHECK(wrong == 0);
    free(order);
}

static void plan_trial(SortPlan *p)
{
    static const int64_t extents[] = { 0, 1, 2, 31, 32, 33, 100, 257, 1000, LONGEST };
    p->extent = extents[draw(draw(10) ? 9 : 10)];
    p->narrays = 1 + (int64_t)draw(MOST);
    p->stride = draw(2) ? 1 : 1 + (int64_t)draw(3);
    p->nlines = p->stride * (p->extent > 300 ? 1 : (int64_t)draw(4));
    p->kept = draw(2) ? p->extent : p->extent ? (int64_t)draw((uint64_t)p->extent) / 8 : 0;
    if (!draw(25)) { /* lines that are looked through in pieces */
        p->extent = 70000 + (int64_t)draw(70000);
        p->nlines = p->stride * (1 + (int64_t)draw(2));
        p->kept = (int64_t)draw(300);
    }
    p->nkeys = 1 + (int64_t)draw((uint64_t)p->narrays);
    for (int a = 0; a < p->narrays; a++)
        p->elements[a] = elements[draw(sizeof elements / sizeof *elements)];
    for (int64_t k = 0; k < p->nkeys; k++)
        p->keys[k] = (SortKey){ k, draw(2), draw(2), draw(2) };
}

static void trial(void)
{
    SortPlan *p = calloc(1, sizeof *p + MOST * sizeof(int64_t));
    Trial t = { .plan = p };
    Frame frame = { 0 };
    plan_trial(p);
    const void *in[MOST];
    void *out[MOST];
    for (int a = 0; a < p->narrays; a++) {
        t.is_position[a] = a >= p->nkeys && draw(2);
        if (t.is_position[a])
            p->elements[a] = I32;
        int64_t n = p->nlines * p->extent, bytes = element_info[p->elements[a]].bytes;
        in[a] = t.in[a] = malloc((size_t)(n * bytes + 8));
        out[a] = t.out[a] = malloc((size_t)(p->nlines * p->kept * bytes + 8));
        for (int64_t i = 0; i < n; i++)
            fill((Element)p->elements[a], t.in[a] + i * bytes);
        if (t.is_position[a])
            in[a] = NULL;
    }
    sort_lines(&frame, p, in, out);
    CHECK(!frame.error);
    check_lines(&t);
    for (int a = 0; a < p->narrays; a++) {
        free(t.in[a]);
        free(t.out[a]);
    }
    free(p);
}

int main(void)
{
    for (int i = 0; i < 1500 && !check_failures; i++)
        trial();
    return check_done();
}
