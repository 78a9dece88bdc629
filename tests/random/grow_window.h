/* grow_window.h - random windows: reduce_window, select_and_scatter, convolution; strides,
 * dilations of what they walk over and of themselves, padding that adds or takes away. */
#ifndef TUTTI_TESTS_RANDOM_GROW_WINDOW_H
#define TUTTI_TESTS_RANDOM_GROW_WINDOW_H
#include "tests/random/grow_fold.h"
#include "tests/random/grow_product.h"

typedef struct Windows { /* dimension by dimension */
    int rank;
    int64_t size[MOST_DIMS], stride[MOST_DIMS], base[MOST_DIMS], wide[MOST_DIMS],
        pads[2 * MOST_DIMS];
    int64_t dims[MOST_DIMS]; /* how many windows there are */
    int64_t work;            /* elements in all of them together */
} Windows;

static void choose_window(Windows *w, int64_t extent, int64_t size, bool has_dilations)
{
    int i = w->rank++;
    w->size[i] = size;
    w->stride[i] = chance(60) ? 1 : between(2, 4);
    w->base[i] = has_dilations && chance(45) ? between(2, 4) : 1;
    w->wide[i] = has_dilations && chance(25) ? between(2, 3) : 1;
    int64_t stretched = extent ? (extent - 1) * w->base[i] + 1 : 0,
            span = (size - 1) * w->wide[i] + 1;
    int64_t low = chance(40) ? 0 : between(-2, span), high = chance(40) ? 0 : between(-2, span);
    if (stretched + low < 0 || stretched + high < 0 || stretched + low + high < 0)
        low = high = 0;
    if (chance(8)) /* sums up to here, or from here on */
        low = chance(50) ? span - 1 : 0, high = low ? 0 : span - 1, w->stride[i] = 1;
    w->pads[2 * i] = low;
    w->pads[2 * i + 1] = high;
    int64_t padded = stretched + low + high;
    w->dims[i] = padded < span ? 0 : (padded - span) / w->stride[i] + 1;
    w->work = (i ? w->work : 1) * w->dims[i] * size;
}

static int64_t window_size(int64_t extent)
{
    return chance(25) ? 1 : chance(12) && extent > 1 ? extent : between(1, 4);
}

static const char *pad_rows(Grower *g, const Windows *w) /* [[1, 0], [2, 2]] */
{
    const char *out = "";
    for (int i = 0; i < w->rank; i++)
        out = words(g, "%s%s[%s]", out, i ? ", " : "", ints(g, 2, &w->pads[2 * i]));
    return words(g, "[%s]", out);
}

static const char *window_attributes(Grower *g, const Windows *w, bool has_dilations)
{
    const char *out =
        words(g,
              "window_dimensions = %s, window_strides = %s, padding = dense<%s> : "
              "tensor<%dx2xi64>",
              array(g, w->rank, w->size), array(g, w->rank, w->stride), pad_rows(g, w), w->rank);
    return !has_dilations ? out
                          : words(g, "%s, base_dilations = %s, window_dilations = %s", out,
                                  array(g, w->rank, w->base), array(g, w->rank, w->wide));
}

static bool is_small_enough(const Grower *g, const Windows *w)
{
    int64_t count = 1;
    for (int i = 0; i < w->rank; i++)
        count *= w->dims[i];
    return count <= g->most_count && w->work <= g->most_work;
}

static bool grow_reduce_window(Grower *g)
{
    Folded f;
    Windows w = { 0 };
    if (!choose_folded(g, &f))
        return false;
    Type t = f.in[0].type;
    for (int i = 0; i < t.rank; i++)
        choose_window(&w, t.dims[i], window_size(t.dims[i]), true);
    if (!is_small_enough(g, &w))
        return false;
    fold_op(g, "reduce_window", &f, window_attributes(g, &w, true), w.rank, w.dims);
    return true;
}

/* A window that lies in the padding altogether selects nothing: every one must reach an element. */
static bool reaches(const Windows *w, Type t)
{
    for (int i = 0; i < w->rank; i++)
        for (int64_t k = 0; k < w->dims[i]; k++) {
            int64_t at = k * w->stride[i] - w->pads[2 * i];
            if (at + w->size[i] <= 0 || at >= t.dims[i])
                return false;
        }
    return true;
}

static bool grow_select_and_scatter(Grower *g)
{
    static const char *const directions[] = { "GE", "GT", "LE", "LT" };
    Grown in[3], args[2], v;
    Windows w = { 0 };
    if (!pick(g, has_rank, &in[0]) || !is_real(in[0].type))
        return false;
    Type t = in[0].type;
    for (int i = 0; i < t.rank; i++)
        choose_window(&w, t.dims[i], window_size(t.dims[i]), false);
    if (!is_small_enough(g, &w) || !reaches(&w, t))
        return false;
    Combiner c = choose_combiner(g, t, false);
    in[1] = pick_like(g, type_new(g->arena, t.element, w.rank, w.dims));
    in[0] = tame(g, prepared(g, c, in[0]));
    in[1] = prepared(g, c, in[1]);
    in[2] = initial(g, c, in[0].type.element);
    v = new_value(g, in[0].type);
    open_op(g, "select_and_scatter", 3, in, window_attributes(g, &w, false), 1, &v);
    region_args(g, 1, &in[0].type, args);
    Grown p = compared(g, ONE_OF(directions), args[0], args[1]);
    return_line(g, "stablehlo.return", 1, &p);
    next_region(g);
    region_args(g, 1, &in[0].type, args);
    Grown sum = combined(g, c, args[0], args[1]);
    return_line(g, "stablehlo.return", 1, &sum);
    close_op(g, 3, in, 1, &v);
    keep(g, v);
    return true;
}

/* ---- convolution ---- */

typedef struct Labelled { /* dimensions in some order, by letters or spatial numbers */
    int rank;
    char labels[MOST_DIMS];
    int64_t dims[MOST_DIMS];
} Labelled;

static Labelled labelled(char first, int64_t a, char second, int64_t b, int nspatial,
                         const int64_t *spatial)
{
    Labelled out = { .rank = nspatial + 2 };
    int order[MOST_DIMS];
    shuffled(out.rank, order);
    for (int i = 0; i < out.rank; i++) {
        out.labels[order[i]] = (char)(i == 0 ? first : i == 1 ? second : '0' + i - 2);
        out.dims[order[i]] = i == 0 ? a : i == 1 ? b : spatial[i - 2];
    }
    return out;
}

static const char *labels_text(Grower *g, Labelled l)
{
    const char *out = "";
    for (int i = 0; i < l.rank; i++)
        out = words(g, "%s%s%c", out, i ? ", " : "", l.labels[i]);
    return out;
}

static const char *window_text(Grower *g, const Windows *w)
{
    const char *turned = "";
    if (!w->rank)
        return "";
    for (int i = 0; i < w->rank; i++)
        turned = words(g, "%s%s%s", turned, i ? ", " : "", chance(20) ? "true" : "false");
    return words(g, "stride = [%s], pad = %s, lhs_dilate = [%s], rhs_dilate = [%s], reverse = [%s]",
                 ints(g, w->rank, w->stride), pad_rows(g, w), ints(g, w->rank, w->base),
                 ints(g, w->rank, w->wide), turned);
}

static bool grow_convolution(Grower *g)
{
    Windows w = { 0 };
    int n = (int)between(chance(10) ? 0 : 1, chance(20) ? 3 : 2);
    int64_t groups = chance(60) ? 1 : between(2, 3), in_groups = 1, in_batches = 1;
    if (chance(50))
        in_groups = groups;
    else
        in_batches = groups;
    int64_t batch = in_batches * between(1, 3), taken = chance(10) ? 17 : between(1, 5);
    int64_t made = groups * (chance(10) ? 17 : between(1, 5)), spatial[3], sizes[3];
    if (chance(3))
        batch = 0;
    for (int i = 0; i < n; i++) {
        spatial[i] = chance(3) ? 0 : chance(15) ? between(16, 40) : between(1, 9);
        sizes[i] = between(1, chance(20) ? 5 : 3);
        choose_window(&w, spatial[i], sizes[i], true);
    }
    Element e = grow_element(g);
    Labelled x = labelled('b', batch, 'f', taken * in_groups, n, spatial);
    Labelled k = labelled('i', taken, 'o', made, n, sizes);
    Labelled y = labelled('b', batch / in_batches, 'f', made, n, w.dims);
    Type xt = type_new(g->arena, e, x.rank, x.dims), kt = type_new(g->arena, e, k.rank, k.dims);
    Type yt = type_new(g->arena, product_element(g, e), y.rank, y.dims);
    if (!has_products(with_element(type_scalar(I8), e)) || type_count(xt) > g->most_count ||
        type_count(yt) > g->most_count || type_count(yt) * type_count(kt) / made > g->most_work)
        return false;
    g->is_sign_open = true;
    Grown in[2] = { tame(g, pick_like(g, xt)), tame(g, pick_like(g, kt)) }, v = new_value(g, yt);
    line(g,
         "%s = stablehlo.convolution(%s) dim_numbers = [%s]x[%s]->[%s], window = {%s} "
         "{batch_group_count = %d : i64, feature_group_count = %d : i64} : (%s) -> %s",
         ref(g, v), refs(g, 2, in), labels_text(g, x), labels_text(g, k), labels_text(g, y),
         window_text(g, &w), (int)in_batches, (int)in_groups, types(g, 2, in), named(g, yt));
    keep(g, v);
    return true;
}
#endif
