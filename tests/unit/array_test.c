/* array_test.c - arrays cut over devices and joined again, and from one layout to another. */
#include "front/value/array.h"
#include "front/value/report.h"
#include "tests/front.h"

/* A tiling of rank 2 over four devices: rows x cols tiles, row by row, repeated to fill. */
static const ArrayLayout *grid(int rows, int cols, const int *devices)
{
    int64_t tiles[] = { rows, cols }, tile_of[8];
    for (int d = 0; d < 4; d++) {
        tile_of[2 * d] = d % (rows * cols) / cols;
        tile_of[2 * d + 1] = d % cols;
    }
    Tiling tiling = { .rank = 2, .ndevices = 4, .tiles = tiles, .tile_of = tile_of };
    return layout_intern(4, devices, tiling);
}

static const int straight[] = { 0, 1, 2, 3 }, turned[] = { 3, 2, 1, 0 };
static const int64_t dims[] = { 4, 6 };
static const Type type = { I32, 2, dims };

static bool is_ramp(Array *a)
{
    int32_t out[24] = { 0 };
    bool right = array_read(a, out);
    for (int i = 0; i < 24; i++)
        right &= out[i] == i;
    return right;
}

static void test_layouts(void)
{
    CHECK(grid(2, 2, straight) == grid(2, 2, straight));
    CHECK(grid(2, 2, straight) != grid(2, 2, turned));
    CHECK(grid(1, 1, straight) == layout_replicated(4, straight));
    CHECK(layout_is_whole(layout_single(1)) && !layout_is_whole(grid(2, 1, straight)));
    CHECK(layout_single(0) == layout_replicated(1, straight));
}

/* Every layout to every other. */
static void test_relay(void)
{
    int32_t ramp[24];
    for (int i = 0; i < 24; i++)
        ramp[i] = i;
    const ArrayLayout *all[] = {
        layout_single(0),     layout_single(2),     layout_replicated(4, turned),
        grid(4, 1, straight), grid(2, 2, straight), grid(2, 2, turned),
        grid(1, 2, straight), grid(2, 1, turned),   layout_replicated(2, turned)
    };
    enum { N = sizeof all / sizeof *all };
    for (int i = 0; i < N; i++) {
        Array *a = array_from_host(type, ramp, all[i]);
        CHECK(a && is_ramp(a) && array_wait(a));
        for (int k = 0; a && k < N; k++) {
            Array *b = array_reshard(a, all[k]);
            CHECK(b && b->layout == all[k] && is_ramp(b));
            Array *again = array_reshard(a, all[k]);
            CHECK(again && is_ramp(again));
            array_release(b);
            array_release(again);
        }
        array_release(a);
    }
    CHECK_SAID("");
}

/* Part d of a 2x2 grid is what it should be. */
static void test_parts(void)
{
    int32_t ramp[24], tile[6];
    for (int i = 0; i < 24; i++)
        ramp[i] = i;
    Array *a = array_from_host(type, ramp, grid(2, 2, straight));
    Type part = { I32, 2, (int64_t[]){ 2, 3 } };
    Error *error = client_download(array_buffers(a)[3], part, tile);
    CHECK(!error && tile[0] == 15 && tile[2] == 17 && tile[3] == 21 && tile[5] == 23);
    CHECK(array_is_sole(a));
    Array *half = array_reshard(a, grid(2, 2, straight));
    CHECK(!array_is_sole(a));
    array_release(half);
    atomic_store(&a->is_donated, true);
    CHECK(!array_read(a, ramp));
    CHECK_SAID("the memory of this i32[4,6] was donated to an earlier call: use that call's "
               "result, or leave its .donate out");
    array_release(a);
    CHECK(!array_from_host((Type){ I32, 1, (int64_t[]){ 6 } }, ramp, grid(4, 1, straight)));
    CHECK_SAID("i32[6] cannot be cut into 4 equal parts along axis 0");
}

static void test_small_and_empty(void)
{
    double x = 2.5, back = 0;
    Array *a = array_from_host(type_scalar(F64), &x, layout_single(0));
    CHECK(atomic_load(&a->buffers_) == NULL); /* no device has seen it */
    Array *b = array_reshard(a, layout_replicated(4, straight));
    CHECK(array_buffers(b) != NULL);
    Error *error = client_download(array_buffers(b)[3], type_scalar(F64), &back);
    CHECK(!error && back == 2.5);
    array_release(b);
    array_release(a);
    Type none = { F32, 2, (int64_t[]){ 0, 4 } };
    Array *empty = array_from_host(none, &x, layout_single(0));
    CHECK(empty && array_buffers(empty) && array_read(empty, &back));
    array_release(empty);
}

int main(void)
{
    front_start(4);
    test_layouts();
    test_relay();
    test_parts();
    test_small_and_empty();
    return check_done();
}
