/* inline.c - calls and composites become the operations of what they name.
 *
 *   main: y = call @f(x)            main: t = mul x, x      f's body, once per call
 *         return y                        return t
 *
 * A composite of one number that bears an operation's name ("chlo.erf") is that operation: what it
 * decomposes into is for readers that do not have it.
 *
 * Functions are made callless bottom-up, so that each body is walked once however often it is
 * called; only the copies cost, and they are counted. */
#include "hlo/rewrite.h"

#include "base/guard.h"

enum { DEEPEST_CALL = 256, MOST_NODES = 1 << 20 };

typedef struct Inliner {
    Module *m;
    Subst map;                  /* results of calls, and copies of what was called */
    char *state;                /* per function: 0 not seen, 1 being inlined, 2 without calls */
    int path[DEEPEST_CALL + 1]; /* functions being inlined, outermost first */
    int depth;
} Inliner;

static MUST_USE Error *cycle_error(const Inliner *z, int again, const Loc *from)
{
    const Module *m = z->m;
    Text text = { 0 };
    for (int i = 0; i < z->depth; i++)
        text_printf(&text, "@%.*s calls ", STR_ARG(m->funcs[z->path[i]].name));
    text_printf(&text, "@%.*s", STR_ARG(m->funcs[again].name));
    Error *error = error_new(CODE_INVALID, "func.call (%s): %s: a function may not call itself",
                             loc_name(from), text_cstr(&text));
    text_free(&text);
    return error;
}

/* Open extents fit any: what they are is found once nothing is called any more. */
static MUST_USE Error *check_call(const Module *m, const Node *node, const Func *f)
{
    const Region *body = region_at(m, f->body);
    const Node *last = body->nnodes ? region_return(m, f->body) : NULL;
    bool fits = last && body->nargs == node->nin && last->nin == node->nout;
    for (int i = 0; fits && i < node->nin; i++)
        fits = type_fits(type_of(m, node->in[i]), type_of(m, body->args + (uint32_t)i));
    for (int i = 0; fits && i < node->nout; i++)
        fits = type_fits(type_of(m, node->out + (uint32_t)i), type_of(m, last->in[i]));
    if (fits)
        return NULL;
    return error_new(
        CODE_INVALID, "%s: %d operands and %d results do not fit the types of @%.*s, at %s",
        op_name(node->op), node->nin, node->nout, STR_ARG(f->name), loc_name(node->loc));
}

/* Of f64 the functions' own formulas are more accurate than what JAX decomposes them into, and
 * faster.  Of f32 and less that is so of those that lose digits at the ends of the range; for the
 * others the decompositions do: less work, and an ulp or two. */
static bool is_worth_its_name(OpId op, Element e)
{
    return element_info[e].bits == 64 || op == OP_ERF || op == OP_SINH || op == OP_COSH ||
           op == OP_ASIN;
}

/* Is the node a composite with the name of a function of one real number? */
static bool names_function(const Module *m, NodeId n, OpId *op)
{
    const Node *node = node_at(m, n);
    if (node->op != OP_COMPOSITE || node->nin != 1 || node->nout != 1)
        return false;
    const CompositeAttrs *a = node->attrs;
    Type type = type_of(m, node->in[0]);
    if ((a->composite_attributes && a->composite_attributes->n) || !op_find(a->name, op) ||
        element_info[type.element].kind != FLOAT || !type_equal(type, type_of(m, node->out)))
        return false;
    return op_info[*op].kind == KIND_MAP && op_info[*op].arity == 1 &&
           op_info[*op].attrs == ATTRS_NONE && is_worth_its_name(*op, type.element);
}

static MUST_USE Error *inline_func(Inliner *z, int which, const Loc *from);

static MUST_USE Error *inline_call(Inliner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    const Node *node = node_at(m, n);
    const Loc *loc = node->loc;
    Str callee = node->op == OP_CALL ? ((const CallAttrs *)node->attrs)->callee
                                     : ((const CompositeAttrs *)node->attrs)->decomposition;
    const Func *f = func_find(m, callee);
    if (!f || !f->body)
        return error_new(CODE_INVALID, "%s: no function @%.*s, at %s", op_name(node->op),
                         STR_ARG(callee), loc_name(loc));
    TRY(inline_func(z, (int)(f - m->funcs), loc));
    TRY(check_call(m, node_at(m, n), f));
    OpId op;
    if (names_function(m, n, &op)) {
        node_at(m, n)->op = op;
        node_at(m, n)->attrs = ARENA_NEW(m->arena, NoAttrs);
        region_append(m, r, n);
        return NULL;
    }
    node_open(m, r, n, f->body, &z->map);
    if (m->nnodes > MOST_NODES)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: more than %d operations once calls are replaced by "
                         "what they call, at the call of @%.*s, %s",
                         MOST_NODES, STR_ARG(callee), loc_name(loc));
    return NULL;
}

static MUST_USE Error *inline_node(Module *m, RegionId r, NodeId n, void *user)
{
    if (node_flow(node_at(m, n)) == FLOW_CALL)
        return inline_call(user, r, n);
    region_append(m, r, n);
    return NULL;
}

static MUST_USE Error *inline_func(Inliner *z, int which, const Loc *from)
{
    if (z->state[which] == 2)
        return NULL;
    if (z->state[which] == 1)
        return cycle_error(z, which, from);
    if (z->depth == DEEPEST_CALL)
        return error_new(CODE_UNIMPLEMENTED, "not supported: calls more than %d deep, at %s",
                         DEEPEST_CALL, loc_name(from));
    z->state[which] = 1;
    z->path[z->depth++] = which;
    TRY(region_rewrite(z->m, z->m->funcs[which].body, &z->map, inline_node, z));
    z->depth--;
    z->state[which] = 2;
    return NULL;
}

/* main first, so that what is wrong with it is said before what is wrong with the others. */
static MUST_USE Error *inline_all(Inliner *z)
{
    const Func *main = func_find(z->m, STR("main"));
    if (main)
        TRY(inline_func(z, (int)(main - z->m->funcs), main->loc));
    for (int i = 0; i < z->m->nfuncs; i++)
        TRY(inline_func(z, i, z->m->funcs[i].loc));
    return NULL;
}

Error *module_inline(Module *m)
{
    Inliner z = { .m = m, .map = subst_new(m) };
    z.state = HEAP_ARRAY(char, m->nfuncs, "a table of functions");
    Error *error = inline_all(&z);
    subst_free(&z.map);
    heap_free(z.state);
    return error;
}
