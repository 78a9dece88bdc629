/* saved.c - functions of C saved as machine code, and loaded again (tests/ahead.sh): the same numbers to
 * the last bit, for one device and for several, with what they captured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti.h>
#include <unistd.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #x);                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static tt table; /* captured */

static tt layer(tt w, tt x)
{
    return tt_tanh(tt_add(tt_matmul(x, w), tt_sum(table)));
}

static tt mean(tt x)
{
    return tt_sub(tt_sin(x), tt_pmean(x, "i"));
}

static tt twice(tt x)
{
    return tt_mul(x, 2);
}

static bool is_same(tt a, tt b, int n)
{
    float x[64], y[64];
    size_t bytes = sizeof *x * (size_t)n;
    CHECK(bytes <= sizeof x && tt_read(a, x, bytes) && tt_read(b, y, bytes));
    return memcmp(x, y, bytes) == 0;
}

static void says(const char *expected)
{
    const char *said = tt_error() ? tt_error() : "nothing";
    if (!strstr(said, expected)) {
        printf("expected: %s\n     got: %s\n", expected, said);
        exit(1);
    }
    tt_clear_error();
}

/* What tt_init says of memory and time holds. */
static int limits(const char *endless)
{
    tt_init(.devices = 2, .memory = 1 << 20, .seconds = 0.2);
    tt_on_error(NULL, NULL);
    tt_wait(tt_call(tt_load(endless), tt_arange(TT_F32, 4)));
    says("was stopped: it took longer than 0.2 seconds");
    tt_wait(tt_add(tt_arange(TT_F32, 1 << 20), 1));
    says("of 1048576 (TUTTI_DEVICE_MEMORY)");
    CHECK(tt_item(tt_sum(tt_arange(TT_F32, 4))) == 6);
    return 0;
}

/* saved FOLDER, or saved FOLDER ENDLESS.mlir */
int main(int argc, char **argv)
{
    if (argc == 3)
        return limits(argv[2]);
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    tt_init(.devices = 4);
    table = tt_reshape(tt_arange(TT_F32, 300), 30, 10);
    tt w = tt_div(tt_reshape(tt_arange(TT_F32, 12), 3, 4), 1e6);
    tt x = tt_div(tt_reshape(tt_arange(TT_F32, 24), 8, 3), 7);
    CHECK(tt_save_compiled("layer.so", layer, w, x));
    tt_fn loaded = tt_load("layer.so");
    CHECK(loaded && is_same(tt_call(loaded, w, x), layer(w, x), 32));
    CHECK(tt_item(tt_sum(tt_call(tt_jit(twice), tt_call(loaded, w, x)))) != 0);

    tt_fn each = tt_pmap(mean, .axis_name = "i");
    tt rows = tt_reshape(x, 4, 6);
    CHECK(tt_save_compiled("mean.so", each, rows));
    CHECK(is_same(tt_call(tt_load("mean.so"), rows), tt_call(each, rows), 24));
    CHECK(tt_save_compiled("mean.o", each, rows));

    tt_on_error(NULL, NULL);
    tt_call(loaded, w, w);
    says("layer.so: argument 1 is f32[3,4], and must be f32[8,3]");
    tt_load("none.so");
    says("tt_load: none.so: No such file");
    FILE *file = fopen("broken.so", "w");
    fputs("\177ELF and no more", file);
    fclose(file);
    tt_load("broken.so");
    says("tt_load: broken.so cannot be loaded: ");
    CHECK(!tt_save_compiled("nowhere/layer.o", layer, w, x));
    says("tt_save_compiled: nowhere/layer.h cannot be written: No such file");
}
