/* unload_test.c - the plugin loaded, used and unloaded, again and again: nothing stays behind, and
 * threads that it ran on may end later.
 *
 * What may stay, of each cycle, is the C library's own: it keeps a few hundred bytes in its books
 * of libraries, and the thread-local variables of the last one (4 KB) until the next is loaded. */
#define _GNU_SOURCE
#include "tests/seam/plugin_file.h"

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

enum { N = 1024, CYCLES = 20, MOST_BYTES = 2 << 10 /* of a cycle */ };

/* A product and a sort by a comparison of its own: both keep memory for each thread.  Small enough
 * to be run on the thread that asks. */
static const char program[] =
    "func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {\n"
    "  %a = stablehlo.reshape %x : (tensor<1024xf32>) -> tensor<32x32xf32>\n"
    "  %b = stablehlo.dot %a, %a : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>\n"
    "  %c = stablehlo.reshape %b : (tensor<32x32xf32>) -> tensor<1024xf32>\n"
    "  %d = \"stablehlo.sort\"(%c) ({\n"
    "  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
    "    %s = stablehlo.multiply %p, %p : tensor<f32>\n"
    "    %t = stablehlo.multiply %q, %q : tensor<f32>\n"
    "    %r = stablehlo.compare LT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    "    stablehlo.return %r : tensor<i1>\n"
    "  }) {dimension = 0 : i64} : (tensor<1024xf32>) -> tensor<1024xf32>\n"
    "  return %d : tensor<1024xf32>\n"
    "}\n";

/* Ones: each element of the product is 32, in any order. */
static void use(void)
{
    static float x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = 1;
    client_start("2");
    PJRT_LoadedExecutable *loaded = load(program);
    PJRT_Buffer *in = send(0, N, x), *out;
    CHECK_STR(execute(loaded, 1, 1, &in, 1, &out), "");
    CHECK_STR(receive(out, N, y), "");
    bool is_right = true;
    for (int i = 0; i < N; i++)
        is_right &= y[i] == 32;
    CHECK(is_right);
    release(in);
    release(out);
    unload(loaded);
    client_end();
}

static bool is_mapped(void)
{
    char line[1024];
    bool is_found = false;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        is_found |= strstr(line, "pjrt_plugin_tutti") != NULL;
    if (file)
        fclose(file);
    return is_found;
}

static void close_library(void)
{
    CHECK(dlclose(engine.library) == 0);
    CHECK(!is_mapped());
}

static size_t address_space(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    if (file)
        fclose(file);
    return (size_t)(pages * sysconf(_SC_PAGESIZE));
}

static size_t malloced(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void test_cycles(void)
{
    size_t blocks = 0, space = 0;
    for (int i = -10; i < CYCLES; i++) { /* before the first, malloc's caches of threads fill */
        if (i == 0)
            blocks = malloced(), space = address_space();
        use();
        close_library();
    }
    long more_blocks = (long)(malloced() - blocks), more_space = (long)(address_space() - space);
    printf("%d cycles: %ld bytes of malloc's, %ld bytes of address space more\n", CYCLES,
           more_blocks, more_space);
#ifndef __SANITIZE_ADDRESS__ /* whose own memory grows, and which looks for what is lost itself */
    CHECK(more_blocks < CYCLES * MOST_BYTES);
    CHECK(more_space < 4 << 20);
#endif
}

/* ---- a thread that is there when the plugin is gone ---- */

static sem_t used, closed;

static void *use_and_stay(void *user)
{
    use();
    sem_post(&used);
    sem_wait(&closed);
    return user;
}

static void test_thread_ends_later(void)
{
    pthread_t thread;
    sem_init(&used, 0, 0);
    sem_init(&closed, 0, 0);
    CHECK(pthread_create(&thread, NULL, use_and_stay, NULL) == 0);
    sem_wait(&used);
    close_library();
    sem_post(&closed);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
    mallopt(M_ARENA_MAX, 1); /* arenas would come and stay, one for each thread */
    test_cycles();
    test_thread_ends_later();
    return check_done();
}
