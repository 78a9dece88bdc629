/* vhlo.h - what the files that turn bytecode's entries into a module share. */
#ifndef TUTTI_HLO_READ_VHLO_H
#define TUTTI_HLO_READ_VHLO_H
#include "hlo/module.h"
#include "hlo/read/bytecode.h"
#include "hlo/rewrite.h"

typedef enum TypeKind {
    TYPE_ARRAY,    /* a tensor or a token */
    TYPE_SCALAR,   /* an element type by itself */
    TYPE_FUNCTION, /* what it takes and gives stays encoded */
    TYPE_NOTHING   /* VHLO's none: "this attribute was not given" */
} TypeKind;

/* A type of the file, decoded. */
typedef struct FileType {
    TypeKind kind;
    Type type;    /* array, scalar */
    Cursor lists; /* function: types taken, types given */
} FileType;

enum { NOT_DECODED, DECODING, DECODED };

/* A member of a group of values that shall lie alike. */
typedef struct ShardGroup {
    const struct ShardGroup *outer; /* entered before this one */
    int64_t id;
    ValueId value;
} ShardGroup;

/* Entries are decoded when first asked for, and kept. */
typedef struct Vhlo {
    Bytecode *b;
    Module *m;
    Arena *arena; /* the module's */
    struct KnownType {
        uint8_t state;
        FileType type;
    } *types;
    struct KnownAttr {
        uint8_t state;
        uint32_t weight; /* attributes in the tree, so that shared ones cannot explode */
        const Attr *attr;
        const Loc *loc;
    } *attrs;
    struct KnownOp *ops;             /* by operation name: vhlo.c */
    ValueId *values;                 /* by the file's value number */
    const struct ShardGroup *groups; /* members of groups, the latest first */
    Subst marked; /* from members to their marks, in the regions that are being read */
    int depth;    /* of entries that refer to entries */
} Vhlo;

/* vhlo_types.c */
MUST_USE Error *vhlo_type(Vhlo *v, uint32_t index, FileType *out);
MUST_USE Error *vhlo_array_type(Vhlo *v, uint32_t index, Type *out);
MUST_USE Error *vhlo_type_list(Vhlo *v, Cursor *c, int *n, const Type **out);

/* vhlo_attrs.c: *out is NULL for an attribute that is known and says nothing to us. */
MUST_USE Error *vhlo_attr(Vhlo *v, uint32_t index, const Attr **out);
MUST_USE Error *vhlo_string(Vhlo *v, uint32_t index, Str *out);
MUST_USE Error *vhlo_deeper(Vhlo *v, const Cursor *c);
MUST_USE Error *take_attr_index(Vhlo *v, Cursor *c, uint32_t *out);
MUST_USE Error *take_string(Vhlo *v, Cursor *c, Str *out);
MUST_USE Error *take_ints(Vhlo *v, Cursor *c, const char *what, Ints *out);
MUST_USE Error *take_optional(Vhlo *v, Cursor *c, bool *is_there, uint32_t *out);
/* The bytes of an entry of that dialect and code, after the code. */
MUST_USE Error *vhlo_entry(Vhlo *v, uint32_t index, const char *dialect, int code, const char *what,
                           Cursor *out);

/* vhlo_dense.c */
MUST_USE Error *vhlo_dense(Vhlo *v, Cursor *c, Attr *out);

/* vhlo_sdy.c */
MUST_USE Error *sdy_attr(Vhlo *v, Cursor *c, Attr *out, bool *is_kept);
MUST_USE Error *sdy_mesh(Vhlo *v, uint32_t index, Str name, Mesh **out);
MUST_USE Error *vhlo_mesh_groups(Vhlo *v, Cursor *c, Attr *out);

/* vhlo_groups.c: sdy.sharding_group, in a region that ends with groups_leave.  Operands are then
 * looked up in v->marked. */
MUST_USE Error *group_add(Vhlo *v, const OpCode *op, int64_t id, RegionId region);
void groups_leave(Vhlo *v, const ShardGroup *outer);

/* vhlo_loc.c */
const Loc *vhlo_loc(Vhlo *v, uint32_t index);
#endif
