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

/* Runs a body of one result. */
tt call_eager_one(const char *who, Body *body, const void *config, size_t size, int n,
                  const tt *in);
#define EAGER(who, body, config, ...)                                                              \
    call_eager_one(who, body, config, sizeof *(config),                                            \
                   (int)(sizeof((tt[]){ __VA_ARGS__ }) / sizeof(tt)), (const tt[]){ __VA_ARGS__ })
#endif
