/* weights.c - arguments that are arrays of a file: mapped, checked, and pointed to. */
#include "rt/rt.h"

#include "base/guard.h"
#include "files/arrays.h"
#include "files/crc32.h"

#include <inttypes.h>
#include <string.h>

struct tutti_rt_weights {
    ArrayFile *file;
    Arena *copies; /* of arrays that are not used where they lie */
};

/* What a call is asked for, and what it makes. */
typedef struct Opening {
    const Program *p;
    const LinkedWeights *weights;
    const char *path;
    int flags;
    const void **in;
    tutti_rt_weights *out;
    Mapped mapped; /* the file's, for the case that memory ends: `out` is then gone */
    Error *error;
} Opening;

/* Is it the file that the program was compiled with? */
static Error *check_file(const Opening *o, Str bytes)
{
    const LinkedWeights *w = o->weights;
    if ((int64_t)bytes.n != w->bytes)
        return error_new(CODE_INVALID,
                         "%s has %zu bytes; %s, which %.*s was compiled with, had %" PRId64,
                         o->path, bytes.n, w->file, STR_ARG(o->p->name), w->bytes);
    uint32_t crc = crc32_of(0, bytes.at, bytes.n);
    if (crc != (uint32_t)w->crc32)
        return error_new(CODE_INVALID,
                         "%s is not %s, which %.*s was compiled with: its CRC-32 is %08" PRIx32
                         ", not %08" PRIx32,
                         o->path, w->file, STR_ARG(o->p->name), crc, (uint32_t)w->crc32);
    return NULL;
}

static Error *find_array(const Opening *o, int i, const FileArray **out)
{
    const char *name = o->weights->names[i];
    Type wanted = o->p->args[i].whole;
    const FileArray *a = *out = arrays_find(o->out->file, str_of(name));
    if (!a)
        return error_new(CODE_INVALID, "%s has no array %s, %s, which is argument %d of %.*s",
                         o->path, name, type_name(wanted), i, STR_ARG(o->p->name));
    if (!a->is_npy && type_equal(a->type, wanted))
        return NULL;
    return error_new(CODE_INVALID, "%s is %s, and argument %d of %.*s is %s", a->path,
                     a->is_npy ? "NumPy's" : type_name(a->type), i, STR_ARG(o->p->name),
                     type_name(wanted));
}

static Error *point(const Opening *o, int i)
{
    const FileArray *a;
    TRY(find_array(o, i, &a));
    const void *at = file_array_view(a);
    if (!at || o->flags & TUTTI_RT_COPIED)
        at = arena_copy(o->out->copies, a->bytes.at, a->bytes.n);
    o->in[i] = at;
    return NULL;
}

static Error *open_steps(Opening *o)
{
    TRY(arrays_open(o->path, &o->out->file));
    o->mapped = o->out->file->mapped;
    if (!(o->flags & TUTTI_RT_OTHER))
        TRY(check_file(o, o->out->file->bytes));
    for (int i = 0; i < o->p->nargs; i++)
        if (o->weights->names[i])
            TRY(point(o, i));
    if (o->flags & TUTTI_RT_COPIED) {
        arrays_close(o->out->file);
        o->out->file = NULL;
    }
    return NULL;
}

static void unmap(void *user)
{
    mapped_close(user);
}

static void open_guarded(void *user)
{
    Opening *o = user;
    o->out = heap_new(sizeof *o->out, "a file of weights");
    o->out->copies = arena_new();
    guard_defer(unmap, &o->mapped);
    o->error = open_steps(o);
    guard_forget(unmap, &o->mapped);
}

const char *tutti_rt_open(const tutti_rt_program *program, const char *path, int flags,
                          const void **in, tutti_rt_weights **out)
{
    const LinkedProgram *l = (const LinkedProgram *)(const void *)program;
    if (!l->weights || !path)
        return rt_say(error_new(CODE_INVALID, "tutti_rt_open: %.*s %s", STR_ARG(l->program->name),
                                l->weights ? "needs a file" : "was compiled without --weights"));
    Opening o = { .p = l->program, .weights = l->weights, .path = path, .flags = flags, .in = in };
    Error *error = guard_run_in(NULL, "weights", open_guarded, &o);
    if (error || o.error)
        for (int i = 0; i < l->program->nargs; i++) /* nothing points into what is closed */
            in[i] = l->weights->names[i] ? NULL : in[i];
    if (error)
        return rt_say(error);
    if (o.error) {
        tutti_rt_close(o.out);
        return rt_say(o.error);
    }
    *out = o.out;
    return NULL;
}

void tutti_rt_close(tutti_rt_weights *weights)
{
    if (!weights)
        return;
    arrays_close(weights->file);
    arena_free(weights->copies);
    heap_free(weights);
}
