/* sharding.c - from notations of placement to tilings.
 *
 * In: a Sharding (Shardy's form) or a string of mhlo.sharding (the older form).
 * Out: a Tiling, which says for every device which tile it holds.
 *
 * Both forms number the positions of a grid row-major and say which device stands there; the
 * coordinates of a position, taken apart, are the coordinates of the tile.
 *
 *   mesh ["a"=2, "b"=2]        position 0 1 2 3   coordinates of "b": 0 1 0 1
 *   [{"b"}, {}]                so device 2 holds tile (0, 0) of 2x1
 *
 *   {devices=[2,1,2]<=[4] last_tile_dim_replicate}
 *                              grid 2x1x2, the last dimension is copies: device 2 stands at
 *                              (1, 0, 0) and holds tile (1, 0) of 2x1 */
#include "ops/sharding.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t mesh_count(const Mesh *mesh)
{
    int64_t n = 1;
    for (int i = 0; i < mesh->naxes; i++)
        if (__builtin_mul_overflow(n, mesh->sizes[i], &n))
            return INT64_MAX;
    return n;
}

/* A tiling of one tile per dimension, all coordinates zero: to be filled, or replicated as is. */
static Error *blank(Arena *arena, int rank, int ndevices, int64_t **tiles, int64_t **tile_of)
{
    size_t cells = (size_t)ndevices * (size_t)rank;
    *tiles = arena_try(arena, sizeof **tiles * (size_t)rank);
    *tile_of = arena_try(arena, sizeof **tile_of * cells);
    if (!*tiles || !*tile_of)
        return error_new(CODE_EXHAUSTED, "no memory for the placement of an array of rank %d on %d"
                         " devices", rank, ndevices);
    for (int i = 0; i < rank; i++)
        (*tiles)[i] = 1;
    return NULL;
}

Tiling tiling_replicated(Arena *arena, int rank, int ndevices)
{
    int64_t *tiles = ARENA_ARRAY(arena, int64_t, rank);
    for (int i = 0; i < rank; i++)
        tiles[i] = 1;
    return (Tiling){ rank, ndevices, tiles, ARENA_ARRAY(arena, int64_t, rank * ndevices) };
}

bool tiling_is_replicated(Tiling t)
{
    for (int i = 0; i < t.rank; i++)
        if (t.tiles[i] != 1)
            return false;
    return true;
}

bool tiling_equal(Tiling a, Tiling b)
{
    size_t rank = (size_t)a.rank;
    if (a.rank != b.rank || a.ndevices != b.ndevices)
        return false;
    return rank == 0 ||
           (memcmp(a.tiles, b.tiles, sizeof *a.tiles * rank) == 0 &&
            memcmp(a.tile_of, b.tile_of, sizeof *a.tile_of * rank * (size_t)a.ndevices) == 0);
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
            return error_new(CODE_INVALID, "%s cannot be cut into %" PRId64
                             " equal tiles along dimension %d: its extent must be a multiple of %"
                             PRId64, type_name(whole), t.tiles[i], i, t.tiles[i]);
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

static Error *check_axes(const Sharding *s)
{
    const Mesh *mesh = s->mesh;
    for (int i = 0; i < mesh->naxes; i++)
        if (mesh->sizes[i] < 1)
            return error_new(CODE_INVALID, "axis \"%.*s\" of mesh @%.*s has size %" PRId64
                             ": it must be at least 1", STR_ARG(mesh->axes[i]),
                             STR_ARG(mesh->name), mesh->sizes[i]);
    for (int i = 0; i < s->rank; i++)
        for (int j = 0; j < s->dims[i].naxes; j++) {
            AxisRef ref = s->dims[i].axes[j];
            int64_t size = mesh->sizes[ref.axis], part;
            if (ref.pre_size < 1 || ref.size < 1 ||
                __builtin_mul_overflow(ref.pre_size, ref.size, &part) || size % part != 0)
                return error_new(CODE_INVALID, "part (%" PRId64 ")%" PRId64 " of axis \"%.*s\": "
                                 "their product must divide the axis's size, %" PRId64,
                                 ref.pre_size, ref.size, STR_ARG(mesh->axes[ref.axis]), size);
        }
    return NULL;
}

/* devices[p]: the device at position p.  Every device must stand somewhere, once. */
static Error *check_devices(const int64_t *devices, int64_t n, int ndevices)
{
    bool *seen = calloc((size_t)ndevices + 1, sizeof *seen);
    if (!seen)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d devices", ndevices);
    Error *error = NULL;
    if (n != ndevices)
        error = error_new(CODE_INVALID, "a placement on %" PRId64 " devices in a program for %d", n,
                          ndevices);
    for (int64_t p = 0; p < n && !error; p++) {
        int64_t d = devices[p];
        if (d < 0 || d >= ndevices || seen[d])
            error = error_new(CODE_INVALID, "device %" PRId64 " in a placement %s: each of 0 to %d "
                              "must be there once", d,
                              d < 0 || d >= ndevices ? "does not exist" : "is there twice",
                              ndevices - 1);
        else
            seen[d] = true;
    }
    free(seen);
    return error;
}

/* The places of an axis that a reference takes, as a range of its digits: (1)4 of 8 is 1 to 4. */
static bool overlap(AxisRef a, AxisRef b)
{
    return a.axis == b.axis && a.pre_size < b.pre_size * b.size && b.pre_size < a.pre_size * a.size;
}

static Error *twice(Str axis, int one, int other)
{
    if (one == other)
        return error_new(CODE_INVALID, "axis \"%.*s\" cuts dimension %d twice", STR_ARG(axis), one);
    return error_new(CODE_INVALID,
                     "axis \"%.*s\" cuts dimension %d and dimension %d: it may cut one, once",
                     STR_ARG(axis), one, other);
}

/* Nothing of an axis may cut twice: no device would hold some of the tiles. */
static Error *check_axes_once(const Sharding *s)
{
    for (int i = 0; i < s->rank; i++)
        for (int j = 0; j < s->dims[i].naxes; j++)
            for (int k = 0; k <= i; k++)
                for (int l = 0; l < (k < i ? s->dims[k].naxes : j); l++)
                    if (overlap(s->dims[i].axes[j], s->dims[k].axes[l]))
                        return twice(s->mesh->axes[s->dims[i].axes[j].axis], k, i);
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
    if (count != ndevices)
        return error_new(CODE_INVALID, "mesh @%.*s is of %" PRId64 " devices, the program for %d",
                         STR_ARG(mesh->name), count, ndevices);
    return mesh->device_ids.n ? check_devices(mesh->device_ids.at, mesh->device_ids.n, ndevices)
                              : NULL;
}

/* How many tiles a dimension is cut into: no more than devices, since no axis cuts twice. */
static int64_t tiles_along(DimSharding dim)
{
    int64_t n = 1;
    for (int j = 0; j < dim.naxes; j++)
        n *= dim.axes[j].size;
    return n;
}

Error *sharding_tiling(Arena *arena, const Sharding *s, int rank, int ndevices, Tiling *out)
{
    int64_t *tiles, *tile_of;
    TRY(blank(arena, rank, ndevices, &tiles, &tile_of));
    *out = (Tiling){ rank, ndevices, tiles, tile_of };
    /* A mesh without axes is one device; others holding the same does no harm. */
    if (!s || s->mesh->naxes == 0)
        return NULL;
    TRY(check_sharding(s, rank, ndevices));
    for (int i = 0; i < rank; i++)
        tiles[i] = tiles_along(s->dims[i]);
    for (int p = 0; p < ndevices; p++) {
        int64_t device = s->mesh->device_ids.n ? s->mesh->device_ids.at[p] : p;
        for (int i = 0; i < rank; i++) {
            int64_t tile = 0;
            for (int j = 0; j < s->dims[i].naxes; j++) {
                AxisRef ref = s->dims[i].axes[j];
                tile = tile * ref.size + coordinate(s->mesh, ref, p);
            }
            tile_of[device * rank + i] = tile;
        }
    }
    return NULL;
}

/* ---- the notation of mhlo.sharding ---- */

/* The devices of "{devices=[2,2,1]<=[4]T(1,0) ...}": a grid and who stands where. */
typedef struct Grid {
    int rank;
    int64_t dims[MAX_RANK + 4]; /* the array's dimensions, then those of copies */
    int64_t *devices;           /* row-major over dims; the caller's array */
} Grid;

typedef struct Cursor {
    Str text;
    size_t at;
} Cursor;

static bool eat(Cursor *c, const char *word)
{
    size_t n = strlen(word);
    if (c->text.n - c->at < n || memcmp(c->text.at + c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static Error *bad(const Cursor *c, const char *expected)
{
    return error_new(CODE_INVALID, "mhlo.sharding \"%.*s\", character %zu: expected %s",
                     STR_ARG(c->text), c->at + 1, expected);
}

static Error *eat_number(Cursor *c, int64_t *out)
{
    int64_t n = 0;
    size_t start = c->at;
    for (; c->at < c->text.n; c->at++) {
        char digit = c->text.at[c->at];
        if (digit < '0' || digit > '9')
            break;
        if (n > INT32_MAX)
            return bad(c, "a number below 2^31");
        n = n * 10 + (digit - '0');
    }
    *out = n;
    return c->at > start ? NULL : bad(c, "a number");
}

/* Numbers between commas up to `close`; at most room of them. */
static Error *eat_list(Cursor *c, const char *close, int room, int *n, int64_t *at)
{
    *n = 0;
    do {
        if (*n == room)
            return bad(c, "fewer numbers");
        TRY(eat_number(c, &at[(*n)++]));
    } while (eat(c, ","));
    return eat(c, close) ? NULL : bad(c, close);
}

/* iota over `dims`, transposed by perm, read row-major. */
static void fill_iota(const int64_t *dims, const int64_t *perm, int rank, int64_t count,
                      int64_t *devices)
{
    int64_t strides[MAX_RANK], index[MAX_RANK] = { 0 };
    type_strides((Type){ I64, rank, dims }, strides);
    for (int64_t p = 0; p < count; p++) {
        devices[p] = 0;
        for (int i = 0; i < rank; i++)
            devices[p] += index[i] * strides[perm[i]];
        for (int i = rank - 1; i >= 0 && ++index[i] == dims[perm[i]]; i--)
            index[i] = 0;
    }
}

/* After "<=[": the dimensions, and perhaps T(permutation). */
static Error *eat_iota(Cursor *c, int64_t count, int64_t *devices)
{
    int64_t dims[MAX_RANK], perm[MAX_RANK], total = 1;
    int rank, nperm;
    TRY(eat_list(c, "]", MAX_RANK, &rank, dims));
    for (int i = 0; i < rank; i++) {
        perm[i] = i;
        if (__builtin_mul_overflow(total, dims[i], &total) || total > count)
            return bad(c, "as many devices after <= as the grid has");
    }
    if (total != count)
        return bad(c, "as many devices after <= as the grid has");
    if (eat(c, "T(")) {
        bool seen[MAX_RANK] = { false };
        TRY(eat_list(c, ")", MAX_RANK, &nperm, perm));
        for (int i = 0; i < nperm; i++) {
            if (perm[i] >= rank || seen[perm[i]] || nperm != rank)
                return bad(c, "a permutation of the dimensions after <=");
            seen[perm[i]] = true;
        }
    }
    fill_iota(dims, perm, rank, count, devices);
    return NULL;
}

/* What follows the devices: which trailing dimensions of the grid are copies. */
static Error *eat_tail(Cursor *c, int *ncopies)
{
    *ncopies = 0;
    while (!eat(c, "}")) {
        if (eat(c, " last_tile_dim_replicate")) {
            *ncopies = 1;
        } else if (eat(c, " last_tile_dims={")) {
            do {
                eat(c, " ");
                if (!eat(c, "replicated") && !eat(c, "manual"))
                    return bad(c, "\"replicated\" or \"manual\"");
                ++*ncopies;
            } while (eat(c, ","));
            if (!eat(c, "}"))
                return bad(c, "}");
        } else {
            return bad(c, "}, last_tile_dim_replicate or last_tile_dims={...}");
        }
    }
    return NULL;
}

static Error *eat_grid(Cursor *c, int ndevices, Grid *grid)
{
    int64_t count = 1;
    int n;
    if (!eat(c, "["))
        return bad(c, "[ and the dimensions of a grid of devices");
    TRY(eat_list(c, "]", (int)(sizeof grid->dims / sizeof *grid->dims), &grid->rank, grid->dims));
    for (int i = 0; i < grid->rank; i++)
        if (__builtin_mul_overflow(count, grid->dims[i], &count) || count > ndevices)
            return error_new(CODE_INVALID, "mhlo.sharding \"%.*s\" is for more devices than the %d "
                             "of the program", STR_ARG(c->text), ndevices);
    if (count != ndevices)
        return error_new(CODE_INVALID, "mhlo.sharding \"%.*s\" is for %" PRId64 " devices, the "
                         "program for %d", STR_ARG(c->text), count, ndevices);
    if (eat(c, "<=["))
        return eat_iota(c, count, grid->devices);
    n = 0;
    do {
        if (n == ndevices)
            return bad(c, "as many devices as the grid has");
        TRY(eat_number(c, &grid->devices[n++]));
    } while (eat(c, ","));
    return n == ndevices ? NULL : bad(c, "as many devices as the grid has");
}

/* The grid's leading dimensions are the array's: position by position to tiles. */
static Error *grid_tiling(Arena *arena, const Grid *grid, int rank, int ndevices, Tiling *out)
{
    int64_t *tiles, *tile_of, strides[MAX_RANK + 4];
    TRY(check_devices(grid->devices, ndevices, ndevices));
    TRY(blank(arena, rank, ndevices, &tiles, &tile_of));
    type_strides((Type){ I64, grid->rank, grid->dims }, strides);
    for (int i = 0; i < rank; i++)
        tiles[i] = grid->dims[i];
    for (int64_t p = 0; p < ndevices; p++)
        for (int i = 0; i < rank; i++)
            tile_of[grid->devices[p] * rank + i] = p / strides[i] % grid->dims[i];
    *out = (Tiling){ rank, ndevices, tiles, tile_of };
    return NULL;
}

static Error *parse_devices(Arena *arena, Cursor *c, int rank, int ndevices, Tiling *out)
{
    Grid grid = { .devices = arena_try(arena, sizeof *grid.devices * (size_t)ndevices) };
    int ncopies;
    if (!grid.devices)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d devices", ndevices);
    TRY(eat_grid(c, ndevices, &grid));
    TRY(eat_tail(c, &ncopies));
    if (c->at != c->text.n)
        return bad(c, "the end");
    if (grid.rank != rank + ncopies)
        return error_new(CODE_INVALID, "mhlo.sharding \"%.*s\" has %d dimensions of tiles, the "
                         "array has rank %d", STR_ARG(c->text), grid.rank - ncopies, rank);
    return grid_tiling(arena, &grid, rank, ndevices, out);
}

Error *tiling_parse(Arena *arena, Str text, int rank, int ndevices, Tiling *out)
{
    Cursor c = { text, 0 };
    if (eat(&c, "{devices="))
        return parse_devices(arena, &c, rank, ndevices, out);
    int64_t *tiles, *tile_of, device;
    /* "manual": each device holds the whole of an array of its own.  "maximal": one device
     * has it; others holding the same does no harm. */
    if (eat(&c, "{maximal device=")) {
        TRY(eat_number(&c, &device));
        if (!eat(&c, "}"))
            return bad(&c, "}");
    } else if (!eat(&c, "{replicated}") && !eat(&c, "{manual}") && !eat(&c, "{}")) {
        return error_new(CODE_UNIMPLEMENTED, "not supported: mhlo.sharding \"%.*s\": expected "
                         "{replicated}, {manual}, {maximal device=0} or {devices=[2,1]<=[2]}",
                         STR_ARG(text));
    }
    if (c.at != text.n)
        return bad(&c, "the end");
    TRY(blank(arena, rank, ndevices, &tiles, &tile_of));
    *out = (Tiling){ rank, ndevices, tiles, tile_of };
    return NULL;
}

/* ---- comparing and printing ---- */

static bool mesh_equal(const Mesh *a, const Mesh *b)
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
    return true;
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
    text_printf(out, "]>");
}
