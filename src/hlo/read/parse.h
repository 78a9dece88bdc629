/* parse.h - what the files of the text reader share.
 *
 *   parse.c          the module, its functions, regions, names of values
 *   parse_generic.c  modules, functions and meshes in the generic form
 *   parse_op.c       one operation: results, generic form, from a draft to a node
 *   parse_form.c     the short forms that operations print in
 *   parse_flow.c     the short forms with regions: reduce, while, manual_computation
 *   parse_check.c    checks of results
 *   parse_attr.c     attributes
 *   parse_dense.c    constants
 *   parse_type.c     types
 *   parse_sdy.c      meshes and shardings
 *   parse_loc.c      locations
 *   parse_token.c    tokens, complaints, aliases */
#ifndef TUTTI_HLO_READ_PARSE_H
#define TUTTI_HLO_READ_PARSE_H
#include "base/grow.h"
#include "base/table.h"
#include "hlo/module.h"
#include "hlo/read/lex.h"

enum { MAX_DEPTH = 64 }; /* of regions, attributes, locations within one another */

/* A growing list in an arena. */
#define LIST(T)                                                                                    \
    struct {                                                                                       \
        T *at;                                                                                     \
        int n, room;                                                                               \
    }
#define LIST_ADD(arena, list, value)                                                               \
    do {                                                                                           \
        ROOM((arena), (list)->at, (list)->n, &(list)->room);                                       \
        (list)->at[(list)->n++] = (value);                                                         \
    } while (0)

typedef LIST(Type) Types;
typedef LIST(ValueId) Values;
typedef LIST(Str) Strs;
typedef LIST(int64_t) Numbers;

/* `#name = ...` and `!name = ...`, found before the rest is read: locations are used long
 * before the line that says what they are. */
typedef struct Alias {
    const char *at; /* behind the = */
    const Attr *attr;
    const Loc *loc;
    Type type;
    bool is_known, is_open; /* already read; being read */
} Alias;

typedef struct Parser {
    Lexer lex;
    Token token; /* not yet consumed */
    Module *m;
    Arena *arena;
    Str file;
    int depth;
    Table names; /* of values in scope: first value << 32 | how many; 0: out of scope */
    Strs scope;  /* names defined so far; the end of a region forgets its own */
    Table alias_names;
    LIST(Alias) aliases;
    LIST(const char *) meshes_read; /* where the definitions of the module's meshes stand */
    bool has_all_meshes;            /* those further down have been read too */
} Parser;

/* An operation while it is read. */
typedef struct Draft {
    OpId op;
    Str name;          /* as written, "stablehlo.add" */
    const char *where; /* in the source */
    Values in;
    AttrDict dict;
    Types listed; /* types behind the colon, before the arrow */
    bool has_arrow;
    Types results; /* behind the arrow */
    LIST(RegionId) regions;
} Draft;

/* Errors. */
MUST_USE Error *wrong(Parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
MUST_USE Error *unsupported(Parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
MUST_USE Error *expected(Parser *p, const char *what); /* "expected WHAT, found 'x'" */

/* Tokens. */
void advance(Parser *p);
bool at_mark(const Parser *p, char mark);
bool at_word(const Parser *p, const char *word);
bool take_mark(Parser *p, char mark); /* consumes it if it is there */
bool take_word(Parser *p, const char *word);
MUST_USE Error *need_mark(Parser *p, char mark, const char *where); /* where: "before the type" */
MUST_USE Error *need_word(Parser *p, const char *word, const char *where);
MUST_USE Error *need_integer(Parser *p, const char *what, int64_t *out);
MUST_USE Error *need_string(Parser *p, const char *what, Str *out); /* unescaped, in the arena */
MUST_USE Error *need_symbol(Parser *p, const char *what, Str *out); /* without @ */
Str symbol_text(Parser *p, Str token);
Str string_text(Parser *p, Str token);
MUST_USE Error *nest_deeper(Parser *p); /* one level down; an error beyond MAX_DEPTH */
void leave(Parser *p);
/* Reading elsewhere: the returned token and position are put back by parser_return. */
typedef struct Bookmark {
    const char *at;
    Token token;
} Bookmark;
Bookmark parser_jump(Parser *p, const char *at);
void parser_return(Parser *p, Bookmark mark);
Alias *alias_find(Parser *p, Str token);

/* From <, [, ( or { to its partner, whatever is between. */
MUST_USE Error *skip_balanced(Parser *p);

/* parse_type.c */
MUST_USE Error *parse_type(Parser *p, Type *out);
MUST_USE Error *parse_types(Parser *p, Types *out);   /* one, or (any, number) */
MUST_USE Error *parse_signature(Parser *p, Draft *d); /* T, T or (T, T) -> T and so on */
bool at_type(const Parser *p);

/* parse_attr.c */
MUST_USE Error *parse_attr(Parser *p, const Attr **out);
MUST_USE Error *parse_dict(Parser *p, AttrDict *dict);              /* { ... }, added to dict */
MUST_USE Error *parse_entries(Parser *p, AttrDict *dict, char end); /* without the brackets */
MUST_USE Error *parse_numbers(Parser *p, const char *what, Numbers *out); /* [1, 2] */
MUST_USE Error *parse_conv_numbers(Parser *p, AttrDict *dict); /* [b, 0, f]x[0, i, o]->[b, 0, f] */
const Attr *numbers_attr(Parser *p, const Numbers *numbers);

/* parse_dense.c */
MUST_USE Error *parse_dense(Parser *p, Dense *out); /* dense<...> : type */
/* One number (or true, false), signed or not, written as an e; not for complex. */
MUST_USE Error *parse_number(Parser *p, Element e, void *to);

/* parse_sdy.c */
MUST_USE Error *parse_mesh(Parser *p, Mesh **out); /* <["i"=4]> */
/* The mesh defined at `where`, which is only added when it is met for the first time. */
MUST_USE Error *define_mesh(Parser *p, const char *where, Str name, Mesh *mesh);
MUST_USE Error *parse_sharding(Parser *p, const Sharding **out); /* <@mesh, [{"i"}, {}]> */
MUST_USE Error *parse_shardings(Parser *p, const Attr **out);    /* [<...>, <...>] */
MUST_USE Error *parse_manual_axes(Parser *p, const Attr **out);  /* {"i", "j"} */

/* parse_loc.c */
MUST_USE Error *parse_loc(Parser *p, const Loc **out); /* loc(...) if there is one */
const Loc *loc_here(Parser *p, const char *at);        /* the place in the text itself */

/* parse.c */
MUST_USE Error *define_value(Parser *p, Str name, const char *at, ValueId first, int n);
MUST_USE Error *parse_value(Parser *p, ValueId *out); /* %name, %name#1 */
int scope_open(const Parser *p);
void scope_close(Parser *p, int mark);
MUST_USE Error *parse_body(Parser *p, RegionId r);      /* operations up to }, which is consumed */
MUST_USE Error *parse_region(Parser *p, RegionId *out); /* { ^bb0(%a: T): ... } */
/* %a: T, %b: T in brackets; names and types are added. */
MUST_USE Error *parse_arguments(Parser *p, Strs *names, Types *types);
MUST_USE Error *region_named(Parser *p, const Strs *names, const Types *types, RegionId *out);

MUST_USE Error *parse_top(Parser *p); /* a function or a mesh */
MUST_USE Error *set_module_attrs(Parser *p, const char *where, const AttrDict *attrs);

/* parse_generic.c */
MUST_USE Error *parse_generic_module(Parser *p);
MUST_USE Error *parse_generic_function(Parser *p);
MUST_USE Error *parse_generic_mesh(Parser *p);

/* parse_op.c */
MUST_USE Error *parse_operation(Parser *p, RegionId r);
MUST_USE Error *parse_operands(Parser *p, Draft *d); /* %a, %b; may be none */
MUST_USE Error *parse_generic(Parser *p, Draft *d);  /* (%a) <{...}> ({...}) {...} : (T) -> T */

/* parse_check.c: checks become custom calls; constants they hold are put into r. */
bool is_check(Str name);
MUST_USE Error *parse_check(Parser *p, Draft *d, bool is_generic, RegionId r);

/* parse_form.c and parse_flow.c: behind the name, up to and with the types. */
MUST_USE Error *parse_form(Parser *p, Draft *d);
MUST_USE Error *parse_reduce(Parser *p, Draft *d);
MUST_USE Error *parse_while(Parser *p, Draft *d);
MUST_USE Error *parse_manual(Parser *p, Draft *d);
MUST_USE Error *parse_scan(Parser *p, Draft *d);
#endif
