/* parse.c - StableHLO text in, a module out.
 *
 * A recursive descent over the tokens of lex.c, one function per piece of the grammar, with
 * one token of lookahead.  Nesting is bounded, so the stack is.
 *
 *   module @jit_f attributes {...} {
 *     sdy.mesh @mesh = <["i"=4]>
 *     func.func public @main(%arg0: tensor<4xf32> {...}) -> (tensor<4xf32> {...}) {
 *       %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
 *       return %0 : tensor<4xf32>
 *     }
 *   }
 *   #loc1 = loc("f.py":3:7)
 *
 * Names of values live in one table; a region that ends takes its own names out again. */
#include "hlo/read/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of values ---- */

Error *define_value(Parser *p, Str name, const char *at, ValueId first, int n)
{
    uint64_t old;
    if (table_get(&p->names, name.at, name.n, &old) && old)
        return wrong(p, at, "%.*s is defined twice", STR_ARG(name));
    table_set(&p->names, name.at, name.n, (uint64_t)first << 32 | (uint32_t)n);
    LIST_ADD(p->arena, &p->scope, name);
    return NULL;
}

Error *parse_value(Parser *p, ValueId *out)
{
    if (p->token.kind != TOKEN_VALUE)
        return expected(p, "a value");
    Str name = p->token.text;
    uint64_t found = 0, which = 0;
    if (!table_get(&p->names, name.at, name.n, &found) || !found)
        return wrong(p, name.at, "%.*s is not defined here", STR_ARG(name));
    advance(p);
    if (p->token.kind == TOKEN_HASH) {
        Str digits = { p->token.text.at + 1, p->token.text.n - 1 };
        for (size_t i = 0; i < digits.n; i++) {
            if (digits.at[i] < '0' || digits.at[i] > '9' || which > UINT32_MAX)
                return expected(p, "the number of a result");
            which = which * 10 + (uint64_t)(digits.at[i] - '0');
        }
        advance(p);
    }
    if (which >= (found & UINT32_MAX))
        return wrong(p, name.at, "%.*s has %d results, there is no #%llu", STR_ARG(name),
                     (int)(found & UINT32_MAX), (unsigned long long)which);
    *out = (ValueId)(found >> 32) + (ValueId)which;
    return NULL;
}

int scope_open(const Parser *p)
{
    return p->scope.n;
}

void scope_close(Parser *p, int mark)
{
    while (p->scope.n > mark) {
        Str name = p->scope.at[--p->scope.n];
        table_set(&p->names, name.at, name.n, 0);
    }
}

/* ---- regions ---- */

Error *parse_arguments(Parser *p, Strs *names, Types *types)
{
    TRY(need_mark(p, '(', "before the arguments"));
    if (take_mark(p, ')'))
        return NULL;
    do {
        Type type;
        const Loc *ignored;
        if (p->token.kind != TOKEN_VALUE)
            return expected(p, "an argument");
        LIST_ADD(p->arena, names, p->token.text);
        advance(p);
        TRY(need_mark(p, ':', "before the argument's type"));
        TRY(parse_type(p, &type));
        LIST_ADD(p->arena, types, type);
        TRY(parse_loc(p, &ignored));
    } while (take_mark(p, ','));
    return need_mark(p, ')', "after the arguments");
}

Error *region_named(Parser *p, const Strs *names, const Types *types, RegionId *out)
{
    RegionId r = region_new(p->m, 0, types->n, types->at);
    ValueId first = region_at(p->m, r)->args;
    for (int i = 0; i < names->n; i++)
        TRY(define_value(p, names->at[i], names->at[i].at, first + (ValueId)i, 1));
    *out = r;
    return NULL;
}

Error *parse_body(Parser *p, RegionId r)
{
    bool returned = false;
    while (!at_mark(p, '}')) {
        if (p->token.kind == TOKEN_CARET)
            return unsupported(p, p->token.text.at, "a region of several blocks");
        if (returned)
            return expected(p, "'}' after the return");
        TRY(parse_operation(p, r));
        const Region *region = region_at(p->m, r);
        returned = node_at(p->m, region->nodes[region->nnodes - 1])->op == OP_RETURN;
    }
    if (!returned)
        return expected(p, "a return at the end of the region");
    advance(p);
    return NULL;
}

static Error *parse_block(Parser *p, RegionId *out)
{
    Strs names = { 0 };
    Types types = { 0 };
    TRY(need_mark(p, '{', "before the region"));
    if (p->token.kind == TOKEN_CARET) {
        advance(p);
        if (at_mark(p, '('))
            TRY(parse_arguments(p, &names, &types));
        TRY(need_mark(p, ':', "after the block's arguments"));
    }
    TRY(region_named(p, &names, &types, out));
    return parse_body(p, *out);
}

Error *parse_region(Parser *p, RegionId *out)
{
    TRY(nest_deeper(p));
    int mark = scope_open(p);
    Error *error = parse_block(p, out);
    scope_close(p, mark);
    leave(p);
    return error;
}

/* ---- functions ---- */

typedef struct Signature {
    Strs names;
    Types types, results;
    LIST(const Attr *) arg_attrs;
    LIST(const Attr *) result_attrs;
} Signature;

static Error *parse_own_attrs(Parser *p, const Attr **out)
{
    AttrDict dict = { 0 };
    *out = NULL;
    if (!at_mark(p, '{'))
        return NULL;
    TRY(parse_dict(p, &dict));
    *out = attr_dict(p->arena, &dict);
    return NULL;
}

static Error *parse_function_arguments(Parser *p, Signature *s)
{
    TRY(need_mark(p, '(', "before the arguments"));
    if (take_mark(p, ')'))
        return NULL;
    do {
        Type type;
        const Attr *attrs;
        const Loc *ignored;
        if (at_type(p))
            return unsupported(p, p->token.text.at, "a function without a body");
        if (p->token.kind != TOKEN_VALUE)
            return expected(p, "an argument");
        LIST_ADD(p->arena, &s->names, p->token.text);
        advance(p);
        TRY(need_mark(p, ':', "before the argument's type"));
        TRY(parse_type(p, &type));
        TRY(parse_own_attrs(p, &attrs));
        TRY(parse_loc(p, &ignored));
        LIST_ADD(p->arena, &s->types, type);
        LIST_ADD(p->arena, &s->arg_attrs, attrs);
    } while (take_mark(p, ','));
    return need_mark(p, ')', "after the arguments");
}

static Error *parse_function_results(Parser *p, Signature *s)
{
    Type type;
    const Attr *attrs = NULL;
    if (p->token.kind != TOKEN_ARROW)
        return NULL;
    advance(p);
    bool is_list = take_mark(p, '(');
    if (is_list && take_mark(p, ')'))
        return NULL;
    do {
        TRY(parse_type(p, &type));
        if (is_list)
            TRY(parse_own_attrs(p, &attrs));
        LIST_ADD(p->arena, &s->results, type);
        LIST_ADD(p->arena, &s->result_attrs, attrs);
    } while (is_list && take_mark(p, ','));
    return is_list ? need_mark(p, ')', "after the results") : NULL;
}

static Error *parse_function_body(Parser *p, const Signature *s, RegionId *out)
{
    TRY(need_mark(p, '{', "before the function's body"));
    int mark = scope_open(p);
    Error *error = region_named(p, &s->names, &s->types, out);
    if (!error)
        error = parse_body(p, *out);
    scope_close(p, mark);
    return error;
}

static Error *parse_function(Parser *p)
{
    Str name;
    Signature s = { 0 };
    AttrDict ignored = { 0 };
    RegionId body;
    const char *where = p->token.text.at;
    advance(p);
    bool is_private = take_word(p, "private") || take_word(p, "nested");
    if (!is_private)
        take_word(p, "public");
    const char *name_at = p->token.text.at;
    TRY(need_symbol(p, "the function's name", &name));
    if (func_find(p->m, name))
        return wrong(p, name_at, "function @%.*s is defined twice", STR_ARG(name));
    TRY(parse_function_arguments(p, &s));
    TRY(parse_function_results(p, &s));
    if (take_word(p, "attributes"))
        TRY(parse_dict(p, &ignored));
    if (!at_mark(p, '{'))
        return unsupported(p, where, "function @%.*s without a body", STR_ARG(name));
    const Loc *loc = loc_here(p, where);
    TRY(parse_function_body(p, &s, &body));
    TRY(parse_loc(p, &loc));
    Func *f = func_add(p->m, name);
    f->is_public = !is_private;
    f->body = body;
    f->nresults = s.results.n;
    f->results = s.results.at;
    f->arg_attrs = s.arg_attrs.at;
    f->result_attrs = s.result_attrs.at;
    f->loc = loc;
    return NULL;
}

/* ---- the module ---- */

/* sdy.mesh @mesh = <["i"=4]> {stablehlo.mesh = ...}: the attribute repeats the mesh. */
static Error *parse_mesh_definition(Parser *p)
{
    Str name;
    Mesh *mesh;
    AttrDict ignored = { 0 };
    const Loc *loc;
    const char *where = p->token.text.at;
    advance(p);
    TRY(need_symbol(p, "the mesh's name", &name));
    TRY(need_mark(p, '=', "after the mesh's name"));
    TRY(parse_mesh(p, &mesh));
    TRY(define_mesh(p, where, name, mesh));
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &ignored));
    return parse_loc(p, &loc);
}

/* An operation in the generic form: its name is a string. */
static bool at_generic(const Parser *p, const char *quoted)
{
    return p->token.kind == TOKEN_STRING && str_is(p->token.text, quoted);
}

Error *parse_top(Parser *p)
{
    if (at_word(p, "func.func") || at_word(p, "func"))
        return parse_function(p);
    if (at_word(p, "sdy.mesh"))
        return parse_mesh_definition(p);
    if (at_generic(p, "\"func.func\""))
        return parse_generic_function(p);
    if (at_generic(p, "\"sdy.mesh\""))
        return parse_generic_mesh(p);
    Str text = p->token.text;
    bool has_dialect = p->token.kind == TOKEN_WORD && memchr(text.at, '.', text.n);
    if (has_dialect || p->token.kind == TOKEN_STRING || at_word(p, "module"))
        return unsupported(p, text.at, "operation %.*s in a module", STR_ARG(text));
    return expected(p, "a function");
}

static Error *read_count(Parser *p, const char *where, const char *name, int *out)
{
    const Attr *attr = attr_get(p->m->attrs, name);
    if (!attr)
        return NULL;
    if (attr->kind != ATTR_INT || attr->integer < 1 || attr->integer > 1 << 20)
        return wrong(p, where, "module attribute %s must be a positive number", name);
    *out = (int)attr->integer;
    return NULL;
}

Error *set_module_attrs(Parser *p, const char *where, const AttrDict *attrs)
{
    p->m->attrs = attrs->n ? attr_dict(p->arena, attrs) : NULL;
    TRY(read_count(p, where, "mhlo.num_replicas", &p->m->nreplicas));
    return read_count(p, where, "mhlo.num_partitions", &p->m->npartitions);
}

static Error *parse_module(Parser *p)
{
    AttrDict attrs = { 0 };
    const char *where = p->token.text.at;
    advance(p);
    if (p->token.kind == TOKEN_SYMBOL)
        TRY(need_symbol(p, "the module's name", &p->m->name));
    if (take_word(p, "attributes"))
        TRY(parse_dict(p, &attrs));
    TRY(set_module_attrs(p, where, &attrs));
    TRY(need_mark(p, '{', "before the module's functions"));
    while (!take_mark(p, '}'))
        TRY(parse_top(p));
    const Loc *ignored;
    return parse_loc(p, &ignored);
}

/* Lines `#name = ...` and `!name = ...` stand at the top level, before or after their use. */
static void find_aliases(Parser *p)
{
    const char *end = p->lex.end;
    for (const char *line = p->lex.start; line && line < end;) {
        if (*line == '#' || *line == '!') {
            Lexer lex = { .start = line, .at = line, .end = end };
            Token name = lex_next(&lex), equals = lex_next(&lex);
            uint64_t old;
            if (equals.kind == TOKEN_MARK && equals.text.at[0] == '=' &&
                !table_get(&p->alias_names, name.text.at, name.text.n, &old)) {
                Alias alias = { .at = lex.at };
                table_set(&p->alias_names, name.text.at, name.text.n, (uint64_t)p->aliases.n);
                LIST_ADD(p->arena, &p->aliases, alias);
            }
        }
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
}

/* An alias was found beforehand; its value is read when it is used.  Only pass over it. */
static Error *skip_alias(Parser *p)
{
    advance(p);
    TRY(need_mark(p, '=', "after the alias"));
    while (p->token.kind != TOKEN_END && p->token.kind != TOKEN_BAD) {
        char c = p->token.text.at[0];
        if (p->token.kind == TOKEN_MARK && (c == '<' || c == '[' || c == '(' || c == '{'))
            TRY(skip_balanced(p));
        else
            advance(p);
        const char *at = p->token.text.at;
        if (p->token.kind == TOKEN_END || at == p->lex.start || at[-1] == '\n')
            break;
    }
    return NULL;
}

static Error *parse_file(Parser *p)
{
    bool has_module = false;
    advance(p);
    while (p->token.kind != TOKEN_END) {
        if (p->token.kind == TOKEN_HASH || p->token.kind == TOKEN_BANG) {
            TRY(skip_alias(p));
        } else if (at_word(p, "module") || at_word(p, "builtin.module") ||
                   at_generic(p, "\"builtin.module\"")) {
            if (has_module)
                return unsupported(p, p->token.text.at, "more than one module in a text");
            has_module = true;
            TRY(p->token.kind == TOKEN_STRING ? parse_generic_module(p) : parse_module(p));
        } else if (has_module && at_mark(p, '{')) {
            return unsupported(p, p->token.text.at, "resources at the end of a text");
        } else {
            TRY(parse_top(p));
        }
    }
    return p->m->nfuncs ? NULL : expected(p, "a module or a function");
}

Error *read_text(const char *bytes, size_t n, const char *name, Module **out)
{
    Module *m = module_new();
    Parser p = { .lex = { .start = bytes, .at = bytes, .end = bytes + n },
                 .m = m,
                 .arena = m->arena,
                 .file = str_copy(m->arena, str_of(name)) };
    find_aliases(&p);
    Error *error = parse_file(&p);
    table_free(&p.names);
    table_free(&p.alias_names);
    if (error)
        module_free(m);
    else
        *out = m;
    return error;
}
