/* Placement: which tile every device holds, from Shardy's form and from mhlo.sharding. */
#include "ops/sharding.h"

#include "../check.h"
#include "base/arena.h"

static Arena *arena;

/* "2x1: 0,0 1,0" is tiles 2x1, device 0 holds (0,0), device 1 holds (1,0). */
static const char *show(Tiling t)
{
    static Text out;
    text_free(&out);
    out = (Text){ 0 };
    for (int i = 0; i < t.rank; i++)
        text_printf(&out, "%s%d", i ? "x" : "", (int)t.tiles[i]);
    text_printf(&out, ":");
    for (int d = 0; d < t.ndevices; d++)
        for (int i = 0; i < t.rank; i++)
            text_printf(&out, "%s%d", i ? "," : " ", (int)t.tile_of[d * t.rank + i]);
    return text_cstr(&out);
}

static const char *parsed(const char *text, int rank, int ndevices)
{
    Tiling t;
    static Text out;
    text_free(&out);
    out = (Text){ 0 };
    Error *error = tiling_parse(arena, str_of(text), rank, ndevices, &t);
    text_printf(&out, "%s", error ? error_text(error) : show(t));
    error_free(error);
    return text_cstr(&out);
}

static void strings(void)
{
    CHECK_STR(parsed("{replicated}", 2, 2), "1x1: 0,0 0,0");
    CHECK_STR(parsed("{manual}", 1, 2), "1: 0 0");
    CHECK_STR(parsed("{maximal device=1}", 1, 2), "1: 0 0");
    CHECK_STR(parsed("{devices=[4,1]<=[4]}", 2, 4), "4x1: 0,0 1,0 2,0 3,0");
    CHECK_STR(parsed("{devices=[2,2]0,2,1,3}", 2, 4), "2x2: 0,0 1,0 0,1 1,1");
    CHECK_STR(parsed("{devices=[2,2]<=[2,2]T(1,0)}", 2, 4), "2x2: 0,0 1,0 0,1 1,1");
    CHECK_STR(parsed("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2, 4),
              "2x1: 0,0 0,0 1,0 1,0");
    CHECK_STR(parsed("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2, 4),
              "2x1: 0,0 1,0 0,0 1,0");
    CHECK_STR(parsed("{devices=[2,1,2]<=[4] last_tile_dims={manual, replicated}}", 1, 4),
              "2: 0 0 1 1");
    CHECK_STR(parsed("{devices=[4]<=[4]}", 2, 4),
              "mhlo.sharding \"{devices=[4]<=[4]}\" has 1 dimensions of tiles, the array has "
              "rank 2");
    CHECK_STR(parsed("{devices=[2]<=[2]}", 1, 4),
              "mhlo.sharding \"{devices=[2]<=[2]}\" is for 2 devices, the program for 4");
    CHECK_STR(parsed("{devices=[2]0,0}", 1, 2), "device 0 in a placement is there twice: each of 0 "
                                                "to 1 must be there once");
    CHECK_STR(parsed("{devices=[2]<=[2]T(1)}", 1, 2),
              "mhlo.sharding \"{devices=[2]<=[2]T(1)}\", character 22: expected a permutation of "
              "the dimensions after <=");
    CHECK_STR(parsed("{devices=[2]<=[3]}", 1, 2),
              "mhlo.sharding \"{devices=[2]<=[3]}\", character 18: expected as many devices after "
              "<= as the grid has");
    CHECK_STR(parsed("{devices=[2]<=[2]", 1, 2),
              "mhlo.sharding \"{devices=[2]<=[2]\", character 18: expected }, "
              "last_tile_dim_replicate or last_tile_dims={...}");
}

/* mesh ["a"=2, "b"=4] with the given device ids. */
static Mesh *mesh_ab(Ints ids)
{
    static Str names[2];
    static int64_t sizes[2] = { 2, 4 };
    static Mesh mesh;
    names[0] = STR("a");
    names[1] = STR("b");
    mesh = (Mesh){ STR("mesh"), 2, names, sizes, ids };
    return &mesh;
}

static const char *placed(const Sharding *s, int rank, int ndevices)
{
    Tiling t;
    static Text out;
    text_free(&out);
    out = (Text){ 0 };
    Error *error = sharding_tiling(arena, s, rank, ndevices, &t);
    text_printf(&out, "%s", error ? error_text(error) : show(t));
    error_free(error);
    return text_cstr(&out);
}

/* A sharding of the mesh at hand. */
#define OF(n, list) (&(Sharding){ .mesh = mesh, .rank = n, .dims = list })

static void shardings(void)
{
    AxisRef a = { 0, 1, 2 }, b = { 1, 1, 4 }, b_major = { 1, 1, 2 }, b_minor = { 1, 2, 2 };
    DimSharding by_b[] = { { 1, &b, false }, { 0, NULL, true } };
    DimSharding by_ba[] = { { 2, (AxisRef[]){ b, a }, true } };
    DimSharding by_major[] = { { 1, &b_major, false } }, by_minor[] = { { 1, &b_minor, false } };
    DimSharding twice[] = { { 3, (AxisRef[]){ a, b, a }, false } };
    DimSharding both[] = { { 1, &b_major, false }, { 1, &b, false } };
    Mesh *mesh = mesh_ab((Ints){ 0 });
    Sharding s = { .mesh = mesh, .rank = 2, .dims = by_b };
    CHECK_STR(placed(NULL, 1, 2), "1: 0 0");
    CHECK_STR(placed(&s, 2, 8), "4x1: 0,0 1,0 2,0 3,0 0,0 1,0 2,0 3,0");
    Text text = { 0 };
    sharding_print(&text, &s);
    CHECK_STR(text_cstr(&text), "<@mesh, [{\"b\"}, {?}]>");
    CHECK_STR(placed(&s, 1, 8), "a sharding of 2 dimensions for an array of rank 1");
    CHECK_STR(placed(&s, 2, 4), "mesh @mesh is of 8 devices, the program for 4");
    DimSharding by_one[] = { { 1, &(AxisRef){ 0, 1, 1 }, false } };
    Mesh single = { STR("single"), 1, (Str[]){ STR("i") }, (int64_t[]){ 1 }, { 0 } };
    CHECK_STR(placed(&(Sharding){ .mesh = &single, .rank = 1, .dims = by_one }, 1, 4),
              "1: 0 0 0 0");
    CHECK_STR(placed(OF(1, by_ba), 1, 8), "8: 0 2 4 6 1 3 5 7");
    CHECK_STR(placed(OF(1, by_major), 1, 8), "2: 0 0 1 1 0 0 1 1");
    CHECK_STR(placed(OF(1, by_minor), 1, 8), "2: 0 1 0 1 0 1 0 1");
    CHECK_STR(placed(OF(1, twice), 1, 8), "axis \"a\" cuts dimension 0 twice");
    CHECK_STR(placed(OF(2, both), 2, 8),
              "axis \"b\" cuts dimension 0 and dimension 1: it may cut one, once");
    mesh = mesh_ab((Ints){ 8, (int64_t[]){ 7, 6, 5, 4, 3, 2, 1, 0 } });
    CHECK_STR(placed(OF(1, by_ba), 1, 8), "8: 7 5 3 1 6 4 2 0");
    mesh->name = (Str){ 0 };
    Text inlined = { 0 };
    sharding_print(&inlined, OF(1, by_minor));
    CHECK_STR(text_cstr(&inlined), "<mesh<[\"a\"=2, \"b\"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, "
                                   "0]>, [{\"b\":(2)2}]>");
    Sharding parts = { .mesh = mesh, .rank = 1, .dims = by_minor, .unreduced = { 1, &a, false } };
    Tiling t;
    CHECK(!sharding_tiling(arena, &parts, 1, 8, &t));
    CHECK(t.nparts == 2 && t.part_of[7] == 0 && t.part_of[4] == 0 && t.part_of[3] == 1);
    CHECK(!tiling_equal(t, tiling_summed(t)) && !sharding_equal(&parts, OF(1, by_minor)));
    parts.unreduced.axes = &b;
    CHECK_STR(placed(&parts, 1, 8), "unreduced axis \"b\" is listed twice or cuts a dimension");
    CHECK(sharding_equal(OF(1, by_minor), OF(1, by_minor)));
    CHECK(!sharding_equal(OF(1, by_minor), OF(1, by_major)));
    text_free(&text);
    text_free(&inlined);
}

static void locals(void)
{
    Tiling t;
    Type local;
    Error *error = tiling_parse(arena, STR("{devices=[2,1]<=[2]}"), 2, 2, &t);
    CHECK(!error);
    CHECK(!tiling_is_replicated(t) && tiling_is_replicated(tiling_replicated(arena, 2, 2)));
    CHECK(tiling_equal(t, t) && !tiling_equal(t, tiling_replicated(arena, 2, 2)));
    error = tiling_local(arena, t, (Type){ F32, 2, (int64_t[]){ 4, 3 } }, &local);
    CHECK(!error);
    CHECK_STR(type_name(local), "f32[2,3]");
    error = tiling_local(arena, t, (Type){ F32, 2, (int64_t[]){ 3, 3 } }, &local);
    CHECK_STR(error_text(error), "f32[3,3] cannot be cut into 2 equal tiles along dimension 0: its "
                                 "extent must be a multiple of 2");
    error_free(error);
}

int main(void)
{
    arena = arena_new();
    strings();
    shardings();
    locals();
    arena_free(arena);
    return check_done();
}
