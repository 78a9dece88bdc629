/* files_test.c - trees saved and restored: where they lie, what is refused, and a file that is broken. */
#include "tests/front.h"

#include <string.h>

static char path[] = "/tmp/tutti-files-XXXXXX";

typedef struct Net {
    tt w, b;
} Net;

static Net net_of(float start)
{
    float w[8], b[2] = { start, -start };
    for (int i = 0; i < 8; i++)
        w[i] = start + (float)i;
    return (Net){ tt_from(w, 4, 2), tt_from(b, 2) };
}

static bool is_net_of(Net net, float start)
{
    float w[8] = { 0 }, b[2] = { 0 };
    bool is_read = tt_read(net.w, w, sizeof w) && tt_read(net.b, b, sizeof b);
    for (int i = 0; i < 8; i++)
        is_read = is_read && w[i] == start + (float)i;
    return is_read && b[0] == start && b[1] == -start;
}

static void test_there_and_back(void)
{
    static const char *const names[] = { "w", "b" };
    Net net = net_of(1), nothing = { { 0, 0 }, { 0, 0 } };
    unlink(path);
    CHECK(tt_restore(path, &net) == -1);
    CHECK_SAID("");
    CHECK(tt_save(path, net, .step = 41));
    CHECK(tt_restore(path, &nothing) == 41 && is_net_of(nothing, 1));
    CHECK(tt_save(path, net_of(2), .step = 42, .names = names));
    CHECK(tt_restore(path, &net, .names = names) == 42 && is_net_of(net, 2));
    CHECK_SAID("");
}

#define LAYER(F) F(tt, w) F(tt, b)
TT_STRUCT(Layer, LAYER);
#define DEEP(F) F(Layer, first) F(Layer, last)
TT_STRUCT(Deep, DEEP);

/* Names from the struct itself. */
static void test_names(void)
{
    Net a = net_of(1), b = net_of(2);
    Deep deep = { { a.w, a.b }, { b.w, b.b } },
         back = { { { 0, 0 }, { 0, 0 } }, { { 0, 0 }, { 0, 0 } } };
    CHECK(tt_save(path, deep, .names = TT_NAMES(Deep)));
    CHECK(tt_restore(path, &back, .names = TT_NAMES(Deep)) == 0);
    CHECK(is_net_of((Net){ back.last.w, back.last.b }, 2));
    tt_file file = tt_open(path);
    CHECK(is_net_of((Net){ tt_file_get(file, "last.w"), tt_file_get(file, "last.b") }, 2));
    tt_close(file);
    CHECK_SAID("");
}

/* On the devices that the variable's array lies on; in the scope that it lives in. */
static void test_placed(void)
{
    tt_mesh mesh = tt_mesh_of({ "d", 4 });
    Net net = net_of(5);
    net.w = tt_place(net.w, mesh, "d");
    CHECK(tt_save(path, net));
    {
        TT_SCOPE;
        Net other = net_of(9);
        tt_assign(net.b, other.b);
        CHECK(tt_restore(path, &net) == 0);
    }
    CHECK(is_net_of(net, 5));
    const char *text = tt_lower(tt_square, net.w);
    CHECK(strstr(text, "num_partitions = 4"));
    CHECK_SAID("");
}

static void test_refused(void)
{
    Net net = net_of(1), old = net;
    struct {
        tt w, b, c;
    } three = { net.w, net.b, net.b };
    CHECK(tt_save(path, net));
    CHECK(tt_restore(path, &three) == -1);
    CHECK(strstr(front_said(), "has no array named 2; it has 0, 1"));
    static const char *const names[] = { "w", "b" };
    CHECK(tt_restore(path, &net, .names = names) == -1);
    CHECK(strstr(front_said(), " has no array named w; it has 0, 1"));
    Net other = { net.b, net.b };
    CHECK(tt_restore(path, &other) == -1);
    CHECK(strstr(front_said(), ": 0 is f32[4,2], and what it is restored to is f32[2]"));
    Net wide = { tt_astype(net.w, TT_F64), net.b };
    CHECK(tt_restore(path, &wide) == -1);
    CHECK(strstr(front_said(),
                 ": 0 is f32[4,2], and what it is restored to is f64[4,2]: tt_open, tt_file_get "
                 "and tt_astype convert it"));
    CHECK(!tt_save("/tmp/x.npz", net, .step = 3));
    CHECK(strstr(front_said(), "tt_save: /tmp/x.npz: an .npz has no place for the step"));
    static const char *const twice[] = { "w", "w" }, *const few[] = { "w", NULL };
    CHECK(!tt_save(path, other, .names = twice));
    CHECK(strstr(front_said(), "tt_save: two arrays are named w"));
    CHECK(!tt_save(path, net, .names = few));
    CHECK(strstr(front_said(), "tt_save: 1 names for 2 arrays"));
    CHECK(tt_restore(path, &net, .names = few) == -1);
    CHECK(strstr(front_said(), "tt_restore: 1 names for 2 arrays"));
    Net still = { 0 };
    CHECK(tt_restore(path, &still) == 0 && is_net_of(still, 1));
    CHECK(!tt_save("/tmp/tutti-no-folder/x", net));
    CHECK(strstr(front_said(), "/tmp/tutti-no-folder/x.part cannot be written: No such file"));
    CHECK(old.w.slot == net.w.slot && is_net_of(net, 1));
}

static void test_broken(void)
{
    Net net = net_of(1);
    CHECK(tt_save(path, net_of(7), .step = 3));
    FILE *file = fopen(path, "r+b");
    fseek(file, -1, SEEK_END);
    putc(1, file);
    fclose(file);
    CHECK(tt_restore(path, &net) == -1);
    CHECK(strstr(front_said(), " is damaged: its checksum is "));
    CHECK(is_net_of(net, 1));
    CHECK(truncate(path, 40) == 0);
    CHECK(tt_restore(path, &net) == -1);
    CHECK(strstr(front_said(), " ends early: its header has "));
    CHECK(is_net_of(net, 1));
}

static void test_array_by_array(void)
{
    CHECK(tt_save(path, net_of(3)));
    tt_file file = tt_open(path);
    CHECK(file && tt_file_count(file) == 2 && strcmp(tt_file_name(file, 1), "1") == 0);
    CHECK(is_net_of((Net){ tt_file_get(file, "0"), tt_file_get(file, "1") }, 3));
    CHECK_SAID("");
    tt_file_get(file, "2");
    CHECK(strstr(front_said(), "has no array named 2; it has 0, 1"));
    tt_close(file);
    CHECK(!tt_open("/tmp/tutti-no-such-file"));
    CHECK(strstr(front_said(), "tt_open: /tmp/tutti-no-such-file cannot be read: No such file"));
}

static const char program[] = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                              "  %y = stablehlo.add %x, %x : tensor<2xf32>\n"
                              "  return %y : tensor<2xf32>\n}\n";

static void test_load_text(void)
{
    float x[2] = { 1, 2 };
    char copy[sizeof program];
    memcpy(copy, program, sizeof copy);
    tt_fn f = tt_load_text("twice", copy, sizeof copy - 1);
    memset(copy, 'x', sizeof copy);
    CHECK(f && tt_read(tt_call(f, tt_from(x, 2)), x, sizeof x) && x[0] == 2 && x[1] == 4);
    CHECK_SAID("");
    CHECK(!tt_load_text("nothing", NULL, 0));
    CHECK(strstr(front_said(), "tt_load: nothing"));
}

int main(void)
{
    front_start(4);
    close(mkstemp(path));
    test_there_and_back();
    test_names();
    test_placed();
    test_refused();
    test_broken();
    test_array_by_array();
    test_load_text();
    unlink(path);
    return check_done();
}
