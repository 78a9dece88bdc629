/* bytecode.h - the container of MLIR bytecode: tables, and operations as written. */
#ifndef TUTTI_HLO_READ_BYTECODE_H
#define TUTTI_HLO_READ_BYTECODE_H
#include "base/arena.h"
#include "hlo/read/cursor.h"

enum { NO_ATTR = UINT32_MAX };

typedef struct BlockCode BlockCode;

/* An operation as written: names and numbers, nothing resolved. */
typedef struct OpCode {
    struct OpCode *next; /* in its block */
    uint32_t name;       /* into Bytecode.ops */
    uint32_t location;   /* attribute */
    uint32_t dict;       /* attribute: a dictionary, or NO_ATTR */
    bool has_properties;
    Cursor properties;
    int nresults, noperands, nregions;
    const uint32_t *types;    /* of the results */
    uint32_t results;         /* number of the first result among all values of the file */
    const uint32_t *operands; /* value numbers */
    BlockCode *regions;
    Cursor place; /* where it begins, for messages */
} OpCode;

/* A region: one block, or none. */
struct BlockCode {
    bool is_empty;
    int nargs, nops;
    const uint32_t *types;
    uint32_t args; /* number of the first argument */
    OpCode *first;
};

typedef struct OpNameCode {
    Str dialect, name; /* "vhlo", "add_v1" */
    bool is_registered;
} OpNameCode;

/* One attribute or type, still encoded. */
typedef struct EntryCode {
    Str dialect;
    bool is_text; /* MLIR assembly instead of numbers */
    Cursor bytes;
} EntryCode;

typedef struct Bytecode {
    Arena *arena;      /* of the tables; ends with them */
    Arena *strings_in; /* of the strings, which outlive the tables */
    const char *name;
    int version;
    uint32_t nstrings, ndialects, nops, nattrs, ntypes, nproperties;
    Str *strings; /* each NUL-terminated */
    Str *dialects;
    OpNameCode *ops;
    EntryCode *attrs, *types;
    Cursor *properties;
    uint32_t nvalues; /* numbered from 1 */
    OpCode *module;
} Bytecode;

/* Reads the tables and the tree of operations.  Strings are copied into strings_in; all else
 * lives in arena and refers to the bytes. */
MUST_USE Error *bytecode_read(Arena *arena, Arena *strings_in, const char *bytes, size_t n,
                              const char *name, Bytecode **out);
/* bytecode_ops.c: the IR section. */
MUST_USE Error *bytecode_read_ops(Bytecode *b, Cursor ir);
MUST_USE Error *bytecode_section(Cursor *c, int *id, Cursor *data);
#endif
