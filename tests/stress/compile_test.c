/* compile_test.c - several threads compile and destroy the same programs: each finds in the cache what
 * another is just letting go of.  And how many threads a compilation starts.  Links the engine. */
#define _GNU_SOURCE
#include "base/sync.h"
#include "tests/seam/execute.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 150, KERNELS = 120 };

static const char *const texts[] = {
    "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %y = stablehlo.add %x, %x : tensor<3xf32>\n  return %y : tensor<3xf32>\n}\n",
    "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %y = stablehlo.multiply %x, %x : tensor<3xf32>\n  return %y : tensor<3xf32>\n}\n",
};

/* The events of a launch whose handle is gone at once may tell that it was abandoned: no matter. */
static void launch_and_forget(PJRT_LoadedExecutable *loaded, PJRT_Buffer *x)
{
    PJRT_Buffer *y = NULL, *const ins[] = { x }, *const *in = ins, **out = &y;
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
    PJRT_LoadedExecutable_Execute_Args args =
        ARGS(LoadedExecutable_Execute, .executable = loaded, .options = &options,
             .argument_lists = &in, .num_devices = 1, .num_args = 1, .output_lists = &out);
    OK(api->PJRT_LoadedExecutable_Execute(&args));
    unload(loaded);
    release(y);
}

/* Every second launch is one whose result is wanted. */
static void *compile_and_destroy(void *user)
{
    int number = *(int *)user;
    for (int i = 0; i < ROUNDS; i++) {
        float in[3] = { 1, 2, 3 }, out[3] = { 0 };
        int which = (i + number) % 7 == 0;
        PJRT_Buffer *x = send(0, 3, in), *y = NULL;
        PJRT_LoadedExecutable *loaded = load(texts[which]);
        if (i % 2) {
            launch_and_forget(loaded, x);
        } else {
            PJRT_Buffer *const ins[] = { x }, *const *list = ins, **outs = &y;
            PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
            PJRT_LoadedExecutable_Execute_Args args = ARGS(
                LoadedExecutable_Execute, .executable = loaded, .options = &options,
                .argument_lists = &list, .num_devices = 1, .num_args = 1, .output_lists = &outs);
            OK(api->PJRT_LoadedExecutable_Execute(&args));
            CHECK_STR(receive(y, 3, out), "");
            CHECK(out[2] == (which ? 9 : 6));
            release(y);
            unload(loaded);
        }
        release(x);
    }
    return NULL;
}

static void test_same_programs(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, compile_and_destroy, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- threads ---- */

/* Threads of that name that there are now. */
static int count_threads(const char *name)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[300], found[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(found, sizeof found, file))
            found[strcspn(found, "\n")] = 0;
        if (file)
            fclose(file);
        n += !strcmp(found, name);
    }
    if (tasks)
        closedir(tasks);
    return n;
}

static _Atomic bool is_compiled;

static void *watch(void *user)
{
    int *most = user;
    while (!atomic_load(&is_compiled)) {
        int n = count_threads("kernels");
        *most = n > *most ? n : *most;
    }
    return NULL;
}

/* Compiles many kernels on so many cores; the most threads beside the one that compiles. */
static int most_threads(const char *text)
{
    pthread_t watcher;
    int most = 0;
    atomic_store(&is_compiled, false);
    CHECK(pthread_create(&watcher, NULL, watch, &most) == 0);
    unload(load(text));
    atomic_store(&is_compiled, true);
    pthread_join(watcher, NULL);
    return most;
}

/* Products of different shapes: each is a kernel of its own. */
static char *many_kernels(int first)
{
    char *text = malloc(KERNELS * 400), *at = text;
    at += sprintf(at, "func.func @main(%%x: tensor<%dx4xf32>) -> tensor<f32> {\n", first);
    at += sprintf(at, "%%zero = stablehlo.constant dense<0.0> : tensor<f32>\n");
    for (int i = 0; i < KERNELS; i++)
        at += sprintf(at,
                      "%%s%d = stablehlo.slice %%x [0:%d, 0:4] : (tensor<%dx4xf32>) -> "
                      "tensor<%dx4xf32>\n"
                      "%%r%d = stablehlo.reduce(%%s%d init: %%zero) applies stablehlo.add across "
                      "dimensions = [0, 1] : (tensor<%dx4xf32>, tensor<f32>) -> tensor<f32>\n",
                      i, i + 1, first, i + 1, i, i, i + 1);
    for (int i = 1; i < KERNELS; i++)
        at += sprintf(at, "%%t%d = stablehlo.add %%%c%d, %%r%d : tensor<f32>\n", i,
                      i > 1 ? 't' : 'r', i - 1, i);
    sprintf(at, "return %%t%d : tensor<f32>\n}\n", KERNELS - 1);
    return text;
}

static void test_compile_threads(void)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    char *text = many_kernels(KERNELS), *other = many_kernels(KERNELS + 1);
    int cores = cores_allowed(), most = most_threads(text);
    printf("%d cores: at most %d threads beside the one that compiles\n", cores, most);
    CHECK(most <= cores - 1 && (cores == 1 || most > 0));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(most_threads(other) == 0);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
    free(text);
    free(other);
}

int main(void)
{
    client_start("1");
    test_same_programs();
    test_compile_threads();
    client_end();
    return check_done();
}
