/* scatter.c - the kernel whose root is a scatter.
 *
 * In: arrays, a list of places, and what to combine there.  Out: copies of the arrays, left
 * out where the result already lies, and a loop over the updates, one after another, because
 * two may go to the same place:
 *
 *   for every update { place = start + window;  if inside { old = load; store f(old, new) } }
 *
 * The places of single numbers that have several coordinates are found in vectors first.
 *
 * Updates whose last dimension is a row of the operand go in whole vectors.  Where simplify has given
 * parts of the updates places of their own (passes/simplify/scatters.c), parts are slices. */
#include "engine/kernels/kernels.h"

#include <string.h>

typedef struct Scatter {
    NodeId node;
    int n; /* arrays */
    const ScatterAttrs *a;
} Scatter;

static bool is_window(const ScatterAttrs *a, int d)
{
    return ints_find(a->update_window_dims, d) >= 0;
}

/* Into the indices: the update's scatter coordinates, with component at index_vector_dim. */
static Index *into_indices(Kernel *k, const Scatter *s, Index *at, int component)
{
    Index *to = index_new(k, type_of(k->m, node_at(k->m, s->node)->in[s->n]), at->lanes);
    int next = 0;
    for (int d = 0; d < at->rank; d++) {
        if (is_window(s->a, d))
            continue;
        next += next == (int)s->a->index_vector_dim;
        index_set(to, next++, index_at(k, at, d));
    }
    if ((int)s->a->index_vector_dim < to->rank)
        index_set(to, (int)s->a->index_vector_dim, coord_const(k, component));
    return to;
}

static Coord batch_coord(Kernel *k, const Scatter *s, Index *at, int indices_dim)
{
    int want = indices_dim - (indices_dim > (int)s->a->index_vector_dim), seen = 0;
    for (int d = 0; d < at->rank; d++)
        if (!is_window(s->a, d) && seen++ == want)
            return index_at(k, at, d);
    return coord_const(k, 0);
}

/* A start index as it stands, as an i64; lanes agree on it. */
static V start_index(Kernel *k, const Scatter *s, Index *at, int component)
{
    ValueId indices = node_at(k->m, s->node)->in[s->n];
    V number = element_uniform(k, indices, into_indices(k, s, at, component));
    return LLVMBuildIntCast2(k->b, number, int_type(k, 64), !is_unsigned(element_of(k, indices)),
                             "");
}

/* Where the update goes; *inside (an i1) becomes false if its window sticks out anywhere: then
 * the whole window is dropped. */
static Index *place_of(Kernel *k, const Scatter *s, Index *at, V *inside)
{
    Type whole = type_of(k->m, node_at(k->m, s->node)->in[0]);
    Index *to = index_new(k, whole, at->lanes);
    int window = 0;
    for (int d = 0; d < whole.rank; d++) {
        Coord c = coord_const(k, 0);
        int64_t extent = 1;
        int batch = ints_find(s->a->input_batching_dims, d);
        if (batch >= 0) {
            c = batch_coord(k, s, at, (int)s->a->scatter_indices_batching_dims.at[batch]);
        } else if (ints_find(s->a->inserted_window_dims, d) < 0) {
            int u = (int)s->a->update_window_dims.at[window++];
            c = index_at(k, at, u);
            extent = at->dims[u];
        }
        int component = ints_find(s->a->scatter_dims_to_operand_dims, d);
        if (component >= 0) {
            V start = start_index(k, s, at, component);
            V fits =
                LLVMBuildICmp(k->b, LLVMIntULE, start, const_i64(k, whole.dims[d] - extent), "");
            *inside = LLVMBuildAnd(k->b, *inside, fits, "");
            c = coord_add(k, c, coord_uniform(k, start), at->lanes);
        }
        index_set(to, d, c);
    }
    return to;
}

static void combine_here(Kernel *k, const Scatter *s, Index *at, Index *to)
{
    const Node *node = node_at(k->m, s->node);
    V *args = ARENA_ARRAY(k->arena, V, 2 * s->n), *results = ARENA_ARRAY(k->arena, V, s->n);
    for (int i = 0; i < s->n; i++) {
        args[i] = load_element(k, k->outs[i], element_of(k, node->in[i]), to);
        args[s->n + i] = element(k, node->in[s->n + 1 + i], at);
    }
    region_inline(k, node->regions[0], args, results);
    for (int i = 0; i < s->n && !k->error; i++)
        store_element(k, k->outs[i], element_of(k, node->in[i]), to, results[i]);
}

static void scatter_body(Kernel *k, Index *at, void *user)
{
    const Scatter *s = user;
    V inside = LLVMConstInt(int_type(k, 1), 1, false);
    Index *to = place_of(k, s, at, &inside);
    LLVMBasicBlockRef here = LLVMAppendBasicBlockInContext(k->c, k->function, "inside");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "next");
    LLVMBuildCondBr(k->b, inside, here, after);
    LLVMPositionBuilderAtEnd(k->b, here);
    memo_clear(k);
    combine_here(k, s, at, to);
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
    memo_clear(k);
}

/* Neighbours of an update's last dimension are neighbours in the operand, and share a start. */
static bool goes_in_rows(const Kernel *k, const Scatter *s, Type update)
{
    Type whole = type_of(k->m, node_at(k->m, s->node)->in[0]);
    int last = whole.rank - 1, lane = update.rank - 1;
    if (last < 0 || lane < 0 || !is_window(s->a, lane) || update.dims[lane] == 1)
        return false;
    return ints_find(s->a->inserted_window_dims, last) < 0 &&
           ints_find(s->a->input_batching_dims, last) < 0;
}

/* ---- by parts ---- */

bool scatter_is_parted(const Module *m, NodeId root)
{
    enum { MOST_SETS = 8 };
    const Node *node = node_at(m, root);
    const ScatterAttrs *a = node->attrs;
    if (node->op != OP_SCATTER || node->nin != 3 || a->update_window_dims.n ||
        a->input_batching_dims.n != 2 || a->index_vector_dim != 3)
        return false;
    Type update = type_of(m, node->in[2]);
    const int64_t *to = a->input_batching_dims.at, *from = a->scatter_indices_batching_dims.at;
    return update.rank == 3 && update.dims[2] <= MOST_SETS && to[0] == 0 && to[1] == 1 &&
           from[0] == 0 && from[1] == 2;
}

/* The places of one part, as the operand has them. */
static void part_begin(Kernel *k, ValueId operand, V part)
{
    Type type = type_of(k->m, operand);
    int64_t n = type_count(type) / type.dims[0], full = n / k->width * k->width;
    V first = LLVMBuildMul(k->b, part, const_i64(k, n), "");
    for (int lanes = k->width;; lanes = 1) {
        int64_t from = lanes == 1 ? full : 0, end = lanes == 1 ? n : full;
        if (from < end) {
            Loop loop;
            loop_between(k, &loop, const_i64(k, from), const_i64(k, end), lanes, 0, NULL);
            Coord here = { LLVMBuildAdd(k->b, first, loop.i, ""), 1, 1, NULL };
            Index *at = index_numbered(k, type, here, lanes);
            memo_clear(k);
            store_element(k, k->outs[0], type.element, at, element(k, operand, at));
            loop_end(k, &loop, NULL);
        }
        if (lanes == 1)
            return;
    }
}

/* The sets of places take turns, in one iteration. */
static void parts_emit(Kernel *k, const Scatter *s)
{
    const Node *node = node_at(k->m, s->node);
    Type update = type_of(k->m, node->in[2]);
    Loop parts, rows;
    if (slices_choose(k, 1, update.dims) == 0)
        slice_loop(k, &parts, update.dims[0], 1);
    else
        loop_begin(k, &parts, update.dims[0], 1, 0, NULL);
    part_begin(k, node->in[0], parts.i);
    k->width = k->lanes = 1;
    loop_begin(k, &rows, update.dims[1], 1, 0, NULL);
    for (int64_t set = 0; set < update.dims[2]; set++) {
        Index *at = index_new(k, update, 1);
        index_set(at, 0, loop_coord(&parts, 0));
        index_set(at, 1, loop_coord(&rows, 0));
        index_set(at, 2, coord_const(k, set));
        memo_clear(k);
        scatter_body(k, at, (void *)s);
    }
    loop_end(k, &rows, NULL);
    loop_end(k, &parts, NULL);
}

/* ---- one by one, with where they go found for many at once ---- */

/* The numbers of the places of neighbouring updates that are single numbers, or -1 where one is outside. */
static V places_of(Kernel *k, const Scatter *s, Index *at)
{
    ValueId indices = node_at(k->m, s->node)->in[s->n];
    Type whole = type_of(k->m, node_at(k->m, s->node)->in[0]);
    Element e = element_of(k, indices);
    LLVMTypeRef type = lane_type(k, at->lanes), i64 = lanes_of(int_type(k, 64), at->lanes);
    V number = LLVMConstNull(type), inside = NULL;
    for (int d = 0; d < whole.rank; d++) {
        int component = ints_find(s->a->scatter_dims_to_operand_dims, d);
        number = LLVMBuildMul(k->b, number, const_i(k, type, whole.dims[d]), "");
        if (component < 0)
            continue;
        V start = element(k, indices, into_indices(k, s, at, component));
        start = LLVMBuildIntCast2(k->b, start, element_info[e].bytes > 4 ? i64 : type,
                                  !is_unsigned(e), "");
        V fits = LLVMBuildICmp(k->b, LLVMIntULE, start,
                               const_i(k, LLVMTypeOf(start), whole.dims[d] - 1), "");
        inside = inside ? LLVMBuildAnd(k->b, inside, fits, "") : fits;
        start = LLVMBuildIntCast2(k->b, start, type, false, "");
        number = LLVMBuildAdd(k->b, number, start, "");
    }
    return inside ? LLVMBuildSelect(k->b, inside, number, const_i(k, type, -1), "") : number;
}

/* Memory for so many bytes, which a loop does not make anew. */
static V list_new(Kernel *k, int64_t bytes)
{
    enum { LINE = 64 };
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    LLVMPositionBuilderBefore(
        k->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here))));
    V list = LLVMBuildAlloca(k->b, LLVMArrayType2(int_type(k, 8), (uint64_t)bytes), "list");
    LLVMSetAlignment(list, LINE);
    LLVMPositionBuilderAtEnd(k->b, here);
    bounds_array(k->e, list, bytes, "a list of updates");
    return list;
}

/* Combines one number with what is at its place, if it has one. */
static void combine_number(Kernel *k, const Scatter *s, V place, V value)
{
    const Node *node = node_at(k->m, s->node);
    Element e = element_of(k, node->in[0]);
    LLVMBasicBlockRef here = LLVMAppendBasicBlockInContext(k->c, k->function, "inside");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "next");
    V is_inside = LLVMBuildICmp(k->b, LLVMIntSGE, place, const_i64(k, 0), "");
    LLVMBuildCondBr(k->b, is_inside, here, after);
    LLVMPositionBuilderAtEnd(k->b, here);
    Index *to = index_numbered(k, type_of(k->m, node->in[0]), coord_uniform(k, place), 1);
    V args[] = { load_element(k, k->outs[0], e, to), value }, result;
    memo_clear(k);
    region_inline(k, node->regions[0], args, &result);
    if (!k->error)
        store_element(k, k->outs[0], e, to, result);
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
    memo_clear(k);
}

/* Updates 0 to `end` along the last dimension: where so many go and what they are is listed in vectors, and then
 * they go one by one. */
static void updates_listed(Kernel *k, const Scatter *s, Type update, const Coord *outer,
                           int64_t end, int lanes, int together)
{
    Element e = element_of(k, node_at(k->m, s->node)->in[2]);
    int64_t dims[] = { lanes };
    Type list = type_new(k->arena, e, 1, dims);
    LLVMTypeRef all = lane_type(k, lanes), one = LLVMGetElementType(all);
    V places = list_new(k, lanes * (int64_t)(LLVMGetIntTypeWidth(one) / 8));
    V values = list_new(k, (int64_t)type_bytes(list));
    Loop loop, each;
    int last = update.rank - 1;
    loop_begin(k, &loop, end, lanes, 0, NULL);
    Index *at = index_new(k, update, lanes);
    for (int d = 0; d < last; d++)
        index_set(at, d, outer[d]);
    index_set(at, last, loop_coord(&loop, 1));
    memo_clear(k);
    k->lanes = lanes;
    LLVMBuildStore(k->b, places_of(k, s, at), places);
    V value = element(k, node_at(k->m, s->node)->in[2], at);
    store_element(k, values, e,
                  index_numbered(k, list, (Coord){ const_i64(k, 0), 1, 0, NULL }, lanes), value);
    k->lanes = 1;
    loop_begin(k, &each, lanes, together, 0, NULL);
    for (int i = 0; i < together; i++) {
        memo_clear(k);
        V number = LLVMBuildAdd(k->b, each.i, const_i64(k, i), "");
        V place =
            LLVMBuildLoad2(k->b, one, LLVMBuildInBoundsGEP2(k->b, one, places, &number, 1, ""), "");
        place = LLVMBuildIntCast2(k->b, place, int_type(k, 64), true, "");
        combine_number(
            k, s, place,
            load_element(k, values, e, index_numbered(k, list, coord_uniform(k, number), 1)));
    }
    loop_end(k, &each, NULL);
    loop_end(k, &loop, NULL);
}

/* ---- one by one ---- */

/* Updates `from` to `end` along the last dimension, so many in a round. */
static void updates_between(Kernel *k, const Scatter *s, Type update, const Coord *outer,
                            int64_t from, int64_t end, int together)
{
    Loop loop;
    int last = update.rank - 1;
    if (from == end)
        return;
    loop_between(k, &loop, const_i64(k, from), const_i64(k, end), together, 0, NULL);
    for (int i = 0; i < together; i++) {
        Index *at = index_new(k, update, 1);
        for (int d = 0; d < last; d++)
            index_set(at, d, outer[d]);
        index_set(at, last, coord_add_const(k, loop_coord(&loop, 0), i, 1));
        memo_clear(k);
        scatter_body(k, at, (void *)s);
    }
    loop_end(k, &loop, NULL);
}

/* Are there many of single numbers, each placed by several coordinates?  By one, to list it is no shorter than to go
 * there. */
static bool is_listed(const Scatter *s, int64_t n)
{
    enum { MANY = 256 };
    return s->n == 1 && n >= MANY && s->a->scatter_dims_to_operand_dims.n > 1 &&
           !s->a->update_window_dims.n && !s->a->input_batching_dims.n;
}

/* An update of a single number is so short that a loop around it takes a multiple of its time where the processor
 * happens to fetch the code in two parts: some stand in one round. */
static void one_by_one(Kernel *k, const Scatter *s, Type update)
{
    enum { TOGETHER = 4, SHORT_REGION = 4, SCALAR = 1 }; /* operations */
    const Node *node = node_at(k->m, s->node);
    bool joined[MAX_RANK + 1] = { 0 };
    int lanes = k->width;
    k->width = k->lanes = SCALAR;
    int64_t n = update.rank ? update.dims[update.rank - 1] : 0, full = n / TOGETHER * TOGETHER;
    if (full == 0 || region_at(k->m, node->regions[0])->nnodes > SHORT_REGION) {
        loop_over(k, update, joined, scatter_body, (void *)s);
        return;
    }
    OuterLoops loops;
    Coord outer[MAX_RANK + 1];
    outer_begin(k, &loops, update.rank - 1, update.dims, 0, outer);
    if (is_listed(s, n) && lanes % TOGETHER == 0) {
        updates_listed(k, s, update, outer, n / lanes * lanes, lanes, TOGETHER);
        updates_between(k, s, update, outer, n / lanes * lanes, n, 1);
    } else {
        updates_between(k, s, update, outer, 0, full, TOGETHER);
        updates_between(k, s, update, outer, full, n, 1);
    }
    outer_end(k, &loops);
}

void block_scatter(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Scatter s = { root, (node->nin - 1) / 2, node->attrs };
    if (scatter_is_parted(k->m, root)) {
        parts_emit(k, &s);
        return;
    }
    Type update = type_of(k->m, node->in[s.n + 1]);
    bool joined[MAX_RANK + 1] = { 0 };
    for (int i = 0; i < s.n; i++)
        start_as_operand(k, node->in[i], i);
    if (type_count(type_of(k->m, node->in[0])) == 0 || type_count(update) == 0)
        return; /* no place for an update, wherever its start lies in the other dimensions; or none */
    if (goes_in_rows(k, &s, update))
        loop_over(k, update, joined, scatter_body, &s);
    else
        one_by_one(k, &s, update);
}
