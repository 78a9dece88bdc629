/* trace.c - from calls to operations: sessions, frames, and recording.
 *
 *     session: one Module                          tracing -> frame grad(loss)     region 3
 *       region 1   train_step's leaves ...                    frame pmap(step)     region 1
 *       region 3   loss's leaves ...                          NULL
 *       captured   value 7 = a concrete array
 *
 * What goes in is a call of a public operation on values; out comes a node in the region of the
 * innermost frame and traced values for its results.  An operand is found by its number in the
 * module: a value of this frame or of one around it has one already; a concrete array gets one
 * when it is first met, as an argument of a region of its own, and becomes a hidden argument of
 * the program when that is made; a number becomes a constant on the spot. */
#include "front/value/trace.h"

#include "base/fail.h"
#include "base/grow.h"
#include "base/guard.h"
#include "front/value/array.h"
#include "front/value/layout.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"
#include "ops/number.h"

#include <string.h>

_Thread_local Session *session;
_Thread_local Trace *tracing;

/* ---- sessions and frames ---- */

static void make_session(void *user)
{
    Session **out = user;
    Module *m = module_new();
    *out = ARENA_NEW(m->arena, Session);
    (*out)->m = m;
}

/* Noted with no guard: it lasts over calls of the user's code, which are under none. */
bool session_begin(const char *who)
{
    Session *s = NULL;
    Error *error = guard_run_in(NULL, who, make_session, &s);
    if (error)
        report_error(error);
    session = error ? NULL : s;
    return !error;
}

void session_end(void)
{
    Session *s = session;
    for (ValueList *list = s->lists; list; list = list->next)
        value_end_list(list);
    for (int i = 0; i < s->ncaptured; i++)
        array_release(s->captured[i].array);
    for (Version *v = s->versions; v; v = v->next)
        module_free(v->m);
    module_free(s->m);
    session = NULL;
}

void session_undo(void)
{
    if (session && session->pinned.generation)
        value_unpin(session->pinned);
    if (session)
        session->pinned = (tt){ 0, 0 };
}

void frame_push(Trace *frame)
{
    require(session);
    frame->values = ARENA_NEW(session->m->arena, ValueList);
    frame->values->next = session->lists;
    session->lists = frame->values;
    frame->m = session->m;
    frame->outer = tracing;
    tracing = frame;
}

void frame_pop(Trace *frame)
{
    require(tracing == frame && !frame->region);
    tracing = frame->outer;
}

static const Type *types_copy(int n, const Type *types)
{
    Type *copy = ARENA_ARRAY(session->m->arena, Type, n + 1);
    for (int i = 0; i < n; i++)
        copy[i] = type_new(session->m->arena, types[i].element, types[i].rank, types[i].dims);
    return copy;
}

void record_begin(int nleaves, const Type *types, const bool *is_weak, tt *leaves)
{
    require(tracing && !tracing->region);
    tracing->region = region_new(session->m, 0, nleaves, types_copy(nleaves, types));
    ValueId first = region_at(session->m, tracing->region)->args;
    for (int i = 0; i < nleaves; i++)
        leaves[i] = value_of_traced(tracing, first + (uint32_t)i, is_weak && is_weak[i]);
}

void record_drop(void)
{
    value_end_list(tracing->values);
    tracing->region = 0;
}

static bool is_weak_value(tt x)
{
    Shape shape;
    return value_shape(x, "a result", &shape) && shape.is_weak;
}

bool record_end(const char *who, int nresults, const tt *results, Graph *out)
{
    Module *m = session->m;
    ValueId *values = ARENA_ARRAY(m->arena, ValueId, nresults + 1);
    bool *is_weak = ARENA_ARRAY(m->arena, bool, nresults + 1);
    bool is_whole = true;
    for (int i = 0; is_whole && i < nresults; i++) {
        if (!results[i].generation && !report_is_kept())
            report_broken("%s: its result %d is no array: it was never given one", who, i);
        values[i] = trace_value(who, results[i]);
        is_whole = values[i] != 0;
        is_weak[i] = is_whole && is_weak_value(results[i]);
    }
    if (is_whole) {
        build_return(m, tracing->region, nresults, values, &loc_unknown);
        *out = (Graph){ .m = m, .body = tracing->region, .nresults = nresults, .is_weak = is_weak };
        out->nleaves = region_at(m, out->body)->nargs;
    }
    record_drop();
    return is_whole;
}

/* ---- locations ---- */

/* The C line on which the operation is written, as the program will say it. */
static const Loc *here_loc(void)
{
    if (tracing->loc)
        return tracing->loc;
    if (!call_site.file)
        return &loc_unknown;
    const Loc *last = session->last;
    if (last && last->line == call_site.line && last->file.at == call_site.file)
        return last;
    Loc *loc = ARENA_NEW(session->m->arena, Loc);
    loc->file = str_of(call_site.file);
    loc->line = call_site.line;
    loc->name = str_of(call_site.function ? call_site.function : "");
    return session->last = loc;
}

/* ---- operands ---- */

static ValueId capture(Array *array)
{
    Session *s = session;
    for (int i = 0; i < s->ncaptured; i++)
        if (s->captured[i].array == array)
            return s->captured[i].value;
    ROOM(s->m->arena, s->captured, s->ncaptured, &s->room);
    RegionId stand_in = region_new(s->m, 0, 1, types_copy(1, &array->type));
    ValueId value = region_at(s->m, stand_in)->args;
    s->captured[s->ncaptured++] = (Capture){ array_hold(array), value };
    return value;
}

static ValueId add_constant(Dense value)
{
    Module *m = session->m;
    int64_t n = value.is_splat ? 1 : type_count(value.type);
    size_t bytes = (size_t)n * (size_t)element_info[value.type.element].bytes;
    value.type = types_copy(1, &value.type)[0];
    value.data = arena_copy(m->arena, value.data, bytes);
    return build_constant(m, tracing->region, value, here_loc());
}

ValueId trace_value(const char *who, tt x)
{
    Held held;
    if (!value_pin(x, who, &held))
        return 0;
    ValueId value = held.value;
    const Trace *frame = tracing;
    while (frame && frame != held.trace)
        frame = frame->outer;
    if (held.array) {
        /* Elements that are known without asking a device are rather written into the program. */
        session->pinned = x;
        value = held.array->has_small
                    ? add_constant((Dense){ held.array->type, false, held.array->small })
                    : capture(held.array);
        session->pinned = (tt){ 0, 0 };
    } else if (!frame) {
        report_broken(
            "%s: an argument is being traced by another thread: a traced value belongs to "
            "the thread that traces it",
            who);
        value = 0;
    }
    value_unpin(x);
    return value;
}

tt trace_tt(ValueId v)
{
    return value_of_traced(tracing, v, false);
}

tt trace_constant(Dense value)
{
    return trace_tt(add_constant(value));
}

Arena *trace_arena(void)
{
    return session->m->arena;
}

/* ---- nodes ---- */

/* Asks the operation's shape rule.  False: it complains; reported. */
static bool shapes_agree(const char *who, OpId op, ShapeQuery *q, const RegionId *regions)
{
    struct RegionTypes types[8];
    require(q->nregions <= 8 || op_info[op].flow == FLOW_BRANCH);
    if (q->nregions > 8)
        return true;
    for (int k = 0; k < q->nregions; k++) {
        Module *m = session->m;
        const Region *region = region_at(m, regions[k]);
        const Node *last = region_return(m, regions[k]);
        Type *args = ARENA_ARRAY(m->arena, Type, region->nargs + 1);
        Type *results = ARENA_ARRAY(m->arena, Type, last->nin + 1);
        for (int i = 0; i < region->nargs; i++)
            args[i] = type_of(m, region->args + (uint32_t)i);
        for (int i = 0; i < last->nin; i++)
            results[i] = type_of(m, last->in[i]);
        types[k] = (struct RegionTypes){ region->nargs, last->nin, args, results };
    }
    q->regions = types;
    Text why = { 0 };
    bool agree = shape_rules[op](q, &why);
    if (!agree)
        report_broken("%s: %s: %s", who, op_name(op), text_cstr(&why));
    text_free(&why);
    return agree;
}

/* A number stays a number through arithmetic with numbers. */
static bool stays_weak(OpId op, int nin, const tt *in)
{
    if (nin == 0 || op_info[op].kind != KIND_MAP || op == OP_CONVERT || op == OP_COMPARE)
        return false;
    for (int i = 0; i < nin; i++)
        if (!is_weak_value(in[i]))
            return false;
    return true;
}

/* The constant that converting `v` gives, if v is one real number; else 0. */
static ValueId convert_number(ValueId v, Type to)
{
    const Dense *from = value_constant(session->m, v);
    if (!from || (!from->is_splat && type_count(from->type) != 1))
        return 0;
    Element a = from->type.element, b = to.element;
    char data[16] = { 0 };
    if (element_info[a].kind == COMPLEX || element_info[b].kind == COMPLEX)
        return 0;
    if (element_info[b].kind == FLOAT)
        number_set_float(b, number_float(a, from->data), data);
    else if (element_info[a].kind != FLOAT && b != I1)
        number_set_int(b, number_int(a, from->data), data);
    else
        return 0;
    return add_constant((Dense){ to, true, data });
}

bool trace_apply_regions(const char *who, OpId op, int nin, const tt *in, const void *attrs,
                         int nregions, const Graph *regions, int nout, const Type *results, tt *out)
{
    static const NoAttrs none;
    Module *m = session->m;
    ValueId *values = ARENA_ARRAY(m->arena, ValueId, nin + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, nin + 1);
    RegionId *bodies = ARENA_ARRAY(m->arena, RegionId, nregions + 1);
    memset(out, 0, sizeof *out * (size_t)nout);
    for (int i = 0; i < nin; i++) {
        if (!(values[i] = trace_value(who, in[i])))
            return false;
        types[i] = type_of(m, values[i]);
    }
    ValueId folded = op == OP_CONVERT ? convert_number(values[0], results[0]) : 0;
    if (folded) {
        out[0] = trace_tt(folded);
        return true;
    }
    for (int i = 0; i < nregions; i++)
        bodies[i] = regions[i].body;
    const Type *stated = types_copy(nout, results);
    ShapeQuery q = { nin, nout, nregions, types, stated, attrs ? attrs : &none, NULL };
    if (!shapes_agree(who, op, &q, bodies))
        return false;
    NodeId node = node_new(m, op, nin, values, nout, stated, nregions, bodies,
                           attrs ? attrs : &none, here_loc());
    region_append(m, tracing->region, node);
    bool is_weak = stays_weak(op, nin, in);
    for (int i = 0; i < nout; i++)
        out[i] = value_of_traced(tracing, node_at(m, node)->out + (uint32_t)i, is_weak);
    return true;
}

bool trace_apply(const char *who, OpId op, int nin, const tt *in, const void *attrs, int nout,
                 const Type *results, tt *out)
{
    return trace_apply_regions(who, op, nin, in, attrs, 0, NULL, nout, results, out);
}

Graph trace_reducer(OpId op, Element element)
{
    static const bool strong[1];
    Module *m = session->m;
    Type scalar = type_scalar(element);
    RegionId r = region_new(m, 0, 2, (const Type[]){ scalar, scalar });
    ValueId first = region_at(m, r)->args;
    ValueId y =
        build_node(m, r, op, 2, (const ValueId[]){ first, first + 1 }, scalar, NULL, here_loc());
    build_return(m, r, 1, &y, &loc_unknown);
    return (Graph){ m, r, 2, 1, strong };
}

Graph trace_replacer(Element element)
{
    static const bool strong[1];
    Module *m = session->m;
    Type scalar = type_scalar(element);
    RegionId r = region_new(m, 0, 2, (const Type[]){ scalar, scalar });
    ValueId second = region_at(m, r)->args + 1;
    build_return(m, r, 1, &second, &loc_unknown);
    return (Graph){ m, r, 2, 1, strong };
}

bool trace_inline(const char *who, const Graph *g, const tt *leaves, tt *results)
{
    Module *m = session->m;
    memset(results, 0, sizeof *results * (size_t)g->nresults);
    ValueId *args = ARENA_ARRAY(m->arena, ValueId, g->nleaves + 1);
    for (int i = 0; i < g->nleaves; i++)
        if (!(args[i] = trace_value(who, leaves[i])))
            return false;
    Subst map = subst_new(m);
    for (int i = 0; i < g->nleaves; i++)
        subst_set(&map, region_at(m, g->body)->args + (uint32_t)i, args[i]);
    region_copy_into(m, g->body, tracing->region, &map);
    for (int i = 0; i < g->nresults; i++) {
        ValueId v = subst_get(&map, region_return(m, g->body)->in[i]);
        results[i] = value_of_traced(tracing, v, g->is_weak && g->is_weak[i]);
    }
    subst_free(&map);
    return true;
}

int trace_axis_size(const char *axis_name)
{
    for (const Trace *t = tracing; t; t = t->outer) {
        if (t->axis_name && strcmp(t->axis_name, axis_name) == 0)
            return t->axis_size;
        int size = t->mesh ? mesh_axis_size(t->mesh, axis_name) : 0;
        if (size)
            return size;
    }
    return 0;
}
