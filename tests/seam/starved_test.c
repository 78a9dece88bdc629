/* starved_test.c - compiled code that finds no memory while it runs: an error that says how much was
 * asked for, no device left waiting, and the next run is as good as the first.  The system is made to
 * refuse by a limit on the process's addresses.  Links the engine. */
#include "tests/seam/execute.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

enum { N = 1 << 20 };

/* A comparison that no key stands for, so that it is called: by |x - 5|. */
#define SORT(devices, meets)                                                                       \
    "module attributes {mhlo.num_replicas = " devices " : i32} {\n"                                \
    "func.func public @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {\n"                   \
    "%s = \"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({\n"                   \
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"                                                    \
    "%c = stablehlo.constant dense<5.0> : tensor<f32>\n"                                           \
    "%d = stablehlo.subtract %a, %c : tensor<f32>\n%e = stablehlo.abs %d : tensor<f32>\n"          \
    "%f = stablehlo.subtract %b, %c : tensor<f32>\n%g = stablehlo.abs %f : tensor<f32>\n"          \
    "%l = stablehlo.compare LT, %e, %g : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"               \
    "stablehlo.return %l : tensor<i1>\n}) : (tensor<1048576xf32>) -> tensor<1048576xf32>\n" meets  \
    "}\n}\n"
#define ALONE "return %s : tensor<1048576xf32>\n"
#define MEETS                                                                                      \
    "%r = \"stablehlo.all_reduce\"(%s) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> "    \
    "({\n"                                                                                         \
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"                                                    \
    "%m = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %m : tensor<f32>\n"                 \
    "}) : (tensor<1048576xf32>) -> tensor<1048576xf32>\n"                                          \
    "return %r : tensor<1048576xf32>\n"

static const char product[] =
    "func.func public @main(%x: tensor<1048576xf32>) -> tensor<64x64xf32> {\n"
    "%a = stablehlo.reshape %x : (tensor<1048576xf32>) -> tensor<64x16384xf32>\n"
    "%b = stablehlo.reshape %x : (tensor<1048576xf32>) -> tensor<64x16384xf32>\n"
    "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : "
    "(tensor<64x16384xf32>, tensor<64x16384xf32>) -> tensor<64x64xf32>\n"
    "return %r : tensor<64x64xf32>\n}\n";

static size_t bytes_mapped(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void allow(size_t more)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = more ? bytes_mapped() + more : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static float data[N];

#define TWICE(devices)                                                                             \
    "module attributes {mhlo.num_replicas = " devices " : i32} {\n"                                \
    "func.func public @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {\n"                   \
    "%y = stablehlo.add %x, %x : tensor<1048576xf32>\n"                                            \
    "return %y : tensor<1048576xf32>\n}\n}\n"

/* Starts the worker, and leaves behind memory for a result on each device. */
static void warm_up(int ndevices, PJRT_Buffer **in)
{
    PJRT_Buffer *out[2];
    PJRT_LoadedExecutable *loaded = load(ndevices == 1 ? TWICE("1") : TWICE("2"));
    CHECK_STR(execute(loaded, ndevices, 1, in, 1, out), "");
    for (int d = 0; d < ndevices; d++)
        release(out[d]);
    unload(loaded);
}

/* Runs it with room for `more` bytes, in which what it works in does not fit; then with all there
 * is. */
static void check(const char *text, int ndevices, size_t more, const char *message)
{
    client_start("2");
    PJRT_LoadedExecutable *loaded = load(text);
    PJRT_Buffer *in[2], *out[2] = { 0 };
    for (int d = 0; d < ndevices; d++)
        in[d] = send(d, N, data);
    warm_up(ndevices, in);
    allow(more);
    const char *said = execute(loaded, ndevices, 1, in, 1, out);
    allow(0);
    if (!strstr(said, message))
        CHECK_STR(said, message);
    for (int d = 0; d < ndevices && out[d]; d++)
        release(out[d]);
    CHECK_STR(execute(loaded, ndevices, 1, in, 1, out), "");
    for (int d = 0; d < ndevices; d++) {
        release(out[d]);
        release(in[d]);
    }
    unload(loaded);
    client_end();
}

int main(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return 0; /* they map terabytes themselves */
#endif
    for (int i = 0; i < N; i++)
        data[i] = (float)(i % 7919);
    setenv("TUTTI_WORKERS", "1", 1);
    mallopt(M_ARENA_MAX, 1);             /* others have addresses in reserve */
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* what is large comes from the system each time */
    check(SORT("1", ALONE), 1, 2 << 20, "no memory to sort 1048576 elements: 16777216 bytes");
    check(SORT("2", MEETS), 2, 12 << 20, "no memory to sort 1048576 elements: 16777216 bytes");
    check(product, 1, 768 << 10, "no memory to multiply matrices: ");
    return check_done();
}
