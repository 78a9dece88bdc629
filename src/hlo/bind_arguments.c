/* bind_arguments.c - arguments of main become constants.
 *
 *     main(w, x) { ... }     main(x) { w = constant;  return call @main.bound(w, x) }
 *                            main.bound(w, x) { ... }
 *
 * Calls are inlined by whoever compiles the program. */
#include "hlo/bind_arguments.h"

#include "hlo/rewrite.h"

static Error *check_value(const Module *m, const Func *main, int i, const Dense *value)
{
    Type stated = type_of(m, region_at(m, main->body)->args + (uint32_t)i);
    return type_fits(value->type, stated)
               ? NULL
               : error_new(CODE_INVALID, "argument %d of @main (%s) is %s, and cannot be %s", i,
                           loc_name(main->loc), type_name(stated), type_name(value->type));
}

/* The arguments that stay: their types, and what is said of them. */
typedef struct Rest {
    int n;
    Type *types;
    const Attr **attrs;
} Rest;

static Error *find_rest(Module *m, const Func *main, const Dense *const *values, Rest *rest)
{
    const Region *body = region_at(m, main->body);
    rest->types = ARENA_ARRAY(m->arena, Type, body->nargs + 1);
    rest->attrs = ARENA_ARRAY(m->arena, const Attr *, body->nargs + 1);
    for (int i = 0; i < body->nargs; i++) {
        if (values[i]) {
            TRY(check_value(m, main, i, values[i]));
            continue;
        }
        rest->types[rest->n] = type_of(m, body->args + (uint32_t)i);
        rest->attrs[rest->n++] = main->arg_attrs ? main->arg_attrs[i] : NULL;
    }
    return NULL;
}

/* The body of the new main: constants, the call, its results. */
static void fill_body(Module *m, RegionId r, const Func *bound, const Dense *const *values)
{
    int nargs = region_at(m, bound->body)->nargs, next = 0;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, nargs + 1);
    for (int i = 0; i < nargs; i++)
        in[i] = values[i] ? build_constant(m, r, *values[i], &loc_unknown)
                          : region_at(m, r)->args + (uint32_t)next++;
    CallAttrs *attrs = ARENA_NEW(m->arena, CallAttrs);
    attrs->callee = bound->name;
    NodeId call = node_new(m, OP_CALL, nargs, in, bound->nresults, bound->results, 0, NULL, attrs,
                           bound->loc);
    region_append(m, r, call);
    ValueId *out = ARENA_ARRAY(m->arena, ValueId, bound->nresults + 1);
    for (int i = 0; i < bound->nresults; i++)
        out[i] = node_at(m, call)->out + (uint32_t)i;
    build_return(m, r, bound->nresults, out, bound->loc);
}

Error *module_bind_arguments(Module *m, const Dense *const *values)
{
    Rest rest = { 0 };
    Func bound = *func_find(m, STR("main"));
    TRY(find_rest(m, &bound, values, &rest));
    bound.name = STR("main.bound");
    bound.is_public = false;
    bound.arg_attrs = bound.result_attrs = NULL;
    *func_add(m, bound.name) = bound;
    RegionId r = region_new(m, 0, rest.n, rest.types);
    fill_body(m, r, &bound, values);
    Func *main = func_find(m, STR("main"));
    main->body = r;
    main->arg_attrs = rest.attrs;
    return NULL;
}
