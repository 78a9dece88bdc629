/* counted_loops.c - loops that run a number of times that is known when they begin.
 *
 *     while (turn = 0, v...) { turn < turns } { turn + 1, what `turn` makes of v... }
 */
#include "front/transform/counted_loops.h"

#include "front/transform/build.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* turns: how many, or no value where that is `known`. */
static bool condition(int64_t known, tt turns, int n, const Type *types, Graph *out)
{
    tt *in = NEW(tt, n), go_on;
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    if (!is_value(turns))
        turns = build_number(types[0], (double)known);
    go_on = build_compare(LT, in[0], turns);
    bool ok = record_end("a loop", 1, &go_on, out);
    frame_pop(&frame);
    return ok;
}

static bool body(int n, const Type *types, Turn *turn, void *user, Graph *out)
{
    tt *in = NEW(tt, n), *y = NEW(tt, n);
    unsigned before = said_count();
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    y[0] = build2(OP_ADD, in[0], build_number(types[0], 1));
    turn(in[0], in + 1, y + 1, user);
    bool ok = said_count() == before && record_end("a loop", n, y, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    return ok;
}

static bool loop(int64_t known, tt turns, int n, const tt *init, Turn *turn, void *user, tt *out)
{
    tt *in = NEW(tt, n + 1), *y = NEW(tt, n + 1);
    Type *types = NEW(Type, n + 1);
    Graph regions[2];
    in[0] = build_number(type_scalar(I32), 0);
    memcpy(in + 1, init, sizeof *in * (size_t)n);
    for (int i = 0; i <= n; i++)
        types[i] = type_at(in[i]);
    if (!condition(known, turns, n + 1, types, &regions[0]) ||
        !body(n + 1, types, turn, user, &regions[1]) ||
        !trace_apply_regions("a loop", OP_WHILE, n + 1, in, NULL, 2, regions, n + 1, types, y))
        return false;
    memcpy(out, y + 1, sizeof *out * (size_t)n);
    return true;
}

bool build_turns(int64_t turns, int n, const tt *init, Turn *turn, void *user, tt *out)
{
    return loop(turns, NO_VALUE, n, init, turn, user, out);
}

bool build_turns_given(tt turns, int n, const tt *init, Turn *turn, void *user, tt *out)
{
    return loop(0, turns, n, init, turn, user, out);
}

static tt *start_at(tt *in, int n, tt at, int rank)
{
    in[n++] = at;
    for (int i = 1; i < rank; i++)
        in[n++] = build_zeros(type_at(at));
    return in;
}

tt build_row(tt x, tt at)
{
    Type t = type_at(x), row = type_remove(t, 0);
    tt in[MAX_RANK + 2] = { x };
    Ints sizes = ints_insert(ints_of(row.rank, row.dims), 0, 1);
    tt y = build(OP_DYNAMIC_SLICE, t.rank + 1, start_at(in, 1, at, t.rank),
                 BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = sizes), type_insert(row, 0, 1));
    return build_reshape(y, row);
}

tt build_set_row(tt x, tt at, tt row)
{
    Type t = type_at(x);
    tt in[MAX_RANK + 2] = { x, build_reshape(row, type_insert(type_at(row), 0, 1)) };
    return build(OP_DYNAMIC_UPDATE, t.rank + 2, start_at(in, 2, at, t.rank), NULL, t);
}
