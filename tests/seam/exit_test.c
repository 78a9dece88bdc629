/* exit_test.c - a process may end while other threads compile: exit() is the caller's, and what the
 * engine's libraries have in statics must not be destroyed under them. */
#define _GNU_SOURCE
#include "tests/seam/plugin_file.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 60, THREADS = 3 };

/* Programs that differ in a constant: none is in the cache. */
static void *compile_for_ever(void *user)
{
    for (int i = *(int *)user * 100000;; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "func.func @main(%%x: tensor<64xf32>) -> tensor<64xf32> {\n"
                 "  %%c = stablehlo.constant dense<%d.0> : tensor<64xf32>\n"
                 "  %%y = stablehlo.sine %%x : tensor<64xf32>\n"
                 "  %%z = stablehlo.power %%y, %%c : tensor<64xf32>\n"
                 "  %%w = stablehlo.tanh %%z : tensor<64xf32>\n"
                 "  return %%w : tensor<64xf32>\n}\n",
                 i);
        unload(load(text));
    }
    return NULL;
}

static void end_while_compiling(int microseconds)
{
    static int numbers[THREADS];
    client_start("1");
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        numbers[i] = i + 1;
        pthread_create(&thread, NULL, compile_for_ever, &numbers[i]);
    }
    usleep((useconds_t)microseconds);
    exit(7);
}

int main(void)
{
    int nright = 0;
    for (int i = 0; i < TIMES; i++) {
        fflush(stdout);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            end_while_compiling(20000 + 1000 * i);
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        bool is_right = WIFEXITED(status) && WEXITSTATUS(status) == 7;
        if (!is_right)
            printf("time %d: %s %d\n", i, WIFSIGNALED(status) ? "signal" : "code",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        nright += is_right;
    }
    printf("%d of %d ended well\n", nright, TIMES);
    CHECK(nright == TIMES);
    return check_done();
}
