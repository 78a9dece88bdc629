/* parse_generic.c - modules, functions and meshes in MLIR's generic form.
 *
 *   "builtin.module"() <{sym_name = "f"}> ({
 *     "func.func"() <{function_type = (T) -> T, sym_name = "main"}> ({
 *     ^bb0(%arg0: T): ...
 *     }) : () -> ()
 *   }) {mhlo.num_partitions = 1 : i32} : () -> ()
 *
 * The attributes come in two dictionaries, around the region; both are one here. */
#include "hlo/read/parse.h"

static Error *parse_head(Parser *p, AttrDict *dict)
{
    advance(p);
    TRY(need_mark(p, '(', "after the operation's name"));
    TRY(need_mark(p, ')', "after the operation's name"));
    if (!take_mark(p, '<'))
        return NULL;
    TRY(parse_dict(p, dict));
    return need_mark(p, '>', "after the properties");
}

static Error *parse_tail(Parser *p, AttrDict *dict, const Loc **loc)
{
    Draft ignored = { 0 };
    if (at_mark(p, '{'))
        TRY(parse_dict(p, dict));
    TRY(parse_signature(p, &ignored));
    return parse_loc(p, loc);
}

Error *parse_generic_module(Parser *p)
{
    AttrDict dict = { 0 }, attrs = { 0 };
    const Loc *ignored;
    const char *where = p->token.text.at;
    TRY(parse_head(p, &dict));
    TRY(need_mark(p, '(', "before the module's region"));
    TRY(need_mark(p, '{', "before the module's functions"));
    while (!take_mark(p, '}'))
        TRY(parse_top(p));
    TRY(need_mark(p, ')', "after the module's region"));
    TRY(parse_tail(p, &dict, &ignored));
    for (int i = 0; i < dict.n; i++)
        if (!str_is(dict.keys[i], "sym_name"))
            attr_set(p->arena, &attrs, dict.keys[i], dict.values[i]);
        else if (dict.values[i]->kind == ATTR_STRING)
            p->m->name = dict.values[i]->string;
    return set_module_attrs(p, where, &attrs);
}

/* Dictionaries per argument or result; NULL stands for one without entries. */
static Error *own_attrs(Parser *p, const char *where, const Attr *list, int n,
                        const Attr *const **out)
{
    const Attr **attrs = ARENA_ARRAY(p->arena, const Attr *, n ? n : 1);
    *out = attrs;
    if (!list)
        return NULL;
    if (list->kind != ATTR_ARRAY || list->n != n)
        return wrong(p, where, "expected a list of %d dictionaries of attributes", n);
    for (int i = 0; i < n; i++) {
        if (list->items[i]->kind != ATTR_DICT)
            return wrong(p, where, "expected a list of %d dictionaries of attributes", n);
        attrs[i] = list->items[i]->n ? list->items[i] : NULL;
    }
    return NULL;
}

/* A function's type is read as the list of its results' types; its region has the rest. */
static Error *result_types(Parser *p, const char *where, const Attr *type, Types *out)
{
    if (!type || type->kind != ATTR_ARRAY)
        return wrong(p, where, "func.func: attribute 'function_type' is missing");
    for (int i = 0; i < type->n; i++) {
        if (type->items[i]->kind != ATTR_TYPE)
            return wrong(p, where, "func.func: 'function_type' must be a type (...) -> ...");
        LIST_ADD(p->arena, out, type->items[i]->type);
    }
    return NULL;
}

Error *parse_generic_function(Parser *p)
{
    AttrDict dict = { 0 };
    Types results = { 0 };
    RegionId body;
    const char *where = p->token.text.at;
    const Loc *loc = loc_here(p, where);
    TRY(parse_head(p, &dict));
    TRY(need_mark(p, '(', "before the function's region"));
    TRY(parse_region(p, &body));
    TRY(need_mark(p, ')', "after the function's region"));
    TRY(parse_tail(p, &dict, &loc));
    const Attr *all = attr_dict(p->arena, &dict), *name = attr_get(all, "sym_name");
    const Attr *visibility = attr_get(all, "sym_visibility");
    if (!name || name->kind != ATTR_STRING)
        return wrong(p, where, "func.func: attribute 'sym_name' is missing");
    if (func_find(p->m, name->string))
        return wrong(p, where, "function @%.*s is defined twice", STR_ARG(name->string));
    TRY(result_types(p, where, attr_get(all, "function_type"), &results));
    Func f = { .body = body, .nresults = results.n, .results = results.at, .loc = loc };
    f.is_public =
        !visibility || visibility->kind != ATTR_STRING || str_is(visibility->string, "public");
    TRY(own_attrs(p, where, attr_get(all, "arg_attrs"), region_at(p->m, body)->nargs,
                  &f.arg_attrs));
    TRY(own_attrs(p, where, attr_get(all, "res_attrs"), results.n, &f.result_attrs));
    f.name = name->string;
    *func_add(p->m, name->string) = f;
    return NULL;
}

/* "sdy.mesh"() <{mesh = #sdy.mesh<["i"=4]>, sym_name = "mesh"}> */
Error *parse_generic_mesh(Parser *p)
{
    Mesh *mesh = NULL;
    Str name = { 0 };
    AttrDict ignored = { 0 };
    const Loc *loc;
    const char *where = p->token.text.at;
    advance(p);
    TRY(need_mark(p, '(', "after the operation's name"));
    TRY(need_mark(p, ')', "after the operation's name"));
    TRY(need_mark(p, '<', "before the properties"));
    TRY(need_mark(p, '{', "before the properties"));
    do {
        if (take_word(p, "mesh")) {
            TRY(need_mark(p, '=', "after mesh"));
            if (p->token.kind != TOKEN_HASH)
                return expected(p, "a mesh");
            advance(p);
            TRY(parse_mesh(p, &mesh));
        } else {
            TRY(need_word(p, "sym_name", "in the mesh"));
            TRY(need_mark(p, '=', "after sym_name"));
            TRY(need_string(p, "the mesh's name", &name));
        }
    } while (take_mark(p, ','));
    TRY(need_mark(p, '}', "after the properties"));
    TRY(need_mark(p, '>', "after the properties"));
    TRY(parse_tail(p, &ignored, &loc));
    if (!mesh || !name.n)
        return wrong(p, where, "sdy.mesh needs a mesh and a name");
    return define_mesh(p, where, name, mesh);
}
