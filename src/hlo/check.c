/* check.c - proves that a module is well formed.
 *
 * Structure first: every region ends in its one RETURN, every operand is defined before its
 * use and may be seen from there, operand counts are right.  Then types: the shape rule of
 * each operation, and that functions return and calls pass what is declared.  The error
 * names the operation, its place and the types.
 *
 * What a region may see: what encloses it, up to the function (JAX's comparators and reducers
 * do use constants from outside); the body of a manual computation sees only its arguments. */
#include "hlo/module.h"

#include "base/guard.h"

typedef struct Check {
    const Module *m;
    int *level;  /* by value: 0 not defined here, else the isolation level it is seen from */
    int deepest; /* isolation levels handed out */
} Check;

static Error *complain(const Node *n, const char *text)
{
    return error_new(CODE_INVALID, "%s (%s): %s", op_name(n->op), loc_name(n->loc), text);
}

static bool sees_outside(OpId op)
{
    return op != OP_MANUAL;
}

/* Types of what a region takes and gives, into the caller's arrays. */
static struct RegionTypes region_types(const Module *m, RegionId r, Arena *scratch)
{
    const Region *region = region_at(m, r);
    const Node *end = region_return(m, r);
    Type *args = ARENA_ARRAY(scratch, Type, region->nargs + 1);
    Type *results = ARENA_ARRAY(scratch, Type, end->nin + 1);
    for (int i = 0; i < region->nargs; i++)
        args[i] = type_of(m, region->args + (uint32_t)i);
    for (int i = 0; i < end->nin; i++)
        results[i] = type_of(m, end->in[i]);
    return (struct RegionTypes){ region->nargs, end->nin, args, results };
}

/* It takes or gives something of that element. */
static bool touches(const Module *m, const Node *n, Element element)
{
    for (int i = 0; i < n->nin; i++)
        if (type_of(m, n->in[i]).element == element)
            return true;
    for (int i = 0; i < n->nout; i++)
        if (type_of(m, n->out + (uint32_t)i).element == element)
            return true;
    return false;
}

/* Shape rules are about arrays; these operations alone hand tuples on. */
static bool may_hold_tuples(OpId op)
{
    return op == OP_TUPLE || op == OP_TUPLE_ELEMENT || op == OP_CUSTOM_CALL ||
           op_info[op].flow == FLOW_CALL || op_info[op].flow == FLOW_END;
}

static Error *check_tuples(const Module *m, const Node *n)
{
    return touches(m, n, TUPLE) && !may_hold_tuples(n->op)
               ? error_new(CODE_UNIMPLEMENTED, "not supported: a tuple in %s, at %s",
                           op_name(n->op), loc_name(n->loc))
               : NULL;
}

/* Where order among effects may be carried along; all else computes. */
static bool may_hold_tokens(OpId op)
{
    OpKind kind = op_info[op].kind;
    OpEffect effect = op_info[op].effect;
    return kind == KIND_FLOW || kind == KIND_MARK || effect == EFFECT_ORDER ||
           effect == EFFECT_WORLD || op == OP_GLOBAL || op == OP_CREATE_TOKEN ||
           op == OP_CONSTANT || op == OP_SCAN;
}

static Error *check_tokens(const Module *m, const Node *n)
{
    return touches(m, n, TOKEN) && !may_hold_tokens(n->op)
               ? complain(n, "it takes and gives arrays, not tokens")
               : NULL;
}

/* Asks the operation's shape rule; with `settled`, what the results are. */
static Error *ask(const Module *m, NodeId id, Type *settled)
{
    const Node *n = node_at(m, id);
    TRY(check_tuples(m, n));
    enum { FEW = 4 }; /* most nodes: no arena is worth making for them */
    Type few[2 * FEW];
    bool is_small = n->nin <= FEW && n->nout <= FEW && n->nregions == 0;
    Arena *scratch = is_small ? NULL : arena_new();
    Type *in = is_small ? few : ARENA_ARRAY(scratch, Type, n->nin + 1);
    Type *out = is_small ? few + FEW : ARENA_ARRAY(scratch, Type, n->nout + 1);
    struct RegionTypes *regions =
        is_small ? NULL : ARENA_ARRAY(scratch, struct RegionTypes, n->nregions + 1);
    for (int i = 0; i < n->nin; i++)
        in[i] = type_of(m, n->in[i]);
    for (int i = 0; i < n->nout; i++)
        out[i] = type_of(m, n->out + (uint32_t)i);
    for (int i = 0; i < n->nregions; i++)
        regions[i] = region_types(m, n->regions[i], scratch);
    ShapeQuery q = { n->nin, n->nout, n->nregions, in, out, n->attrs, regions, settled, m->arena };
    Text why = { 0 };
    bool is_right = shape_rules[n->op](&q, &why);
    Error *error = is_right ? check_tokens(m, n) : complain(n, text_cstr(&why));
    text_free(&why);
    arena_free(scratch);
    return error;
}

Error *node_check(const Module *m, NodeId id)
{
    return ask(m, id, NULL);
}

Error *node_types(const Module *m, NodeId id, Type *types)
{
    const Node *n = node_at(m, id);
    for (int i = 0; i < n->nout; i++)
        types[i] = type_of(m, n->out + (uint32_t)i);
    return ask(m, id, types);
}

/* The function that a call or composite names takes and gives these types. */
static Error *check_callee(const Module *m, const Node *n)
{
    Str name = n->op == OP_CALL ? ((const CallAttrs *)n->attrs)->callee
                                : ((const CompositeAttrs *)n->attrs)->decomposition;
    const Func *f = func_find(m, name);
    if (!f || !f->body)
        return error_new(CODE_INVALID, "%s (%s): there is no function @%.*s", op_name(n->op),
                         loc_name(n->loc), STR_ARG(name));
    const Region *body = region_at(m, f->body);
    if (body->nargs != n->nin || f->nresults != n->nout)
        return error_new(CODE_INVALID, "%s (%s): @%.*s takes %d and gives %d values, not %d and %d",
                         op_name(n->op), loc_name(n->loc), STR_ARG(name), body->nargs, f->nresults,
                         n->nin, n->nout);
    for (int i = 0; i < n->nin; i++)
        if (!type_fits(type_of(m, n->in[i]), type_of(m, body->args + (uint32_t)i)))
            return error_new(CODE_INVALID, "%s (%s): argument %d of @%.*s is %s, not %s",
                             op_name(n->op), loc_name(n->loc), i, STR_ARG(name),
                             type_name(type_of(m, body->args + (uint32_t)i)),
                             type_name(type_of(m, n->in[i])));
    for (int i = 0; i < n->nout; i++)
        if (!type_fits(type_of(m, n->out + (uint32_t)i), f->results[i]))
            return error_new(CODE_INVALID, "%s (%s): result %d of @%.*s is %s, not %s",
                             op_name(n->op), loc_name(n->loc), i, STR_ARG(name),
                             type_name(f->results[i]), type_name(type_of(m, n->out + (uint32_t)i)));
    return NULL;
}

static Error *check_region(Check *c, RegionId r, int level);

static Error *check_regions(Check *c, const Node *n, int level)
{
    for (int i = 0; i < n->nregions; i++) {
        int inside = sees_outside(n->op) ? level : ++c->deepest;
        TRY(check_region(c, n->regions[i], inside));
    }
    return NULL;
}

static Error *check_operands(const Check *c, const Node *n, int level)
{
    int arity = op_info[n->op].arity;
    if (arity != ANY && n->nin != arity)
        return error_new(CODE_INVALID, "%s (%s): it takes %d operands, not %d", op_name(n->op),
                         loc_name(n->loc), arity, n->nin);
    for (int i = 0; i < n->nin; i++)
        if (c->level[n->in[i]] != level)
            return error_new(CODE_INVALID, "%s (%s): operand %d is not defined here%s",
                             op_name(n->op), loc_name(n->loc), i,
                             c->level[n->in[i]] ? ": its region may not see it" : "");
    return NULL;
}

static Error *check_node(Check *c, NodeId id, int level)
{
    const Node *n = node_at(c->m, id);
    TRY(check_operands(c, n, level));
    TRY(check_regions(c, n, level));
    n = node_at(c->m, id);
    TRY(node_check(c->m, id));
    if (node_flow(n) == FLOW_CALL)
        TRY(check_callee(c->m, n));
    for (int i = 0; i < n->nout; i++)
        c->level[n->out + (uint32_t)i] = level;
    return NULL;
}

static Error *check_region(Check *c, RegionId r, int level)
{
    const Region *region = region_at(c->m, r);
    for (int i = 0; i < region->nargs; i++)
        c->level[region->args + (uint32_t)i] = level;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *n = node_at(c->m, region->nodes[i]);
        bool is_last = i == region->nnodes - 1;
        if ((node_flow(n) == FLOW_END) != is_last)
            return complain(n, is_last ? "its region must end in a return"
                                       : "a return must be the last operation of its region");
        TRY(check_node(c, region->nodes[i], level));
    }
    if (region->nnodes == 0)
        return error_new(CODE_INVALID, "a region is empty; it must end in a return");
    for (int i = 0; i < region->nargs; i++) /* code outside does not see what it defined */
        c->level[region->args + (uint32_t)i] = 0;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *n = node_at(c->m, region->nodes[i]);
        for (int k = 0; k < n->nout; k++)
            c->level[n->out + (uint32_t)k] = 0;
    }
    return NULL;
}

static Error *check_func(Check *c, const Func *f)
{
    if (!f->body)
        return error_new(CODE_UNIMPLEMENTED, "not supported: function @%.*s (%s) has no body",
                         STR_ARG(f->name), loc_name(f->loc));
    TRY(check_region(c, f->body, ++c->deepest));
    const Node *end = region_return(c->m, f->body);
    if (end->nin != f->nresults)
        return error_new(CODE_INVALID, "@%.*s (%s) returns %d values, not the %d it declares",
                         STR_ARG(f->name), loc_name(f->loc), end->nin, f->nresults);
    for (int i = 0; i < end->nin; i++)
        if (!type_fits(type_of(c->m, end->in[i]), f->results[i]))
            return error_new(CODE_INVALID, "@%.*s (%s): result %d is %s, declared as %s",
                             STR_ARG(f->name), loc_name(f->loc), i,
                             type_name(type_of(c->m, end->in[i])), type_name(f->results[i]));
    return NULL;
}

Error *module_devices(const Module *m, int *out)
{
    int64_t n = (int64_t)m->nreplicas * m->npartitions;
    if (n > POSSIBLE_DEVICES)
        return error_new(
            CODE_INVALID,
            "mhlo.num_replicas %d times mhlo.num_partitions %d: at most %d devices are "
            "possible",
            m->nreplicas, m->npartitions, POSSIBLE_DEVICES);
    *out = (int)n;
    return NULL;
}

Error *module_check(const Module *m)
{
    int ndevices;
    TRY(module_devices(m, &ndevices));
    Check c = { .m = m, .level = HEAP_ARRAY(int, m->nvalues, "a table of values") };
    Error *error = NULL;
    for (int i = 0; i < m->nfuncs && !error; i++)
        error = check_func(&c, &m->funcs[i]);
    heap_free(c.level);
    return error;
}
