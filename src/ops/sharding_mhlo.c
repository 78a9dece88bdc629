/* sharding_mhlo.c - from the notation of mhlo.sharding to tilings.
 *
 * The text gives a grid, row-major, and says which device stands where; the coordinates of a
 * position are those of the tile.  Dimensions behind the array's own are copies, or parts of a
 * sum.
 *
 *   {devices=[2,1,2]<=[4] last_tile_dim_replicate}
 *                              grid 2x1x2, the last dimension is copies: device 2 stands at
 *                              (1, 0, 0) and holds tile (1, 0) of 2x1 */
#include "base/arena.h"
#include "ops/sharding.h"

#include <inttypes.h>
#include <string.h>

/* The devices of "{devices=[2,2,1]<=[4]T(1,0) ...}": a grid and who stands where. */
typedef struct Grid {
    int rank;
    int64_t dims[MAX_RANK + 4]; /* the array's dimensions, then those of copies and parts */
    int ncopies;                /* how many are behind the array's */
    bool is_parts[4];           /* and which of these are parts of a sum */
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

/* What follows the devices: which trailing dimensions of the grid are copies or parts. */
static Error *eat_tail(Cursor *c, Grid *grid)
{
    enum { MOST = sizeof grid->is_parts };
    while (!eat(c, "}")) {
        if (eat(c, " last_tile_dim_replicate")) {
            grid->ncopies = 1;
        } else if (eat(c, " last_tile_dims={")) {
            do {
                eat(c, " ");
                bool is_parts = eat(c, "unreduced");
                if (grid->ncopies == MOST ||
                    (!is_parts && !eat(c, "replicated") && !eat(c, "manual")))
                    return bad(c, "\"replicated\", \"manual\" or \"unreduced\", at most four");
                grid->is_parts[grid->ncopies++] = is_parts;
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
            return error_new(CODE_INVALID,
                             "mhlo.sharding \"%.*s\" is for more devices than the %d "
                             "of the program",
                             STR_ARG(c->text), ndevices);
    if (count != ndevices)
        return error_new(CODE_INVALID,
                         "mhlo.sharding \"%.*s\" is for %" PRId64 " devices, the "
                         "program for %d",
                         STR_ARG(c->text), count, ndevices);
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

static void grid_parts(Arena *arena, const Grid *grid, const int64_t *strides, Tiling *t)
{
    int nparts = 1, *part_of = ARENA_ARRAY(arena, int, t->ndevices);
    for (int k = 0; k < grid->ncopies; k++) {
        int i = t->rank + k;
        if (!grid->is_parts[k])
            continue;
        nparts *= (int)grid->dims[i];
        for (int64_t p = 0; p < t->ndevices; p++) {
            int *part = &part_of[grid->devices[p]];
            *part = (int)(*part * grid->dims[i] + p / strides[i] % grid->dims[i]);
        }
    }
    if (nparts > 1) {
        t->nparts = nparts;
        t->part_of = part_of;
    }
}

/* The grid's leading dimensions are the array's: position by position to tiles. */
static Error *grid_tiling(Arena *arena, const Grid *grid, int rank, int ndevices, Tiling *out)
{
    int64_t *tiles, *tile_of, strides[MAX_RANK + 4];
    TRY(devices_check(grid->devices, ndevices, ndevices));
    TRY(tiling_blank(arena, rank, ndevices, &tiles, &tile_of));
    type_strides((Type){ I64, grid->rank, grid->dims }, strides);
    for (int i = 0; i < rank; i++)
        tiles[i] = grid->dims[i];
    for (int64_t p = 0; p < ndevices; p++)
        for (int i = 0; i < rank; i++)
            tile_of[grid->devices[p] * rank + i] = p / strides[i] % grid->dims[i];
    *out = (Tiling){ rank, ndevices, tiles, tile_of, 0, NULL };
    grid_parts(arena, grid, strides, out);
    return NULL;
}

/* {unreduced}: every device holds a part of the whole. */
static void all_parts(Arena *arena, Tiling *t)
{
    int *part_of = ARENA_ARRAY(arena, int, t->ndevices);
    for (int d = 0; d < t->ndevices; d++)
        part_of[d] = d;
    t->nparts = t->ndevices > 1 ? t->ndevices : 0;
    t->part_of = part_of;
}

static Error *parse_devices(Arena *arena, Cursor *c, int rank, int ndevices, Tiling *out)
{
    Grid grid = { .devices = arena_try(arena, sizeof *grid.devices * (size_t)ndevices) };
    if (!grid.devices)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d devices", ndevices);
    TRY(eat_grid(c, ndevices, &grid));
    TRY(eat_tail(c, &grid));
    if (c->at != c->text.n)
        return bad(c, "the end");
    if (grid.rank != rank + grid.ncopies)
        return error_new(CODE_INVALID,
                         "mhlo.sharding \"%.*s\" has %d dimensions of tiles, the "
                         "array has rank %d",
                         STR_ARG(c->text), grid.rank - grid.ncopies, rank);
    return grid_tiling(arena, &grid, rank, ndevices, out);
}

Error *tiling_parse(Arena *arena, Str text, int rank, int ndevices, Tiling *out)
{
    Cursor c = { text, 0 };
    if (eat(&c, "{devices="))
        return parse_devices(arena, &c, rank, ndevices, out);
    int64_t *tiles, *tile_of, device;
    bool is_unreduced = eat(&c, "{unreduced}");
    /* "manual": each device holds the whole of an array of its own.  "maximal": one device
     * has it; others holding the same does no harm. */
    if (eat(&c, "{maximal device=")) {
        TRY(eat_number(&c, &device));
        if (!eat(&c, "}"))
            return bad(&c, "}");
    } else if (!is_unreduced && !eat(&c, "{replicated}") && !eat(&c, "{manual}") &&
               !eat(&c, "{}")) {
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: mhlo.sharding \"%.*s\": expected "
                         "{replicated}, {manual}, {maximal device=0} or {devices=[2,1]<=[2]}",
                         STR_ARG(text));
    }
    if (c.at != text.n)
        return bad(&c, "the end");
    TRY(tiling_blank(arena, rank, ndevices, &tiles, &tile_of));
    *out = (Tiling){ rank, ndevices, tiles, tile_of, 0, NULL };
    if (is_unreduced)
        all_parts(arena, out);
    return NULL;
}
