/* type.h - element types and the types of arrays. */
#ifndef TUTTI_OPS_TYPE_H
#define TUTTI_OPS_TYPE_H
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Element {
#define ELEMENT(id, name, bits, bytes, kind, pjrt) id,
#include "ops/elements.def"
    ELEMENT_COUNT
} Element;

typedef enum ElementKind { BOOLEAN, SIGNED, UNSIGNED, FLOAT, COMPLEX, TOKENS } ElementKind;

typedef struct ElementInfo {
    const char *name;
    int bits, bytes;
    ElementKind kind;
    int pjrt;
} ElementInfo;

extern const ElementInfo element_info[ELEMENT_COUNT];

bool element_find(Str name, Element *out); /* "f32", "complex<f32>": of a number */
bool element_of_pjrt(int pjrt, Element *out);
bool element_fills_bytes(Element e); /* no bit of its bytes is unused, as in i4 and i1 */
Element element_part(Element e);     /* of a complex: its real type; else itself */

enum { DYNAMIC = -1 }; /* an extent not known yet, printed as ? */
enum { MAX_RANK = 32 };

/* An array, a token, or until refine a tuple.  dims lives in an arena or longer; rank 0 is a
 * scalar. */
typedef struct Type {
    Element element;
    int rank;
    const int64_t *dims; /* of a TUPLE, whose rank is 0: its Fields */
} Type;

typedef struct Fields {
    int n, leaves, types; /* how many; type_leaves and type_types of the tuple */
    const Type *at;
} Fields;

static inline const Fields *type_fields(Type tuple)
{
    return (const Fields *)(const void *)tuple.dims;
}

struct Arena;

Type type_new(struct Arena *arena, Element element, int rank,
              const int64_t *dims); /* copies dims */
Type type_scalar(Element element);
/* Fields are copied.  Readers keep MOST_TYPES, since a tuple may hold one tuple many times. */
enum { MOST_TYPES = 1 << 12 };
Type type_tuple(struct Arena *arena, int n, const Type *fields);
int type_leaves(Type t); /* of a tuple: what its tuples hold, all counted; else 1 */
int type_types(Type t);  /* of a tuple: itself and all in it, empty tuples too; else 1 */
bool type_equal(Type a, Type b);
bool type_same_shape(Type a, Type b);
bool type_fits(Type a, Type b); /* equal, an open extent being equal to any */
bool shape_fits(Type a, Type b);
bool extent_fits(int64_t a, int64_t b);
bool type_is_static(Type t);
bool type_is_possible(Type t); /* its bytes stay below 2^62, extents open or 0 counting as 1 */
int64_t type_count(Type t);    /* elements; the reader has refused types whose bytes pass 2^62 */
size_t type_bytes(Type t);
void type_print(Text *out, Type t);       /* tensor<4x2xf32> */
void type_print_short(Text *out, Type t); /* f32[4,2], for messages */
/* For one message: a NUL-terminated f32[4,2] in a ring of buffers of this thread. */
const char *type_name(Type t);

/* Row-major strides in elements, into strides[rank]. */
void type_strides(Type t, int64_t *strides);

/* A list of numbers whose owner is an arena. */
typedef struct Ints {
    int n;
    const int64_t *at;
} Ints;

Ints ints_copy(struct Arena *arena, int n, const int64_t *at);
bool ints_equal(Ints a, Ints b);
int64_t ints_or(Ints list, int i, int64_t otherwise); /* entry i, or what a short list means */
int ints_find(Ints list, int64_t x);                  /* position, or -1 */

/* A rectangle of numbers, row-major: replica groups (-1 pads), padding, pairs. */
typedef struct Matrix {
    int rows, cols;
    const int64_t *at;
} Matrix;

/* A constant: one element when is_splat, else all of them, row-major. */
typedef struct Dense {
    Type type;
    bool is_splat;
    const void *data;
} Dense;
#endif
