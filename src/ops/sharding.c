/* sharding.c - from Shardy's notation of placement to tilings.
 *
 * In: a Sharding.  Out: a Tiling, which says for every device which tile it holds.
 *
 * The positions of a mesh are numbered row-major, and a device stands at each; the coordinates
 * of a position, taken apart, are the coordinates of the tile.
 *
 *   mesh ["a"=2, "b"=2]        position 0 1 2 3   coordinates of "b": 0 1 0 1
 *   [{"b"}, {}]                so device 2 holds tile (0, 0) of 2x1 */
#include "ops/sharding.h"

#include "base/arena.h"
#include "base/guard.h"

#include <inttypes.h>
#include <string.h>

int64_t mesh_count(const Mesh *mesh)
{
    int64_t n = 1;
    for (int i = 0; i < mesh->naxes; i++)
        if (__builtin_mul_overflow(n, mesh->sizes[i], &n))
            return INT64_MAX;
    return n;
}

Error *tiling_blank(Arena *arena, int rank, int ndevices, int64_t **tiles, int64_t **tile_of)
{
    size_t cells = (size_t)ndevices * (size_t)rank;
    *tiles = arena_try(arena, sizeof **tiles * (size_t)rank);
    *tile_of = arena_try(arena, sizeof **tile_of * cells);
    if (!*tiles || !*tile_of)
        return error_new(CODE_EXHAUSTED,
                         "no memory for the placement of an array of rank %d on %d"
                         " devices",
                         rank, ndevices);
    for (int i = 0; i < rank; i++)
        (*tiles)[i] = 1;
    return NULL;
}

Tiling tiling_replicated(Arena *arena, int rank, int ndevices)
{
    int64_t *tiles = ARENA_ARRAY(arena, int64_t, rank);
    for (int i = 0; i < rank; i++)
        tiles[i] = 1;
    return (Tiling){ rank, ndevices, tiles, ARENA_ARRAY(arena, int64_t, rank * ndevices), 0, NULL };
}

bool tiling_is_replicated(Tiling t)
{
    for (int i = 0; i < t.rank; i++)
        if (t.tiles[i] != 1)
            return false;
    return t.nparts == 0;
}

Tiling tiling_summed(Tiling t)
{
    t.nparts = 0;
    t.part_of = NULL;
    return t;
}

bool tiling_equal(Tiling a, Tiling b)
{
    size_t rank = (size_t)a.rank, n = (size_t)a.ndevices;
    if (a.rank != b.rank || a.ndevices != b.ndevices || a.nparts != b.nparts)
        return false;
    if (a.nparts && memcmp(a.part_of, b.part_of, sizeof *a.part_of * n) != 0)
        return false;
    return rank == 0 || (memcmp(a.tiles, b.tiles, sizeof *a.tiles * rank) == 0 &&
                         memcmp(a.tile_of, b.tile_of, sizeof *a.tile_of * rank * n) == 0);
}

Error *tiling_local(Arena *arena, Tiling t, Type whole, Type *out)
{
    if (t.rank != whole.rank)
        return error_new(CODE_INVALID, "a placement of rank %d for %s, whose rank is %d", t.rank,
                         type_name(whole), whole.rank);
    int64_t *dims = ARENA_ARRAY(arena, int64_t, whole.rank);
    for (int i = 0; i < whole.rank; i++) {
        dims[i] = whole.dims[i];
        if (t.tiles[i] == 1)
            continue;
        if (dims[i] == DYNAMIC || dims[i] % t.tiles[i] != 0)
            return error_new(
                CODE_INVALID,
                "%s cannot be cut into %" PRId64
                " equal tiles along dimension %d: its extent must be a multiple of %" PRId64,
                type_name(whole), t.tiles[i], i, t.tiles[i]);
        dims[i] /= t.tiles[i];
    }
    *out = (Type){ whole.element, whole.rank, dims };
    return NULL;
}

/* Coordinate of mesh position p along an axis or a part of one. */
static int64_t coordinate(const Mesh *mesh, AxisRef ref, int64_t p)
{
    for (int i = mesh->naxes - 1; i > ref.axis; i--)
        p /= mesh->sizes[i];
    int64_t whole = p % mesh->sizes[ref.axis];
    int64_t minor = mesh->sizes[ref.axis] / (ref.pre_size * ref.size);
    return whole / minor % ref.size;
}

/* The axes of dimension i, and behind the last dimension those of parts. */
static DimSharding axes_at(const Sharding *s, int i)
{
    return i < s->rank ? s->dims[i] : s->unreduced;
}

static Error *check_axes(const Sharding *s)
{
    const Mesh *mesh = s->mesh;
    for (int i = 0; i < mesh->naxes; i++)
        if (mesh->sizes[i] < 1)
            return error_new(CODE_INVALID,
                             "axis \"%.*s\" of mesh @%.*s has size %" PRId64
                             ": it must be at least 1",
                             STR_ARG(mesh->axes[i]), STR_ARG(mesh->name), mesh->sizes[i]);
    for (int i = 0; i <= s->rank; i++)
        for (int j = 0; j < axes_at(s, i).naxes; j++) {
            AxisRef ref = axes_at(s, i).axes[j];
            int64_t size = mesh->sizes[ref.axis], part;
            if (ref.pre_size < 1 || ref.size < 1 ||
                __builtin_mul_overflow(ref.pre_size, ref.size, &part) || size % part != 0)
                return error_new(CODE_INVALID,
                                 "part (%" PRId64 ")%" PRId64 " of axis \"%.*s\": "
                                 "their product must divide the axis's size, %" PRId64,
                                 ref.pre_size, ref.size, STR_ARG(mesh->axes[ref.axis]), size);
        }
    return NULL;
}

Error *devices_check(const int64_t *devices, int64_t n, int ndevices)
{
    bool *seen = HEAP_ARRAY(bool, ndevices, "a table of devices");
    Error *error = NULL;
    if (n != ndevices)
        error = error_new(CODE_INVALID, "a placement on %" PRId64 " devices in a program for %d", n,
                          ndevices);
    for (int64_t p = 0; p < n && !error; p++) {
        int64_t d = devices[p];
        if (d < 0 || d >= ndevices || seen[d])
            error = error_new(CODE_INVALID,
                              "device %" PRId64 " in a placement %s: each of 0 to %d "
                              "must be there once",
                              d, d < 0 || d >= ndevices ? "does not exist" : "is there twice",
                              ndevices - 1);
        else
            seen[d] = true;
    }
    heap_free(seen);
    return error;
}

/* The places of an axis that a reference takes, as a range of its digits: (1)4 of 8 is 1 to 4. */
static bool overlap(AxisRef a, AxisRef b)
{
    return a.axis == b.axis && a.pre_size < b.pre_size * b.size && b.pre_size < a.pre_size * a.size;
}

static Error *twice(Str axis, int one, int other, int rank)
{
    if (other == rank)
        return error_new(CODE_INVALID,
                         "unreduced axis \"%.*s\" is listed twice or cuts a dimension",
                         STR_ARG(axis));
    if (one == other)
        return error_new(CODE_INVALID, "axis \"%.*s\" cuts dimension %d twice", STR_ARG(axis), one);
    return error_new(CODE_INVALID,
                     "axis \"%.*s\" cuts dimension %d and dimension %d: it may cut one, once",
                     STR_ARG(axis), one, other);
}

/* Nothing of an axis may cut twice: no device would hold some of the tiles. */
static Error *check_axes_once(const Sharding *s)
{
    for (int i = 0; i <= s->rank; i++)
        for (int j = 0; j < axes_at(s, i).naxes; j++)
            for (int k = 0; k <= i; k++)
                for (int l = 0; l < (k < i ? axes_at(s, k).naxes : j); l++) {
                    AxisRef ref = axes_at(s, i).axes[j];
                    if (overlap(ref, axes_at(s, k).axes[l]))
                        return twice(s->mesh->axes[ref.axis], k, i, s->rank);
                }
    return NULL;
}

static Error *check_sharding(const Sharding *s, int rank, int ndevices)
{
    const Mesh *mesh = s->mesh;
    if (s->rank != rank)
        return error_new(CODE_INVALID, "a sharding of %d dimensions for an array of rank %d",
                         s->rank, rank);
    TRY(check_axes(s));
    TRY(check_axes_once(s));
    int64_t count = mesh_count(mesh);
    if (count == 1)
        return NULL;
    if (count != ndevices)
        return error_new(CODE_INVALID, "mesh @%.*s is of %" PRId64 " devices, the program for %d",
                         STR_ARG(mesh->name), count, ndevices);
    return mesh->device_ids.n ? devices_check(mesh->device_ids.at, mesh->device_ids.n, ndevices)
                              : NULL;
}

int64_t tiles_along(DimSharding dim)
{
    int64_t n = 1;
    for (int j = 0; j < dim.naxes; j++)
        n *= dim.axes[j].size;
    return n;
}

/* The number of mesh position p along the axes listed, the first being the major one. */
static int64_t position_along(const Mesh *mesh, DimSharding dim, int64_t p)
{
    int64_t at = 0;
    for (int j = 0; j < dim.naxes; j++)
        at = at * dim.axes[j].size + coordinate(mesh, dim.axes[j], p);
    return at;
}

static int64_t device_at(const Mesh *mesh, int64_t p)
{
    return mesh->device_ids.n ? mesh->device_ids.at[p] : p;
}

static void set_parts(Arena *arena, const Sharding *s, Tiling *t)
{
    int nparts = (int)tiles_along(s->unreduced);
    if (nparts == 1)
        return;
    int *part_of = ARENA_ARRAY(arena, int, t->ndevices);
    for (int p = 0; p < t->ndevices; p++)
        part_of[device_at(s->mesh, p)] = (int)position_along(s->mesh, s->unreduced, p);
    t->nparts = nparts;
    t->part_of = part_of;
}

Error *sharding_tiling(Arena *arena, const Sharding *s, int rank, int ndevices, Tiling *out)
{
    int64_t *tiles, *tile_of;
    TRY(tiling_blank(arena, rank, ndevices, &tiles, &tile_of));
    *out = (Tiling){ rank, ndevices, tiles, tile_of, 0, NULL };
    /* A mesh without axes is one device; others holding the same does no harm.  Nor does it where
     * every axis is of size 1, as in a program that JAX exported from one device. */
    if (!s || s->mesh->naxes == 0)
        return NULL;
    TRY(check_sharding(s, rank, ndevices));
    if (mesh_count(s->mesh) == 1)
        return NULL;
    for (int i = 0; i < rank; i++)
        tiles[i] = tiles_along(s->dims[i]);
    for (int p = 0; p < ndevices; p++)
        for (int i = 0; i < rank; i++)
            tile_of[device_at(s->mesh, p) * rank + i] = position_along(s->mesh, s->dims[i], p);
    set_parts(arena, s, out);
    return NULL;
}

/* ---- comparing and printing ---- */

bool mesh_equal(const Mesh *a, const Mesh *b)
{
    if (a == b)
        return true;
    if (a->naxes != b->naxes || !ints_equal(a->device_ids, b->device_ids))
        return false;
    for (int i = 0; i < a->naxes; i++)
        if (a->sizes[i] != b->sizes[i] || !str_equal(a->axes[i], b->axes[i]))
            return false;
    return true;
}

static bool dim_equal(DimSharding a, DimSharding b)
{
    if (a.naxes != b.naxes || a.is_open != b.is_open)
        return false;
    for (int j = 0; j < a.naxes; j++)
        if (a.axes[j].axis != b.axes[j].axis || a.axes[j].pre_size != b.axes[j].pre_size ||
            a.axes[j].size != b.axes[j].size)
            return false;
    return true;
}

bool sharding_equal(const Sharding *a, const Sharding *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->rank != b->rank || !mesh_equal(a->mesh, b->mesh))
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!dim_equal(a->dims[i], b->dims[i]))
            return false;
    return dim_equal(a->unreduced, b->unreduced);
}

/* In quotes, as MLIR escapes: \22 for a quote. */
static void print_name(Text *out, Str name)
{
    text_printf(out, "\"");
    for (size_t i = 0; i < name.n; i++) {
        unsigned char ch = (unsigned char)name.at[i];
        if (ch < ' ' || ch > '~' || ch == '"' || ch == '\\')
            text_printf(out, "\\%02X", ch);
        else
            text_printf(out, "%c", ch);
    }
    text_printf(out, "\"");
}

void mesh_print(Text *out, const Mesh *mesh)
{
    text_printf(out, "<[");
    for (int i = 0; i < mesh->naxes; i++) {
        text_printf(out, "%s", i ? ", " : "");
        print_name(out, mesh->axes[i]);
        text_printf(out, "=%" PRId64, mesh->sizes[i]);
    }
    text_printf(out, "]");
    if (mesh->device_ids.n) {
        text_printf(out, ", device_ids=[");
        text_ints(out, mesh->device_ids.at, mesh->device_ids.n);
        text_printf(out, "]");
    }
    text_printf(out, ">");
}

static void print_dim(Text *out, const Mesh *mesh, DimSharding dim)
{
    text_printf(out, "{");
    for (int j = 0; j < dim.naxes; j++) {
        AxisRef ref = dim.axes[j];
        text_printf(out, "%s", j ? ", " : "");
        print_name(out, mesh->axes[ref.axis]);
        if (ref.pre_size != 1 || ref.size != mesh->sizes[ref.axis])
            text_printf(out, ":(%" PRId64 ")%" PRId64, ref.pre_size, ref.size);
    }
    if (dim.is_open)
        text_printf(out, "%s?", dim.naxes ? ", " : "");
    text_printf(out, "}");
}

void sharding_print(Text *out, const Sharding *s)
{
    text_printf(out, "<");
    if (s->mesh->name.n) {
        text_printf(out, "@%.*s", STR_ARG(s->mesh->name));
    } else {
        text_printf(out, "mesh");
        mesh_print(out, s->mesh);
    }
    text_printf(out, ", [");
    for (int i = 0; i < s->rank; i++) {
        text_printf(out, "%s", i ? ", " : "");
        print_dim(out, s->mesh, s->dims[i]);
    }
    text_printf(out, "]");
    if (s->unreduced.naxes) {
        text_printf(out, ", unreduced=");
        print_dim(out, s->mesh, s->unreduced);
    }
    text_printf(out, ">");
}
