/* hostile.c - each program is compiled and run with the n-th request for memory refused, for
 * every n until there are no more.
 *
 *     hostile [--first n] [--most n] [--samples n] [--mode once|all|llvm] program ...
 *
 * A round is: a client, the program compiled, its arguments handed over, a run, its results
 * fetched, everything destroyed.  Each time the results are the right ones to the bit, or there is
 * an error, RESOURCE_EXHAUSTED with a message; no block stays behind; and the next round, in which
 * nothing fails, gives the right results.  With --samples only that many n are tried, spread evenly
 * over all there are, and different ones for each program. */
#include "base/guard.h"
#include "base/sync.h"
#include "cli/execute.h"
#include "hlo/module.h"
#include "tests/hostile/memory.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARRAYS = 256, SECONDS = 60 };

typedef struct Trial {
    const char *path;
    Text program;
    int ndevices;
    int nargs, nresults;
    Array args[MOST_ARRAYS], right[MOST_ARRAYS], got[MOST_ARRAYS];
} Trial;

typedef struct Request {
    int64_t first, most, samples;
    FailMode mode;
    const char *mode_name;
} Request;

static Pjrt plugin;
static const Hostile *engine;
static int failures;

/* What is being tried, for the last words of a process that dies. */
static char now[512];

static void last_words(int signal)
{
    const char *how = signal == SIGALRM ? " hangs\n" : " crashes\n";
    (void)!write(2, now, strlen(now));
    (void)!write(2, how, strlen(how));
    _exit(1);
}

static void complain(const char *what)
{
    printf("%s %s\n", now, what);
    fflush(stdout);
    failures++;
}

/* ---- one round ---- */

static void drop_results(Trial *t)
{
    for (int i = 0; i < t->nresults; i++)
        array_free(&t->got[i]);
    memset(t->got, 0, sizeof t->got);
}

static Error *describe(Trial *t, PJRT_LoadedExecutable *executable)
{
    const TuttiProgram *p;
    TRY(pjrt_error(plugin.api, plugin.tutti->describe(executable, &p)));
    if (p->nargs > MOST_ARRAYS || p->nresults > MOST_ARRAYS)
        return error_new(CODE_UNIMPLEMENTED, "more than %d arrays", MOST_ARRAYS);
    t->nargs = p->nargs;
    t->nresults = p->nresults;
    for (int i = 0; i < p->nargs; i++) {
        const TuttiArray *a = &p->args[i];
        Type type = { .rank = a->rank, .dims = a->whole };
        if (!element_of_pjrt((int)a->type, &type.element))
            return error_new(CODE_UNIMPLEMENTED, "an unknown element type");
        TRY(array_new(type, &t->args[i]));
        array_fill_random(&t->args[i], (uint64_t)i + 1);
    }
    return NULL;
}

static Error *run_trial(Trial *t, bool is_first)
{
    PJRT_LoadedExecutable *executable = NULL;
    TRY(engine_start(&plugin, t->ndevices));
    TRY(pjrt_compile(&plugin, (Str){ t->program.at, t->program.n },
                     (CompileOptions){ .name = t->path, .no_fold = true }, &executable));
    Error *error = is_first ? describe(t, executable) : NULL;
    if (!error)
        error = run_whole(&plugin, executable, t->args, t->got);
    pjrt_release(&plugin, executable);
    return error;
}

static Error *round_of(Trial *t, bool is_first)
{
    alarm(SECONDS);
    Error *error = run_trial(t, is_first);
    error_free(pjrt_destroy(&plugin));
    alarm(0);
    return error;
}

/* ---- what must hold after it ---- */

static bool is_right(const Trial *t)
{
    bool is = true;
    for (int i = 0; i < t->nresults && is; i++)
        is = type_equal(t->got[i].type, t->right[i].type) &&
             memcmp(t->got[i].data, t->right[i].data, type_bytes(t->right[i].type)) == 0;
    return is;
}

static void check_clean_round(Trial *t)
{
    Error *error = round_of(t, false);
    if (error)
        complain(error_text(error));
    else if (!is_right(t))
        complain("then gives a wrong result, though nothing fails");
    error_free(error);
    drop_results(t);
}

/* False: the program asks for less memory than that. */
static bool try_one(Trial *t, const Request *r, int64_t n, int64_t live, bool checks_again)
{
    snprintf(now, sizeof now, "%s: request %lld (%s)", t->path, (long long)n, r->mode_name);
    engine->fail_at(n, r->mode);
    Error *error = round_of(t, false);
    bool is_reached = engine->asked() >= n;
    engine->fail_at(0, FAIL_ONCE);
    if (!error && !is_right(t))
        complain("gives a wrong result");
    if (error && (error_code(error) != CODE_EXHAUSTED || !*error_text(error)))
        complain(error_text(error));
    error_free(error);
    drop_results(t);
    if (checks_again)
        check_clean_round(t);
    int64_t more = engine->live() - live;
    if (more > 0 && r->mode != FAIL_LLVM) {
        char text[64];
        snprintf(text, sizeof text, "leaves %lld blocks behind", (long long)more);
        complain(text);
        engine->print_newest((int)more);
    }
    return is_reached;
}

/* ---- all of a program ---- */

static void count_devices(void *user)
{
    Trial *t = user;
    Module *m = NULL;
    Error *error = read_program(t->program.at, t->program.n, t->path, &m);
    t->ndevices = 1;
    if (!error)
        error = module_devices(m, &t->ndevices);
    error_free(error);
    module_free(m);
}

static Error *file_read(const char *path, Text *out)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_new(CODE_NOT_FOUND, "cannot be read");
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        text_add(out, block, n);
    fclose(file);
    return NULL;
}

/* Twice before counting: what the engine makes once and keeps is then there. */
static Error *prepare(Trial *t)
{
    TRY(file_read(t->path, &t->program));
    TRY(thread_run_deep("reading", count_devices, t));
    TRY(round_of(t, true));
    memcpy(t->right, t->got, sizeof t->right);
    for (int i = 0; i < t->nresults; i++)
        t->right[i].type.dims = t->right[i].dims_;
    memset(t->got, 0, sizeof t->got);
    for (int i = 0; i < 2; i++) {
        TRY(round_of(t, false));
        drop_results(t);
    }
    return NULL;
}

static void try_program(Trial *t, const Request *r, int number)
{
    snprintf(now, sizeof now, "%s:", t->path);
    Error *error = prepare(t);
    if (error)
        complain(error_text(error));
    error_free(error);
    if (error)
        return;
    engine->fail_at(0, r->mode);
    error_free(round_of(t, false));
    drop_results(t);
    int64_t all = engine->asked(), live = engine->live(), tried = 0;
    int64_t step = r->samples && all > r->samples ? all / r->samples : 1;
    int64_t n = r->first + number % step, most = r->most ? r->most : all + 100;
    for (; n <= most && try_one(t, r, n, live, !r->samples || tried % 16 == 0); n += step)
        tried++;
    printf("%s: %lld requests, %lld refused (%s)\n", t->path, (long long)all, (long long)tried,
           r->mode_name);
    fflush(stdout);
}

static void trial_free(Trial *t)
{
    for (int i = 0; i < t->nargs; i++)
        array_free(&t->args[i]);
    for (int i = 0; i < t->nresults; i++)
        array_free(&t->right[i]);
    text_free(&t->program);
    heap_free(t);
}

static bool option(int *i, int argc, char **argv, const char *name, int64_t *to)
{
    if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc)
        return false;
    *to = atoll(argv[++*i]);
    return true;
}

static FailMode mode_named(const char *name)
{
    return strcmp(name, "all") == 0 ? FAIL_ALL : strcmp(name, "llvm") == 0 ? FAIL_LLVM : FAIL_ONCE;
}

int main(int argc, char **argv)
{
    Request r = { .first = 1, .mode_name = "once" };
    Error *error = engine_load(&plugin);
    const Hostile *(*get)(void) = error ? NULL : dlsym(plugin.library, "hostile");
    if (!get) {
        printf("%s\n", error ? error_text(error) : "the plugin is not of the hostile build");
        return 1;
    }
    engine = get();
    static const int signals[] = { SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], last_words);
    for (int i = 1; i < argc; i++) {
        if (option(&i, argc, argv, "--first", &r.first) ||
            option(&i, argc, argv, "--most", &r.most) ||
            option(&i, argc, argv, "--samples", &r.samples))
            continue;
        if (strcmp(argv[i], "--mode") == 0 && i + 1 < argc) {
            r.mode_name = argv[++i];
            r.mode = mode_named(r.mode_name);
            continue;
        }
        Trial *t = heap_new(sizeof *t, "a trial");
        t->path = argv[i];
        try_program(t, &r, i);
        trial_free(t);
    }
    printf("%d failures\n", failures);
    return failures > 0;
}
