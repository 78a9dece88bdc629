/* numpy.h - what the bodies of public operations share: promotion, broadcasting, axes.
 *
 * Everything here is for the inside of a body (call.h): operands are values of any kind, results
 * are recorded.  A function that finds a mistake reports it, naming `who`. */
#ifndef TUTTI_FRONT_API_NUMPY_H
#define TUTTI_FRONT_API_NUMPY_H
#include "front/run/call.h"
#include "front/transform/build.h"
#include "front/value/value.h"

/* The shapes of n operands; false: one is broken. */
bool shapes_of(const char *who, int n, const tt *in, Shape *out);
const char *shape_text(const Shape *s); /* for messages: f32[4,2] */
/* What they broadcast to, into *out (element aside).  False: reported. */
bool broadcast_shapes(const char *who, int n, const Shape *shapes, Shape *out);

/* The option .precision, for both operands.  False: reported. */
bool precision_ok(const char *who, tt_precision given);
Precisions precisions_of(int64_t given);

/* x in another element type, another shape; weak if asked for. */
tt as_element(tt x, Element e);
tt as_shape(tt x, const Shape *to); /* as NumPy broadcasts */
tt as_weak(tt x, bool is_weak);

/* axis counted from the front; negative ones from the end.  False: reported. */
bool normalize_axis(const char *who, Type t, int64_t axis, int *out);
/* The axes listed, each once, in order; all of them when none is.  False: reported. */
bool normalize_axes(const char *who, Type t, const tt_dims *list, tt_dims *out);
/* A shape that a caller wrote.  False: reported. */
bool dims_ok(const char *who, const tt_dims *dims);
bool dtype_ok(const char *who, tt_dtype type);

/* What a body goes by, apart from its operands.  It is compared as bytes: what is not used is zero. */
typedef struct Numbers {
    const char *who;
    int64_t n, v[4 * TT_MAX_RANK];
    double x[4];
} Numbers;
Numbers numbers_of(const char *who, const tt_dims *v); /* v may be NULL */
tt_dims dims_of_numbers(const Numbers *c);             /* its v again */

/* Operands as floats, real or complex; only as real ones.  False: reported. */
bool as_inexact(const char *who, int n, const tt *in, tt *x);
bool as_floats(const char *who, int n, const tt *in, tt *x);

/* Runs a body of one result. */
tt call_eager_one(const char *who, Body *body, const void *config, size_t size, int n,
                  const tt *in);
#define EAGER(who, body, config, ...)                                                              \
    call_eager_one(who, body, config, sizeof *(config),                                            \
                   (int)(sizeof((tt[]){ __VA_ARGS__ }) / sizeof(tt)), (const tt[]){ __VA_ARGS__ })
/* The arrays of a tree that are there, into room; how many.  And values for those back into its places. */
int tree_present(tt_tree tree, tt *room);
void tree_spread(tt_tree like, const tt *x, tt *out);
/* DIMS(2, 3): a list of these. */
#define DIMS(...)                                                                                  \
    ((const tt_dims[]){                                                                            \
        { (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), { __VA_ARGS__ } } })
/* With numbers alone to go by. */
#define EAGER_BY(who, body, v, ...)                                                                \
    EAGER(who, body, ((const Numbers[]){ numbers_of(who, v) }), __VA_ARGS__)
/* Indices into n elements: from the end where they are negative, and at least 32 bits wide. */
tt index_from_end(tt at, int64_t n);
/* y, which was read at these indices (their axes are `dims` of it); but for those outside of 0 to n - 1 NaN, of
 * integers the least or, unsigned, the most, of booleans true: JAX's take. */
tt fill_outside(tt y, tt at, int64_t n, Ints dims);
#endif
