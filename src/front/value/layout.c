/* layout.c - layouts, meshes and specs: which device holds which tile of an array.
 *
 *     mesh { "x", 2 }, { "y", 2 }             spec ("x", "y") of f32[8,16]: tiles 2 x 2
 *
 *             y=0   y=1                       spec ("y", NULL): tiles 2 x 1, the same for both x
 *     x=0    dev 0  dev 1
 *     x=1    dev 2  dev 3 */
#include "front/value/layout.h"

#include "base/guard.h"
#include "front/value/array.h"
#include "front/value/axis_names.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/value.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the four below */
static Table layouts, meshes;
static tt_mesh newest; /* of the meshes */
static Arena *arena; /* neither has an owner: there are as many meshes as the user's program names,
                      * and as many layouts as ways to cut along their axes, whatever the shapes of
                      * what is cut */

/* ---- layouts ---- */

bool layout_is_whole(const ArrayLayout *l)
{
    return l->tiling.rank == 0;
}

/* A layout that is looked for. */
typedef struct WantedLayout {
    int ndevices;
    const int *devices;
    Tiling tiling;
    const ArrayLayout *found;
} WantedLayout;

/* Holding `lock`. */
static void make_layout(void *user)
{
    WantedLayout *w = user;
    ArrayLayout *l = ARENA_NEW(arena, ArrayLayout);
    Tiling t = w->tiling;
    size_t rank = (size_t)t.rank, n = (size_t)w->ndevices;
    l->ndevices = w->ndevices;
    l->devices = arena_copy(arena, w->devices, sizeof *w->devices * n);
    l->tiling = (Tiling){
        .rank = t.rank,
        .ndevices = w->ndevices,
        .tiles = arena_copy(arena, t.tiles, sizeof *t.tiles * rank),
        .tile_of = arena_copy(arena, t.tile_of, sizeof *t.tile_of * rank * n),
    };
    w->found = l;
}

/* Holding `lock`. */
static void find_layout(void *user)
{
    WantedLayout *w = user;
    Tiling t = w->tiling;
    size_t rank = (size_t)t.rank, n = (size_t)w->ndevices;
    Text key = { 0 };
    text_add(&key, &w->ndevices, sizeof w->ndevices);
    text_add(&key, w->devices, sizeof *w->devices * n);
    text_add(&key, t.tiles, sizeof *t.tiles * rank);
    text_add(&key, t.tile_of, sizeof *t.tile_of * rank * n);
    uint64_t found = 0;
    Error *error = NULL;
    if (!table_get(&layouts, key.at, key.n, &found)) {
        error = intern_arena(&arena);
        if (!error)
            error = guard_run_in(NULL, "a layout", make_layout, w);
        if (!error)
            error = intern_put(&layouts, key.at, key.n, w->found);
    } else {
        w->found = (const ArrayLayout *)(uintptr_t)found;
    }
    text_free(&key);
    if (error) {
        w->found = NULL;
        error_free(error);
    }
}

const ArrayLayout *layout_intern(int ndevices, const int *devices, Tiling tiling)
{
    if (tiling.rank && tiling_is_replicated(tiling))
        tiling = (Tiling){ .ndevices = ndevices };
    if (ndevices == 1 && !tiling.rank && devices[0] == 0 && client_processes() == 1)
        return layout_home();
    WantedLayout w = { ndevices, devices, tiling, NULL };
    pthread_mutex_lock(&lock);
    Error *error = guard_run_in(NULL, "a layout", find_layout, &w);
    pthread_mutex_unlock(&lock);
    error_free(error);
    if (error || !w.found)
        return report_broken("no memory on the host for a layout on %d devices", ndevices), NULL;
    return w.found;
}

const ArrayLayout *layout_replicated(int ndevices, const int *devices)
{
    return layout_intern(ndevices, devices, (Tiling){ .ndevices = ndevices });
}

const ArrayLayout *layout_single(int device)
{
    return layout_replicated(1, &device);
}

const ArrayLayout *layout_home(void)
{
    /* Nearly every value lies there, also before the client has started: its device is looked at
     * later. */
    static const ArrayLayout home = { 1, &client_home, { .ndevices = 1 } };
    return &home;
}

bool layout_is_everywhere(const ArrayLayout *l)
{
    return l == layout_home() && client_processes() > 1;
}

/* ---- meshes ---- */

int mesh_axis_size(const struct tt_grid *mesh, const char *name)
{
    for (int i = 0; i < mesh->naxes; i++)
        if (strcmp(mesh->axes[i].name, name) == 0)
            return mesh->axes[i].size;
    return 0;
}

tt_mesh mesh_newest(void)
{
    pthread_mutex_lock(&lock);
    tt_mesh mesh = newest;
    pthread_mutex_unlock(&lock);
    return mesh;
}

int mesh_stride(const struct tt_grid *mesh, int axis)
{
    int stride = 1;
    for (int k = axis + 1; k < mesh->naxes; k++)
        stride *= mesh->axes[k].size;
    return stride;
}

int64_t mesh_tile(const struct tt_grid *mesh, const DimTiling *cut, int device)
{
    int64_t tile = 0;
    for (int i = 0; i < cut->n; i++) {
        int size = mesh->axes[cut->axis[i]].size;
        tile = tile * size + device / mesh_stride(mesh, cut->axis[i]) % size;
    }
    return tile;
}

static bool check_axes(const tt_axis *axes, int n, int *count)
{
    *count = 1;
    if (n < 1 || n > TT_MAX_RANK) {
        report_broken("tt_mesh: %d axes; a mesh has 1 to %d", n, TT_MAX_RANK);
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (!axes[i].name || !*axes[i].name || axes[i].size < 1) {
            report_broken("tt_mesh: axis %d: it needs a name and a size of at least 1", i);
            return false;
        }
        if (strchr(axes[i].name, ',')) {
            report_broken("tt_mesh: axis %d is named \"%s\": a comma is for naming several axes at "
                          "once",
                          i, axes[i].name);
            return false;
        }
        for (int k = 0; k < i; k++)
            if (strcmp(axes[i].name, axes[k].name) == 0) {
                report_broken("tt_mesh: two axes are named \"%s\"", axes[i].name);
                return false;
            }
        *count = axes[i].size > 4096 / *count ? 4097 : *count * axes[i].size;
    }
    return true;
}

/* A mesh that is looked for. */
typedef struct WantedMesh {
    const tt_axis *axes;
    int n, count, there;
    tt_mesh mesh;
} WantedMesh;

/* Holding `lock`. */
static void make_mesh(void *user)
{
    WantedMesh *w = user;
    struct tt_grid *mesh = ARENA_NEW(arena, struct tt_grid);
    tt_axis *copy = ARENA_ARRAY(arena, tt_axis, w->n);
    int *devices = ARENA_ARRAY(arena, int, w->count);
    for (int i = 0; i < w->n; i++)
        copy[i] = (tt_axis){ str_copy(arena, str_of(w->axes[i].name)).at, w->axes[i].size };
    for (int d = 0; d < w->count; d++)
        devices[d] = d;
    *mesh = (struct tt_grid){ w->n, copy, w->count, devices, newest };
    w->mesh = mesh;
}

/* Holding `lock`. */
static Error *intern_mesh(WantedMesh *w, const Text *words)
{
    uint64_t found = 0;
    if (table_get(&meshes, words->at, words->n, &found)) {
        w->mesh = (tt_mesh)(uintptr_t)found;
        return NULL;
    }
    TRY(intern_arena(&arena));
    TRY(guard_run_in(NULL, "a mesh", make_mesh, w));
    TRY(intern_put(&meshes, words->at, words->n, w->mesh));
    newest = w->mesh;
    return NULL;
}

static void find_mesh(void *user)
{
    WantedMesh *w = user;
    Text words = { 0 };
    for (int i = 0; i < w->n; i++)
        text_printf(&words, "%s\"%s\" of %d", i ? ", " : "", w->axes[i].name, w->axes[i].size);
    if (w->count > w->there) {
        report_broken("tt_mesh: axes %s need more devices than the %d there are: "
                      "tt_init(.devices = n) makes more",
                      words.at, w->there);
    } else {
        pthread_mutex_lock(&lock);
        Error *error = intern_mesh(w, &words);
        pthread_mutex_unlock(&lock);
        if (error) {
            w->mesh = NULL;
            report_error(error_in(error, "tt_mesh"));
        }
    }
    text_free(&words);
}

tt_mesh tt_mesh_n(const tt_axis *axes, int n)
{
    PUBLIC;
    WantedMesh w = { .axes = axes, .n = n };
    if (!check_axes(axes, n, &w.count) || !(w.there = tt_device_count()))
        return NULL;
    return library_guard("tt_mesh", find_mesh, &w) ? w.mesh : NULL;
}

/* ---- specs ---- */

/* What is written of dimension i.  used: the mesh axes met so far.  False: reported. */
static bool resolve_dim(const char *who, tt_mesh mesh, const char *spec, DimTiling *cut,
                        unsigned *used)
{
    Str list_tiles = spec ? str_of(spec) : (Str){ 0 }, name;
    *cut = (DimTiling){ .tiles = 1 };
    while (axis_names_next(&list_tiles, &name)) {
        int a = mesh->naxes - 1;
        while (a >= 0 && !str_is(name, mesh->axes[a].name))
            a--;
        if (a < 0 || *used >> a & 1) {
            report_broken(a < 0 ? "%s: the mesh has no axis \"%.*s\""
                                : "%s: axis \"%.*s\" of the mesh is used for two axes of the array",
                          who, STR_ARG(name));
            return false;
        }
        *used |= 1u << a;
        cut->axis[cut->n++] = a;
        cut->tiles *= mesh->axes[a].size;
    }
    return true;
}

static bool resolve_spec(const char *who, tt_mesh mesh, const tt_spec *spec, Type type,
                         DimTiling *tilings)
{
    unsigned used = 0;
    for (int i = 0; i < TT_MAX_RANK; i++) {
        const char *name = spec->axis[i];
        if (!resolve_dim(who, mesh, name, &tilings[i], &used))
            return false;
        if (name && i >= type.rank) {
            report_broken("%s: %s has no axis %d to cut along \"%s\"", who, type_text(type), i,
                          name);
            return false;
        }
        if (name && type.dims[i] % tilings[i].tiles != 0) {
            report_broken(
                "%s: axis %d of %s has size %lld, which does not divide by the %lld of mesh "
                "axis \"%s\"",
                who, i, type_text(type), (long long)type.dims[i], (long long)tilings[i].tiles,
                name);
            return false;
        }
    }
    return true;
}

/* How an array of this type lies when cut so.  NULL: reported, naming `who`. */
static const ArrayLayout *mesh_layout(const char *who, tt_mesh mesh, const tt_spec *spec, Type type)
{
    DimTiling tilings[TT_MAX_RANK];
    if (!resolve_spec(who, mesh, spec, type, tilings))
        return NULL;
    Scratch scratch;
    scratch_begin(&scratch);
    int64_t tiles[TT_MAX_RANK];
    int64_t *tile_of = SCRATCH(&scratch, int64_t, type.rank * mesh->ndevices);
    if (!tile_of)
        return report_broken("%s: no memory on the host for a layout on %d devices", who,
                             mesh->ndevices),
               NULL;
    for (int i = 0; i < type.rank; i++) {
        tiles[i] = tilings[i].tiles;
        for (int d = 0; d < mesh->ndevices; d++)
            tile_of[d * type.rank + i] = mesh_tile(mesh, &tilings[i], d);
    }
    const ArrayLayout *l =
        layout_intern(mesh->ndevices, mesh->devices,
                      (Tiling){ type.rank, mesh->ndevices, tiles, tile_of, 0, NULL });
    scratch_end(&scratch);
    return l;
}

tt place_array(tt x, const tt_sharding *where)
{
    Held held;
    if (!value_pin(x, "tt_place", &held))
        return (tt){ 0, 0 };
    const ArrayLayout *l = mesh_layout("tt_place", where->mesh, &where->spec, held.type);
    Array *placed = l ? array_reshard(held.array, l) : NULL;
    tt y = placed ? value_of_array(placed, held.is_weak) : (tt){ 0, 0 };
    value_unpin(x);
    return y;
}

/* ---- rows of each process ---- */

/* In how many places along a dimension the devices of this process have a piece. */
static int64_t places_here(tt_mesh mesh, const DimTiling *cut)
{
    int64_t n = 0;
    for (int d = 0; d < mesh->ndevices; d++) {
        bool is_new = client_process_of(mesh->devices[d]) == client_process();
        for (int e = 0; e < d && is_new; e++)
            is_new = client_process_of(mesh->devices[e]) != client_process() ||
                     mesh_tile(mesh, cut, e) != mesh_tile(mesh, cut, d);
        n += is_new;
    }
    return n;
}

/* How many different pieces they have. */
static int64_t pieces_here(tt_mesh mesh, int rank, const DimTiling *cuts)
{
    int64_t n = 0;
    for (int d = 0; d < mesh->ndevices; d++) {
        bool is_new = client_process_of(mesh->devices[d]) == client_process();
        for (int e = 0; e < d && is_new; e++) {
            bool is_other = client_process_of(mesh->devices[e]) != client_process();
            for (int i = 0; i < rank && !is_other; i++)
                is_other = mesh_tile(mesh, &cuts[i], e) != mesh_tile(mesh, &cuts[i], d);
            is_new = is_other;
        }
        n += is_new;
    }
    return n;
}

/* The extents of the whole array of which this process has `local`.  False: reported. */
static bool whole_of(tt_mesh mesh, const tt_spec *spec, Type local, int64_t *dims)
{
    DimTiling cuts[TT_MAX_RANK];
    unsigned used = 0;
    int64_t product = 1;
    for (int i = 0; i < local.rank; i++) {
        if (!resolve_dim("tt_from_local", mesh, spec->axis[i], &cuts[i], &used))
            return false;
        int64_t n = places_here(mesh, &cuts[i]);
        if (!n)
            return report_broken("tt_from_local: the mesh has no device of process %d",
                                 client_process()),
                   false;
        if (local.dims[i] % n)
            return report_broken("tt_from_local: axis %d of %s does not divide by the %lld pieces "
                                 "of it that process %d holds",
                                 i, type_text(local), (long long)n, client_process()),
                   false;
        dims[i] = local.dims[i] / n * cuts[i].tiles;
        product *= n;
    }
    if (product != pieces_here(mesh, local.rank, cuts))
        return report_broken("tt_from_local: the pieces of process %d make no block: cut along "
                             "axes of the mesh whose devices lie in one process, or along all",
                             client_process()),
               false;
    return true;
}

tt place_local(tt x, const tt_sharding *where)
{
    Held held;
    int64_t dims[TT_MAX_RANK];
    if (!value_pin(x, "tt_from_local", &held))
        return (tt){ 0, 0 };
    Type local = held.type;
    bool is_right = whole_of(where->mesh, &where->spec, local, dims);
    Type whole = { local.element, local.rank, dims };
    const ArrayLayout *l =
        is_right ? mesh_layout("tt_from_local", where->mesh, &where->spec, whole) : NULL;
    void *data = l ? malloc(type_bytes(local) + 1) : NULL;
    if (l && !data)
        report_broken("tt_from_local: no memory on the host for %s", type_text(local));
    Array *a =
        data && array_read(held.array, data) ? array_from_local(whole, l, local, data) : NULL;
    free(data);
    tt y = a ? value_of_array(a, held.is_weak) : (tt){ 0, 0 };
    value_unpin(x);
    return y;
}
