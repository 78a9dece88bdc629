/* vhlo_loc.c - of a tree of locations the one that tells a user most.
 *
 *   "jit(f)/mul"( callsite( "f"(train.py:12:5) at "main"(train.py:40:1) ) )
 *    the name                    the innermost file, line and column
 *
 * Chains can be long, so this is a walk with a small stack and a limit, never recursion. */
#include "hlo/read/vhlo.h"

enum {
    CALL_SITE = 10,
    FILE_LINE_COL = 11,
    FUSED = 12,
    FUSED_METADATA = 13,
    NAME = 14,
    FILE_RANGE = 22
};
enum { PENDING = 16, LONGEST_WALK = 64 };

typedef struct Walk {
    Vhlo *v;
    Loc loc;
    uint32_t pending[PENDING]; /* looked at from the end */
    int n;
    bool is_inside_call; /* names below are of functions, not of the operation */
} Walk;

static Error *push(Walk *w, Cursor *c)
{
    uint32_t index;
    TRY(take_attr_index(w->v, c, &index));
    if (w->n < PENDING)
        w->pending[w->n++] = index;
    return NULL;
}

static Error *take_number(Cursor *c, int *out)
{
    uint64_t u;
    TRY(take_varint(c, &u));
    *out = u < INT32_MAX ? (int)u : 0;
    return NULL;
}

static Error *take_file(Walk *w, Cursor *c, bool is_range)
{
    uint32_t file;
    int n = 2, line = 0, column = 0;
    Str name;
    TRY(take_attr_index(w->v, c, &file));
    TRY(vhlo_string(w->v, file, &name));
    if (is_range)
        TRY(take_count(c, "numbers of a place", &n));
    if (n > 0)
        TRY(take_number(c, &line));
    if (n > 1)
        TRY(take_number(c, &column));
    w->loc.file = name;
    w->loc.line = line;
    w->loc.column = column;
    return NULL;
}

static Error *take_name(Walk *w, Cursor *c)
{
    uint32_t index;
    Str name;
    TRY(take_attr_index(w->v, c, &index));
    TRY(vhlo_string(w->v, index, &name));
    if (!w->loc.name.n && !w->is_inside_call)
        w->loc.name = name;
    return push(w, c);
}

/* The first of several that leads to a file; later ones are tried only if it does not. */
static Error *take_fused(Walk *w, Cursor *c)
{
    int n, first = w->n;
    TRY(take_count(c, "locations", &n));
    for (int i = 0; i < n && w->n < PENDING; i++)
        TRY(push(w, c));
    for (int i = first, j = w->n - 1; i < j; i++, j--) {
        uint32_t kept = w->pending[i];
        w->pending[i] = w->pending[j];
        w->pending[j] = kept;
    }
    return NULL;
}

/* The callee is where it happened; the caller is better than nothing. */
static Error *take_call(Walk *w, Cursor *c)
{
    uint32_t callee, caller;
    TRY(take_attr_index(w->v, c, &callee));
    TRY(take_attr_index(w->v, c, &caller));
    w->is_inside_call = true;
    if (w->n < PENDING)
        w->pending[w->n++] = caller;
    if (w->n < PENDING)
        w->pending[w->n++] = callee;
    return NULL;
}

static Error *step(Walk *w, uint32_t index)
{
    const EntryCode *entry = &w->v->b->attrs[index];
    Cursor c = entry->bytes;
    uint64_t code;
    if (entry->is_text || !str_is(entry->dialect, "builtin"))
        return NULL;
    TRY(take_varint(&c, &code));
    switch (code) {
    case CALL_SITE: return take_call(w, &c);
    case FILE_LINE_COL: return take_file(w, &c, false);
    case FILE_RANGE: return take_file(w, &c, true);
    case FUSED:
    case FUSED_METADATA: return take_fused(w, &c);
    case NAME: return take_name(w, &c);
    }
    return NULL;
}

const Loc *vhlo_loc(Vhlo *v, uint32_t index)
{
    const Loc **known = &v->attrs[index].loc;
    if (*known)
        return *known;
    Walk w = { .v = v, .pending = { index }, .n = 1 };
    for (int steps = 0; w.n > 0 && steps < LONGEST_WALK && !w.loc.file.n; steps++)
        error_free(step(&w, w.pending[--w.n])); /* a bad location is no reason to refuse */
    bool is_unknown = !w.loc.file.n && !w.loc.name.n;
    *known = is_unknown ? &loc_unknown : arena_copy(v->arena, &w.loc, sizeof w.loc);
    return *known;
}
