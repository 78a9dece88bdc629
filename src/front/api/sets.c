/* sets.c - which elements there are, in as many places as the caller has: nonzero, unique.
 *
 * How many there will be is not known while a program is made, so the caller says how many are wanted;
 * further ones are dropped, and places that are left get what fills them, as in JAX with `size`. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

/* Each x for which `is` holds, one behind the other in n places; the others hold what `fill` has. */
static tt compact(tt x, tt is, tt fill, int64_t n)
{
    tt at = tt_sub(tt_cumsum(tt_astype(is, TT_I32), 0), tt_integer(1));
    at = tt_where(is, at, tt_integer(n)); /* outside: dropped */
    tt_part places = { .kind = TT_PART_ARRAY, .at = at };
    return tt_put_n(tt_broadcast(fill, DIMS(n)), x, TT_PUT_SET, &places, 1);
}

enum { SIZE, FILL };

static void nonzero_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    if (!shapes_of(c->who, 1, in, &s))
        return;
    if (!s.rank) {
        report_broken("%s: %s is a scalar: it has no places", c->who, shape_text(&s));
        return;
    }
    int64_t count = 1;
    for (int i = 0; i < s.rank; i++)
        count *= s.dims[i];
    tt is = tt_not_equal(tt_reshape(in[0], DIMS(-1)), tt_integer(0));
    tt at = compact(tt_arange(TT_I32, count), is, tt_full(TT_I32, -1, &(tt_dims){ 0 }), c->v[SIZE]);
    tt rows[TT_MAX_RANK], none = tt_less(at, tt_integer(0));
    for (int i = s.rank - 1; i >= 0; i--) {
        tt extent = tt_integer(s.dims[i] ? s.dims[i] : 1);
        rows[i] = tt_where(none, tt_integer(c->v[FILL]), tt_rem(at, extent));
        rows[i] = tt_astype(rows[i], TT_I32);
        at = tt_floor_div(at, extent);
    }
    *out = tt_stack_n(rows, s.rank, 0);
}

tt tt_nonzero(tt x, int64_t size, int64_t fill)
{
    PUBLIC;
    if (size < 0)
        return report_broken("tt_nonzero: %lld places", (long long)size);
    return EAGER_BY("tt_nonzero", nonzero_body, DIMS(size, fill), x);
}

static void unique_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    if (!shapes_of(c->who, 1, in, &s))
        return;
    tt flat = tt_reshape(in[0], DIMS(-1));
    int64_t n = tt_shape(flat).v[0], size = c->v[SIZE];
    if (!n || element_info[s.element].kind == COMPLEX) {
        report_broken("%s: %s: it takes real numbers, at least one", c->who, shape_text(&s));
        return;
    }
    tt order = tt_argsort(flat, 0), sorted = tt_take(flat, order, 0);
    tt is_new = tt_not_equal(tt_slice(sorted, 0, 1, n), tt_slice(sorted, 0, 0, n - 1));
    is_new = tt_concat_n((const tt[]){ tt_full(TT_BOOL, 1, DIMS(1)), is_new }, 2, 0);
    tt which = tt_sub(tt_cumsum(tt_astype(is_new, TT_I32), 0), tt_integer(1));
    tt_part places = { .kind = TT_PART_ARRAY, .at = order };
    out[0] = compact(sorted, is_new, tt_index(sorted, DIMS(0)), size);
    tt inverse = tt_put_n(tt_full(TT_I32, 0, DIMS(n)), which, TT_PUT_SET, &places, 1);
    tt_dims shape = tt_shape(in[0]);
    out[1] = tt_reshape(inverse, &shape);
    out[2] = tt_segment_sum(tt_full(TT_I32, 1, DIMS(n)), which, size);
}

tt_distinct tt_unique(tt x, int64_t size)
{
    PUBLIC;
    tt out[3] = { NO_VALUE };
    Numbers c = numbers_of("tt_unique", DIMS(size));
    if (size < 0)
        report_broken("tt_unique: %lld places", (long long)size);
    else
        call_eager(c.who, unique_body, &c, sizeof c, 1, &x, 3, out);
    return (tt_distinct){ out[0], out[1], out[2] };
}
