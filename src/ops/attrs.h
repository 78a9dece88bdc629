/* attrs.h - attributes: as read (Attr, a tree), and as used (one struct per kind). */
#ifndef TUTTI_OPS_ATTRS_H
#define TUTTI_OPS_ATTRS_H
#include "base/error.h"
#include "base/text.h"
#include "ops/sharding.h"
#include "ops/type.h"

#include <stddef.h>

struct Arena;

typedef enum AttrKind {
    ATTR_UNIT,
    ATTR_BOOL,      /* integer: 0 or 1 */
    ATTR_INT,       /* integer */
    ATTR_FLOAT,     /* number */
    ATTR_STRING,    /* string; also symbols (@name without the @) */
    ATTR_WORD,      /* string: an enum's word, "LT" */
    ATTR_TYPE,      /* type */
    ATTR_ARRAY,     /* items */
    ATTR_DICT,      /* items and keys */
    ATTR_DENSE,     /* dense: constants, and number lists as rank-1 or rank-2 i64 */
    ATTR_SHARDING,  /* sharding */
    ATTR_SHARDINGS, /* shardings */
} AttrKind;

/* Everything lives in the arena of the module it was read into. */
typedef struct Attr {
    AttrKind kind;
    Element element; /* of ATTR_INT and ATTR_FLOAT as it was written; I1: not said */
    int n;           /* of items, keys, shardings */
    union {
        int64_t integer;
        double number;
        Str string;
        Type type;
        Dense dense;
        const struct Attr *const *items;
        const Sharding *sharding;
        const Sharding *const *shardings;
    };
    const Str *keys; /* of a dictionary, in the order read */
} Attr;

const Attr *attr_get(const Attr *dict, const char *key); /* NULL: absent, or dict is NULL */

/* A dictionary being made; starts as { 0 }. */
typedef struct AttrDict {
    int n, room;
    Str *keys;
    const Attr **values;
} AttrDict;

void attr_set(struct Arena *arena, AttrDict *dict, Str key, const Attr *value);
const Attr *attr_dict(struct Arena *arena, const AttrDict *dict);
const Attr *attr_int(struct Arena *arena, int64_t value);
const Attr *attr_bool(struct Arena *arena, bool value);
const Attr *attr_string(struct Arena *arena, Str value);
const Attr *attr_word(struct Arena *arena, Str value);
const Attr *attr_ints(struct Arena *arena, int n, const int64_t *at); /* as dense i64 */
const Attr *attr_matrix(struct Arena *arena, int rows, int cols, const int64_t *at);

typedef struct Shardings {
    int n;
    const Sharding *const *at;
} Shardings;

typedef struct Tilings {
    int n;
    const Tiling *at;
} Tilings;

/* How exactly a product takes its operands: what an engine may round.  StableHLO's default and to say
 * nothing are one in a file; the front tells them apart, as $TUTTI_PRECISION is for what says nothing. */
typedef enum Precision {
    PRECISION_UNSAID,
    PRECISION_DEFAULT,
    PRECISION_HIGH,
    PRECISION_HIGHEST
} Precision;

typedef struct Precisions {
    Precision lhs, rhs;
} Precisions;

/* The structs. */
#define BEGIN(kind, T) typedef struct T {
#define FIELD(type, name, initially) ATTRS_C_##type name;
#define ENUM(name, initially, words) int name;
#define END(kind, T)                                                                               \
    char end_; /* so that no struct is empty */                                                    \
    }                                                                                              \
    T;
#define ATTRS_C_INT int64_t
#define ATTRS_C_BOOL bool
#define ATTRS_C_FLOATING double
#define ATTRS_C_INTS Ints
#define ATTRS_C_MATRIX Matrix
#define ATTRS_C_STRING Str
#define ATTRS_C_DENSE Dense
#define ATTRS_C_ANY const Attr *
#define ATTRS_C_SHARDING const Sharding *
#define ATTRS_C_SHARDINGS Shardings
#define ATTRS_C_TILINGS Tilings
#define ATTRS_C_PRECISIONS Precisions
#include "ops/attrs.def"

/* Code that needs only the groups of a collective reads its attributes as AllReduceAttrs; code that
 * needs only its pairs, as PermuteAttrs.  So the fields they share lie at the same offsets. */
#define SAME_FIELD(A, B, name)                                                                     \
    _Static_assert(offsetof(A, name) == offsetof(B, name) &&                                       \
                       sizeof(((A *)0)->name) == sizeof(((B *)0)->name),                           \
                   #A " and " #B " must begin alike: " #name)
#define SAME_GROUPS(T)                                                                             \
    SAME_FIELD(T, AllReduceAttrs, replica_groups);                                                 \
    SAME_FIELD(T, AllReduceAttrs, channel_id);                                                     \
    SAME_FIELD(T, AllReduceAttrs, use_global_device_ids)
SAME_GROUPS(AllGatherAttrs);
SAME_GROUPS(ReduceScatterAttrs);
SAME_GROUPS(AllToAllAttrs);
SAME_GROUPS(CollectiveBroadcastAttrs);
SAME_GROUPS(CollectiveReduceAttrs);
SAME_GROUPS(RetileAttrs);
SAME_FIELD(SendAttrs, PermuteAttrs, source_target_pairs);
#undef SAME_FIELD
#undef SAME_GROUPS

typedef enum AttrsKind {
#define BEGIN(kind, T) ATTRS_##kind,
#define FIELD(type, name, initially)
#define ENUM(name, initially, words)
#define END(kind, T)
#include "ops/attrs.def"
    ATTRS_COUNT
} AttrsKind;

/* What attrs.def says of a field. */
typedef enum AttrFieldType {
    FIELD_INT,
    FIELD_BOOL,
    FIELD_INTS,
    FIELD_MATRIX,
    FIELD_STRING,
    FIELD_DENSE,
    FIELD_FLOATING,
    FIELD_ANY,
    FIELD_SHARDING,
    FIELD_SHARDINGS,
    FIELD_TILINGS,
    FIELD_PRECISIONS,
    FIELD_WORD
} AttrFieldType;

typedef struct AttrField {
    const char *name; /* NULL ends the fields of a kind */
    AttrFieldType type;
    size_t offset;
    int initially;     /* what its absence means, or that it is an error */
    const char *words; /* of an enum, with commas between */
} AttrField;

const AttrField *attrs_fields(AttrsKind kind);

/* The words of enums, in the order of attrs.def. */
enum { EQ, NE, GE, GT, LE, LT };
enum { NO_TRANSPOSE = 1, TRANSPOSE, ADJOINT };
enum { COMPARE_NOTYPE, COMPARE_FLOAT, COMPARE_TOTALORDER, COMPARE_SIGNED, COMPARE_UNSIGNED };

/* Makes the struct of that kind from what was read.  Names with a dot (mhlo.sharding,
 * jax.result_info) are not ours: they are collected into *extra (NULL when there are none).
 * An unknown, missing or ill-typed attribute is an error that names it and `op`. */
MUST_USE Error *attrs_from_dict(struct Arena *arena, AttrsKind kind, const char *op,
                                const Attr *dict, const void **attrs, const Attr **extra);
bool attrs_equal(AttrsKind kind, const void *a, const void *b);
int64_t attrs_largest(AttrsKind kind, const void *attrs); /* of their numbers, without sign */
uint64_t attrs_hash(AttrsKind kind, const void *attrs, uint64_t seed);
void attrs_print(Text *out, AttrsKind kind, const void *attrs); /* name = value, ... */
size_t attrs_size(AttrsKind kind);

bool precisions_said(Precisions p);
const char *precision_word(Precision p);        /* "HIGHEST" */
void precisions_print(Text *out, Precisions p); /* [#stablehlo<precision HIGHEST>, ...] */

bool attr_equal(const Attr *a, const Attr *b); /* NULL equals NULL */
void attr_print(Text *out, const Attr *attr);
void string_print(Text *out, Str s);      /* in quotes, escaped as MLIR does: "a\22b" */
void name_print(Text *out, Str name);     /* bare if MLIR reads it that way, else in quotes */
void dense_print(Text *out, Dense dense); /* dense<[1, 2]> without its type */
bool dense_equal(Dense a, Dense b);
#endif
