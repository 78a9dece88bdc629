/* tuple.c - a function without tuples: its values are their elements.
 *
 *   main(%t: tuple<A, B>) -> tuple<B, A>        main(%0: A, %1: B) -> (B, A)
 *     %a = get_tuple_element %t[0]                return %1, %0
 *     %b = get_tuple_element %t[1]
 *     %u = tuple %b, %a
 *     return %u
 *
 * Tuples of arguments are taken apart at the beginning and those of results at the end; between,
 * an element of a tuple is what it was made of.  Calls have been replaced by what they call, so
 * that no other operation but a custom call has to do with tuples; one that gives a tuple gives its
 * elements instead. */
#include "hlo/define/define.h"

#include "hlo/define/writer.h"

typedef struct Untupler {
    Module *m;
    Subst map; /* elements taken out, by what they are */
} Untupler;

/* The types that t holds, tuples within opened; how many. */
static int flat_types(Type t, Type *out)
{
    if (t.element != TUPLE) {
        *out = t;
        return 1;
    }
    int n = 0;
    for (int i = 0; i < type_fields(t)->n; i++)
        n += flat_types(type_fields(t)->at[i], out + n);
    return n;
}

/* The value of type t made of the values from *next on. */
static ValueId gather(Writer *w, Type t, ValueId *next)
{
    if (t.element != TUPLE)
        return (*next)++;
    ValueId *in = ARENA_ARRAY(w->m->arena, ValueId, type_fields(t)->n + 1);
    for (int i = 0; i < type_fields(t)->n; i++)
        in[i] = gather(w, type_fields(t)->at[i], next);
    return put(w, OP_TUPLE, t, NULL, type_fields(t)->n, in);
}

/* The values that v holds; how many. */
static int scatter(Writer *w, ValueId v, ValueId *out)
{
    Type t = type_of(w->m, v);
    if (t.element != TUPLE) {
        *out = v;
        return 1;
    }
    int n = 0;
    for (int i = 0; i < type_fields(t)->n; i++) {
        TupleElementAttrs *attrs = ARENA_NEW(w->m->arena, TupleElementAttrs);
        attrs->index = i;
        n += scatter(w, put(w, OP_TUPLE_ELEMENT, type_fields(t)->at[i], attrs, 1, &v), out + n);
    }
    return n;
}

static bool has_tuple(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nargs; i++)
        if (type_of(m, region->args + (uint32_t)i).element == TUPLE)
            return true;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nout; k++)
            if (type_of(m, node->out + (uint32_t)k).element == TUPLE)
                return true;
        for (int k = 0; k < node->nregions; k++)
            if (has_tuple(m, node->regions[k]))
                return true;
    }
    return false;
}

/* ---- arguments and results ---- */

/* One attribute per value that a tuple holds: none, since what it says is of the tuple. */
static const Attr *const *spread_attrs(Module *m, const Attr *const *attrs, int n,
                                       const Type *types, int total)
{
    if (!attrs)
        return NULL;
    const Attr **out = ARENA_ARRAY(m->arena, const Attr *, total + 1);
    for (int i = 0, at = 0; i < n; at += type_leaves(types[i++]))
        if (types[i].element != TUPLE)
            out[at] = attrs[i];
    return out;
}

/* Results that a tuple held have numbers of their own: who names a result is told its new one. */
static const Attr *with_new_alias(Module *m, const Attr *attrs, int nresults, const Type *results)
{
    const Attr *alias = attrs ? attr_get(attrs, "tf.aliasing_output") : NULL;
    if (!alias || alias->kind != ATTR_INT || alias->integer < 0 || alias->integer >= nresults)
        return attrs;
    Attr *moved = arena_copy(m->arena, alias, sizeof *alias);
    moved->integer = results[alias->integer].element == TUPLE ? -1 : 0;
    for (int i = 0; moved->integer >= 0 && i < alias->integer; i++)
        moved->integer += type_leaves(results[i]);
    AttrDict dict = { 0 };
    for (int i = 0; i < attrs->n; i++)
        attr_set(m->arena, &dict, attrs->keys[i],
                 attrs->items[i] == alias ? moved : attrs->items[i]);
    return attr_dict(m->arena, &dict);
}

static void renumber_aliases(Module *m, Func *f, int nresults, const Type *results)
{
    int n = region_at(m, f->body)->nargs;
    if (!f->arg_attrs)
        return;
    const Attr **out = ARENA_ARRAY(m->arena, const Attr *, n + 1);
    for (int i = 0; i < n; i++)
        out[i] = with_new_alias(m, f->arg_attrs[i], nresults, results);
    f->arg_attrs = out;
}

static void open_arguments(Untupler *z, Func *f)
{
    Module *m = z->m;
    RegionId old = f->body;
    int nargs = region_at(m, old)->nargs, total = 0, n = region_at(m, old)->nnodes;
    Type *types = ARENA_ARRAY(m->arena, Type, nargs + 1);
    for (int i = 0; i < nargs; i++) {
        types[i] = type_of(m, region_at(m, old)->args + (uint32_t)i);
        total += type_leaves(types[i]);
    }
    Type *flat = ARENA_ARRAY(m->arena, Type, total + 1);
    for (int i = 0, at = 0; i < nargs; i++)
        at += flat_types(types[i], flat + at);
    f->body = region_new(m, 0, total, flat);
    Writer w = { m, f->body, f->loc };
    ValueId next = region_at(m, f->body)->args;
    for (int i = 0; i < nargs; i++)
        subst_set(&z->map, region_at(m, old)->args + (uint32_t)i, gather(&w, types[i], &next));
    for (int i = 0; i < n; i++)
        region_append(m, f->body, region_at(m, old)->nodes[i]);
    f->arg_attrs = spread_attrs(m, f->arg_attrs, nargs, types, total);
}

static void open_results(Module *m, Func *f)
{
    int total = 0;
    for (int i = 0; i < f->nresults; i++)
        total += type_leaves(f->results[i]);
    Region *body = region_at(m, f->body);
    Node last = *node_at(m, body->nodes[--body->nnodes]);
    Writer w = { m, f->body, last.loc };
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, total + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, total + 1);
    int n = 0;
    for (int i = 0; i < last.nin; i++)
        n += scatter(&w, last.in[i], in + n);
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, in[i]);
    build_return(m, f->body, n, in, last.loc);
    renumber_aliases(m, f, f->nresults, f->results);
    f->result_attrs = spread_attrs(m, f->result_attrs, f->nresults, f->results, total);
    f->nresults = n;
    f->results = types;
}

/* ---- elements ---- */

/* A custom call that gives one tuple becomes one that gives its elements:
 *     %t = custom_call : tuple<A, B>    ->    %0:2 = custom_call : A, B;  %t = tuple %0#0, %0#1
 * The tuple is for the map alone, and stands in no region. */
static NodeId spread_call(Untupler *z, NodeId id)
{
    Module *m = z->m;
    Node old = *node_at(m, id);
    Type t = old.nout == 1 ? type_of(m, old.out) : type_scalar(F32);
    if (old.op != OP_CUSTOM_CALL || t.element != TUPLE)
        return id;
    static const NoAttrs none;
    int n = type_fields(t)->n;
    NodeId call = node_new(m, OP_CUSTOM_CALL, old.nin, old.in, n, type_fields(t)->at, 0, NULL,
                           old.attrs, old.loc);
    node_at(m, call)->extra = old.extra;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, n + 1);
    for (int i = 0; i < n; i++)
        in[i] = node_at(m, call)->out + (uint32_t)i;
    NodeId tuple = node_new(m, OP_TUPLE, n, in, 1, &t, 0, NULL, &none, old.loc);
    subst_set(&z->map, old.out, node_at(m, tuple)->out);
    return call;
}

static Error *take_apart(Untupler *z, RegionId r)
{
    Module *m = z->m;
    int n = region_at(m, r)->nnodes, kept = 0;
    for (int i = 0; i < n; i++) {
        NodeId id = spread_call(z, region_at(m, r)->nodes[i]);
        Node *node = node_at(m, id);
        for (int k = 0; k < node->nin; k++)
            node->in[k] = subst_get(&z->map, node->in[k]);
        for (int k = 0; k < node_at(m, id)->nregions; k++)
            TRY(take_apart(z, node_at(m, id)->regions[k]));
        node = node_at(m, id);
        if (node->op == OP_TUPLE)
            continue; /* every user of an element has it by now, or is named below */
        NodeId maker = node->op == OP_TUPLE_ELEMENT ? value_def(m, node->in[0]) : 0;
        if (maker && node_at(m, maker)->op == OP_TUPLE) {
            int64_t index = ((const TupleElementAttrs *)node->attrs)->index;
            subst_set(&z->map, node->out, node_at(m, maker)->in[index]);
            continue;
        }
        for (int k = 0; k < node->nin + node->nout; k++)
            if (type_of(m, k < node->nin ? node->in[k] : node->out + (uint32_t)(k - node->nin))
                    .element == TUPLE)
                return error_new(CODE_UNIMPLEMENTED, "not supported: a tuple in %s, at %s",
                                 op_name(node->op), loc_name(node->loc));
        region_at(m, r)->nodes[kept++] = id;
    }
    region_at(m, r)->nnodes = kept;
    return NULL;
}

Error *untuple(Module *m, Func *f)
{
    if (!has_tuple(m, f->body))
        return NULL;
    Untupler z = { m, subst_new(m) };
    open_arguments(&z, f);
    subst_apply(&z.map, m, f->body);
    open_results(m, f);
    Error *error = take_apart(&z, f->body);
    subst_free(&z.map);
    return error;
}
