/* save.c - several processes save, restore and read together, and one of them has no memory: request n of those that
 * it makes for it is refused, for n = 1, 2, ...  Both hear of it, in that call: none waits, and none takes for saved
 * what is not.  Then the same with nothing refused is right.
 *
 *     save FOLDER          writes FOLDER/PROCESS: what each call gave, to be compared */
#include "tests/hostile/memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti.h>
#include <unistd.h>

enum { SECONDS = 30, MOST = 400 };

typedef struct State {
    tt rows, few;
} State;

static const char *const names[] = { "rows", "few" };
static char path[4096], now[64];

static void last_words(int signal)
{
    (void)signal;
    (void)!write(2, now, strlen(now));
    _exit(2);
}

static bool save(State *s)
{
    return tt_save(path, *s, .names = names);
}

static bool restore(State *s)
{
    return tt_restore(path, s, .names = names) >= 0;
}

static bool read_rows(State *s)
{
    float rows[64];
    return tt_read(s->rows, rows, sizeof rows) && rows[63] == 63;
}

/* Gives how many calls were refused here, or -1: one was wrong though nothing was refused. */
static int play(const char *name, bool (*call)(State *), State *s, FILE *verdicts)
{
    const Hostile *front = hostile();
    int failed = 0, enough = 0;
    for (int n = 1; n <= MOST && enough < 4; n++) {
        snprintf(now, sizeof now, "%s: request %d: waits, or crashes\n", name, n);
        alarm(SECONDS);
        front->fail_at(tt_process_index() == 1 ? n : 0, FAIL_ONCE);
        bool is_done = call(s);
        front->fail_at(0, FAIL_ONCE);
        fprintf(verdicts, "%s %d: %d\n", name, n, is_done);
        failed += !is_done;
        enough = is_done ? enough + 1 : 0; /* request n is past the last */
        tt_clear_error();
        if (!call(s))
            return fprintf(stderr, "%s after request %d: %s\n", name, n, tt_error()), -1;
    }
    return failed;
}

int main(int argc, char **argv)
{
    char verdicts_path[4096];
    if (argc < 2 || tt_process_count() != 2)
        return fprintf(stderr, "save FOLDER, in two processes\n"), 2;
    signal(SIGALRM, last_words);
    signal(SIGSEGV, last_words);
    signal(SIGABRT, last_words);
    tt_on_error(NULL, NULL);
    snprintf(path, sizeof path, "%s/state.safetensors", argv[1]);
    snprintf(verdicts_path, sizeof verdicts_path, "%s/%d", argv[1], tt_process_index());
    FILE *verdicts = fopen(verdicts_path, "w");
    tt_mesh line = tt_mesh_of({ "d", tt_device_count() });
    State s = { .rows = tt_place(tt_arange(TT_F32, 64), line, "d"), .few = tt_arange(TT_I32, 3) };
    if (!verdicts || !save(&s))
        return fprintf(stderr, "%s\n", tt_error()), 2;
    int saved = play("save", save, &s, verdicts);
    int restored = saved < 0 ? -1 : play("restore", restore, &s, verdicts);
    int read = restored < 0 ? -1 : play("read", read_rows, &s, verdicts);
    fclose(verdicts);
    if (tt_process_index() == 0)
        printf("called off: %d saves, %d restores, %d reads\n", saved, restored, read);
    return saved <= 0 || restored <= 0 || read <= 0;
}
