/* start.c - how long a command takes from its start to its end, and the most memory it has: the best of
 * some runs.
 *
 *     start RUNS COMMAND WORD ... */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "start RUNS COMMAND WORD ...\n"), 2;
    double best = 1e30;
    long peak = 0;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < atoi(argv[1]); i++) {
        pid_t child;
        int state;
        struct rusage used;
        double began = now_ms();
        if (posix_spawnp(&child, argv[2], &quiet, NULL, argv + 2, environ))
            return fprintf(stderr, "%s cannot be started\n", argv[2]), 1;
        wait4(child, &state, 0, &used);
        double took = now_ms() - began;
        if (!WIFEXITED(state) || WEXITSTATUS(state))
            return fprintf(stderr, "%s failed\n", argv[2]), 1;
        best = took < best ? took : best;
        peak = used.ru_maxrss;
    }
    printf("%.2f ms %.1f MB\n", best, (double)peak / 1024);
}
