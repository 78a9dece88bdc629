/* manual.c - the body that every device runs, differentiated, run backwards, given a batch.
 *
 *     y = manual(x) { f }      d    y, r = manual(x) { f, and what its derivative needs }
 *                                  dy   = manual(r, dx) { the linear part }
 *
 * So the linear part stands alone and can be run backwards without the rest.  What it needs comes
 * out of the first with one more axis in front that is sharded over all devices, since it may differ
 * between them.  Backwards, an argument that went whole to several devices gets the sum of their
 * cotangents; a result that several devices had alike gives each an equal part of its. */
#include "front/transform/transform.h"

#include <string.h>

static Graph body_of(Module *m, NodeId n)
{
    return graph_of_region(m, node_at(m, n)->regions[0], (Values){ 0 });
}

/* ---- tangents ---- */

typedef struct Manual {
    const Jvp *j;
    const ManualAttrs *a;
    const Mesh *mesh;
    Graph with_tangents;
    bool *active;    /* per operand */
    bool *is_active; /* per result */
    int ntangents, nvarying;
    PartialEval split;
} Manual;

/* The first results go out as they did; what is needed gets an axis for the devices. */
static bool wrap_known(Manual *w, Graph *out, const Sharding **shardings)
{
    Module *m = w->j->m;
    const Graph *known = &w->split.known;
    tt *in = ARENA_ARRAY(m->arena, tt, known->nleaves + 1);
    tt *y = ARENA_ARRAY(m->arena, tt, known->nresults + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, known->nleaves + 1);
    Trace frame = { .loc = tracing->loc };
    for (int i = 0; i < known->nleaves; i++)
        types[i] = type_of(m, region_at(m, known->body)->args + (uint32_t)i);
    frame_push(&frame);
    record_begin(known->nleaves, types, NULL, in);
    trace_inline("a derivative", known, in, y);
    for (int i = 0; i < known->nresults; i++) {
        int rank = type_at(y[i]).rank;
        shardings[i] = i < w->j->nout ? w->a->out_shardings.at[i]
                                      : sharding_leading(sharding_none(w->mesh, rank), true);
        if (i >= w->j->nout)
            y[i] = build_reshape(y[i], type_insert(type_at(y[i]), 0, 1));
    }
    bool ok = record_end("a derivative", known->nresults, y, out);
    frame_pop(&frame);
    return ok;
}

static bool run_known(Manual *w, tt *results)
{
    Graph body;
    const Sharding **shardings =
        ARENA_ARRAY(w->j->m->arena, const Sharding *, w->split.known.nresults + 1);
    return wrap_known(w, &body, shardings) &&
           manual_apply(w->mesh, w->j->nin, w->j->x, w->a->in_shardings.at, &body, shardings,
                        results);
}

/* Takes the device's part of what is needed out of its axis again. */
static bool wrap_rest(Manual *w, Graph *out)
{
    Module *m = w->j->m;
    const Graph *rest = &w->split.rest;
    tt *in = ARENA_ARRAY(m->arena, tt, rest->nleaves + 1);
    tt *y = ARENA_ARRAY(m->arena, tt, rest->nresults + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, rest->nleaves + 1);
    Trace frame = { .loc = tracing->loc };
    for (int i = 0; i < rest->nleaves; i++) {
        types[i] = type_of(m, region_at(m, rest->body)->args + (uint32_t)i);
        if (i < w->split.nneeded && w->split.leaf[i] < 0)
            types[i] = type_insert(types[i], 0, 1);
    }
    frame_push(&frame);
    record_begin(rest->nleaves, types, NULL, in);
    for (int i = 0; i < w->split.nneeded; i++)
        if (w->split.leaf[i] < 0)
            in[i] = build_reshape(in[i], type_remove(types[i], 0));
    trace_inline("a derivative", rest, in, y);
    bool ok = record_end("a derivative", rest->nresults, y, out);
    frame_pop(&frame);
    return ok;
}

static bool run_rest(Manual *w, const tt *known, tt *dy)
{
    const Jvp *j = w->j;
    Module *m = j->m;
    int n = 0, next = j->nout;
    tt *in = ARENA_ARRAY(m->arena, tt, w->split.rest.nleaves + 1);
    const Sharding **shardings = ARENA_ARRAY(m->arena, const Sharding *, w->split.rest.nleaves + 1);
    const Sharding **out = ARENA_ARRAY(m->arena, const Sharding *, j->nout + 1);
    for (int i = 0; i < w->split.nneeded; i++, n++) {
        int leaf = w->split.leaf[i];
        in[n] = leaf >= 0 ? j->x[leaf] : known[next++];
        shardings[n] =
            leaf >= 0 ? w->a->in_shardings.at[leaf]
                      : sharding_leading(sharding_none(w->mesh, type_at(in[n]).rank - 1), true);
    }
    for (int i = 0; i < j->nin; i++)
        if (w->active[i]) {
            in[n] = j->dx[i];
            shardings[n++] = w->a->in_shardings.at[i];
        }
    for (int i = 0, k = 0; i < j->nout; i++)
        if (w->is_active[i])
            out[k++] = w->a->out_shardings.at[i];
    Graph body;
    return wrap_rest(w, &body) && manual_apply(w->mesh, n, in, shardings, &body, out, dy);
}

void jvp_manual(const Jvp *j)
{
    Module *m = j->m;
    Manual w = { .j = j, .a = j->attrs, .mesh = manual_mesh(j->attrs) };
    w.active = ARENA_ARRAY(m->arena, bool, j->nin + 1);
    w.is_active = ARENA_ARRAY(m->arena, bool, j->nout + 1);
    for (int i = 0; i < j->nin; i++)
        w.ntangents += w.active[i] = is_value(j->dx[i]);
    Graph body = body_of(m, j->node);
    if (!jvp_transform(&body, w.active, NULL, w.is_active, &w.with_tangents) ||
        !partial_eval(&w.with_tangents, w.ntangents, j->nout, &w.split))
        return;
    tt *known = ARENA_ARRAY(m->arena, tt, w.split.known.nresults + 1);
    tt *dy = ARENA_ARRAY(m->arena, tt, j->nout + 1);
    if (!run_known(&w, known) || !run_rest(&w, known, dy))
        return;
    for (int i = 0, k = 0; i < j->nout; i++) {
        j->y[i] = known[i];
        if (w.is_active[i])
            j->dy[i] = dy[k++];
    }
}

/* ---- backwards ---- */

static int64_t copies(const Mesh *mesh, const Sharding *sharding)
{
    int64_t n = mesh_count(mesh);
    for (int i = 0; i < sharding->rank; i++)
        for (int k = 0; k < sharding->dims[i].naxes; k++)
            n /= sharding->dims[i].axes[k].size;
    return n;
}

/* back: leaves not linear, cotangents -> cotangents of the linear leaves, on one device. */
static bool wrap_backward(const Transpose *t, const Graph *back, int nfixed, Graph *out)
{
    const ManualAttrs *a = t->attrs;
    const Mesh *mesh = manual_mesh(a);
    Module *m = t->m;
    tt *in = ARENA_ARRAY(m->arena, tt, back->nleaves + 1);
    tt *y = ARENA_ARRAY(m->arena, tt, back->nresults + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, back->nleaves + 1);
    Trace frame = { .loc = tracing->loc };
    for (int i = 0; i < back->nleaves; i++)
        types[i] = type_of(m, region_at(m, back->body)->args + (uint32_t)i);
    frame_push(&frame);
    record_begin(back->nleaves, types, NULL, in);
    for (int i = nfixed; i < back->nleaves; i++) {
        int64_t n = copies(mesh, a->out_shardings.at[i - nfixed]);
        if (n > 1)
            in[i] = build2(OP_DIV, in[i], build_number(types[i], (double)n));
    }
    trace_inline("a gradient", back, in, y);
    for (int i = 0, k = 0; i < t->nin; i++)
        if (t->linear[i]) {
            y[k] = manual_sum(mesh, y[k], a->in_shardings.at[i]);
            k++;
        }
    bool ok = record_end("a gradient", back->nresults, y, out);
    frame_pop(&frame);
    return ok;
}

void transpose_manual(const Transpose *t)
{
    const ManualAttrs *a = t->attrs;
    Module *m = t->m;
    Graph body = body_of(m, t->node), back, wrapped;
    if (!transpose_transform(&body, t->linear, &back))
        return;
    tt *in = ARENA_ARRAY(m->arena, tt, t->nin + t->nout + 1);
    tt *out = ARENA_ARRAY(m->arena, tt, t->nin + 1);
    const Sharding **shardings = ARENA_ARRAY(m->arena, const Sharding *, t->nin + t->nout + 1);
    const Sharding **out_cut = ARENA_ARRAY(m->arena, const Sharding *, t->nin + 1);
    int n = 0, nout = 0;
    for (int i = 0; i < t->nin; i++)
        if (t->linear[i]) {
            out_cut[nout++] = a->in_shardings.at[i];
        } else {
            in[n] = t->x[i];
            shardings[n++] = a->in_shardings.at[i];
        }
    int nfixed = n;
    for (int i = 0; i < t->nout; i++) {
        in[n] = value_or_zeros(t->ct[i], t->results[i]);
        shardings[n++] = a->out_shardings.at[i];
    }
    if (!wrap_backward(t, &back, nfixed, &wrapped) ||
        !manual_apply(manual_mesh(a), n, in, shardings, &wrapped, out_cut, out))
        return;
    for (int i = 0, k = 0; i < t->nin; i++)
        if (t->linear[i])
            t->out[i] = out[k++];
}

/* ---- batches ---- */

void batch_manual(const Batch *b)
{
    const ManualAttrs *a = b->attrs;
    const Mesh *mesh = manual_mesh(a);
    Module *m = b->m;
    Str name = b->axis_name;
    for (int i = 0; i < mesh->naxes; i++)
        if (str_equal(mesh->axes[i], name))
            name = (Str){ 0 }; /* the map inside binds it anew */
    Graph body = body_of(m, b->node), out;
    bool *wanted = ARENA_ARRAY(m->arena, bool, b->nout + 1);
    const Sharding **in = ARENA_ARRAY(m->arena, const Sharding *, b->nin + 1);
    const Sharding **shardings = ARENA_ARRAY(m->arena, const Sharding *, b->nout + 1);
    memset(wanted, true, sizeof *wanted * (size_t)b->nout);
    for (int i = 0; i < b->nin; i++)
        in[i] =
            b->mapped[i] ? sharding_leading(a->in_shardings.at[i], false) : a->in_shardings.at[i];
    for (int i = 0; i < b->nout; i++)
        shardings[i] = sharding_leading(a->out_shardings.at[i], false);
    if (batch_transform(&body, b->size, name, b->mapped, wanted, NULL, &out))
        manual_apply(mesh, b->nin, b->x, in, &out, shardings, b->y);
}
