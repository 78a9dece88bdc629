/* check.c - `tutti check`: runs many programs that check themselves (custom_call @check.*).
 *
 * The programs run in a child process, one after the other; it says over a pipe which one
 * it begins and how it went.  When the child dies, or a program takes too long, that program has
 * failed, and another child goes on with the next:
 *
 *     parent <-- "begin 7"  "pass 7"  "begin 8"  "fail 8 <message>"  ... -- child */
#include "command.h"
#include "execute.h"
#include "progress.h"

#include "base/guard.h"
#include "hlo/module.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct CheckRequest {
    char **files;
    int nfiles, seconds;
    bool stats, times, evaluate;
} CheckRequest;

static double milliseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static Error *run_program(Pjrt *engine, Str code, const char *path, const CheckRequest *r)
{
    Module *module;
    TRY(read_program(code.at, code.n, path, &module));
    int ndevices;
    Error *error = module_devices(module, &ndevices);
    module_free(module);
    if (error)
        return error;
    TRY(engine_start(engine, ndevices));
    PJRT_LoadedExecutable *executable;
    CompileOptions options = { .name = path, .evaluate = r->evaluate, .no_fold = true };
    double start = milliseconds(CLOCK_MONOTONIC), used = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    TRY(pjrt_compile(engine, code, options, &executable));
    if (r->times)
        fprintf(stderr, "%8.1f ms to compile, %.1f ms on all cores: %s\n",
                milliseconds(CLOCK_MONOTONIC) - start,
                milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used, path);
    const TuttiProgram *p;
    error = pjrt_error(engine->api, engine->tutti->describe(executable, &p));
    if (!error && p->nargs)
        error = error_new(CODE_INVALID,
                          "it takes %d argument%s; a program that checks itself "
                          "takes none",
                          p->nargs, p->nargs == 1 ? "" : "s");
    if (!error)
        error = run_whole(engine, executable, NULL, NULL);
    pjrt_release(engine, executable);
    return error;
}

static Error *check_file(Pjrt *engine, const char *path, const CheckRequest *r)
{
    Text program;
    TRY(program_read(path, &program));
    Error *error = run_program(engine, (Str){ text_cstr(&program), program.n }, path, r);
    text_free(&program);
    return error;
}

/* What a child does under a guard: it goes on with the next program when it was left. */
typedef struct Job {
    const CheckRequest *request;
    Pjrt *engine;
    const char *path;
    Error *error;
} Job;

static void run_job(void *user)
{
    Job *t = user;
    t->error = check_file(t->engine, t->path, t->request);
}

static void load_engine(void *user)
{
    Job *t = user;
    t->error = engine_load(t->engine);
    if (!t->error && !t->engine->tutti)
        t->error = error_new(CODE_UNIMPLEMENTED, "%s is not Tutti's engine", t->engine->path);
}

static Error *guard_job(const char *doing, GuardFn *f, Job *t)
{
    Error *left = guard_run(doing, f, t);
    return left ? left : t->error;
}

/* In the child.  A message is one line. */
static void report(FILE *out, const char *word, int i, const char *message)
{
    fprintf(out, "%s %d ", word, i);
    for (; *message; message++)
        putc(*message == '\n' ? ' ' : *message, out);
    fprintf(out, "\n");
    fflush(out);
}

static void print_stats(Pjrt *engine)
{
    char *text;
    Error *error = pjrt_error(engine->api, engine->tutti->stats(NULL, &text));
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    if (!error) {
        fprintf(stderr, "%speak_kib %ld\n", text, used.ru_maxrss);
        engine->tutti->release(text);
    }
    error_free(error);
}

_Noreturn static void child(const CheckRequest *r, int from, int to)
{
    FILE *out = fdopen(to, "w");
    if (!out)
        _exit(EXIT_FAILED);
    Pjrt engine = { 0 };
    Job job = { r, &engine };
    Error *trouble = guard_job("loading the engine", load_engine, &job);
    for (int i = from; i < r->nfiles; i++) {
        report(out, "begin", i, "");
        alarm((unsigned)r->seconds); /* unhandled: ends the child */
        job.path = r->files[i];
        Error *error = trouble ? error_copy(trouble) : guard_job("checking", run_job, &job);
        alarm(0);
        report(out, error ? "fail" : "pass", i, error ? error_text(error) : "");
        error_free(error);
    }
    if (r->stats && !trouble)
        print_stats(&engine);
    fflush(NULL);
    _exit(0);
}

typedef struct Tally {
    int passed, failed;
    int next; /* file that has not been begun */
} Tally;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void fail_file(const CheckRequest *r, Tally *tally, int i, const char *message)
{
    progress_clear();
    printf("FAIL %s: %s\n", base_name(r->files[i]), message);
    fflush(stdout);
    tally->failed++;
}

/* Reads what a child says until it ends; gives the file it was at when it died, or -1. */
static int listen_to(const CheckRequest *r, Tally *tally, FILE *in)
{
    char *line = NULL, word[8];
    size_t room = 0;
    int begun = -1, i, used;
    while (getline(&line, &room, in) > 0) {
        if (sscanf(line, "%7s %d %n", word, &i, &used) != 2 || i < 0 || i >= r->nfiles)
            continue;
        line[strcspn(line, "\n")] = 0;
        if (strcmp(word, "begin") == 0) {
            begun = i;
            tally->next = i + 1;
            progress_say("%d/%d %s", i, r->nfiles, base_name(r->files[i]));
            continue;
        }
        begun = -1;
        if (strcmp(word, "pass") == 0)
            tally->passed++;
        else
            fail_file(r, tally, i, strlen(line) > (size_t)used ? line + used : "failed");
    }
    free(line);
    return begun;
}

/* A child checks the programs from tally->next on, until all are done or it dies. */
static Error *check_rest(const CheckRequest *r, Tally *tally)
{
    int ends[2];
    if (pipe(ends) != 0)
        return error_new(CODE_EXHAUSTED, "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t process = fork();
    if (process < 0) {
        close(ends[0]), close(ends[1]);
        return error_new(CODE_EXHAUSTED, "no process: %s", strerror(errno));
    }
    if (process == 0) {
        close(ends[0]);
        child(r, tally->next, ends[1]);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    int before = tally->next, begun = in ? listen_to(r, tally, in) : -1, status = 0;
    bool is_heard = in && feof(in);
    if (in)
        fclose(in);
    else
        close(ends[0]);
    waitpid(process, &status, 0); /* one that is not heard ends when it says something */
    if (!is_heard)
        return error_new(CODE_EXHAUSTED, "no memory for what the child that runs the programs "
                                         "says");
    if (begun < 0 && tally->next == before)
        return error_new(CODE_INTERNAL, "the child that runs the programs did not begin");
    if (begun < 0)
        return NULL;
    char message[80];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(message, sizeof message, "took longer than %d seconds", r->seconds);
    else if (WIFSIGNALED(status))
        snprintf(message, sizeof message, "crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(message, sizeof message, "ended the process with code %d", WEXITSTATUS(status));
    fail_file(r, tally, begun, message);
    return NULL;
}

static int parse(int argc, char **argv, CheckRequest *r)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (strcmp(argv[i], "--stats") == 0)
            r->stats = true;
        else if (strcmp(argv[i], "--times") == 0)
            r->times = true;
        else if (strcmp(argv[i], "--eval") == 0)
            r->evaluate = true;
        else if (option_value(argc, argv, &i, "--seconds", &value)) {
            if (!parse_positive(value, &r->seconds))
                return usage_error("check", "--seconds needs a whole number from 1 on, such as 60");
        } else if (argv[i][0] == '-')
            return usage_error("check", "'%s' is not known", argv[i]);
        else
            r->files[r->nfiles++] = argv[i];
    }
    return r->nfiles ? EXIT_OK : usage_error("check", "no programs are given");
}

static int run(int argc, char **argv)
{
    CheckRequest r = { .files = calloc((size_t)argc, sizeof *r.files), .seconds = 60 };
    if (!r.files)
        return failed(error_new(CODE_EXHAUSTED, "no memory for %d names", argc));
    int code = parse(argc, argv, &r);
    Tally tally = { 0 };
    if (!r.times) /* which says more */
        progress_start();
    while (code == EXIT_OK && tally.next < r.nfiles) {
        Error *error = check_rest(&r, &tally);
        progress_clear();
        if (error)
            code = failed(error);
    }
    progress_end();
    free(r.files);
    if (code == EXIT_OK) {
        printf("%d passed, %d failed\n", tally.passed, tally.failed);
        code = tally.failed ? EXIT_FAILED : EXIT_OK;
    }
    return code;
}

const Command command_check = {
    .name = "check",
    .usage = "PROGRAM... [--eval] [--stats] [--times] [--seconds N]",
    .summary = "play programs that check themselves (custom_call @check.*); one line per failure",
    .details =
        "A program that crashes or is not supported has failed like any other; the rest go on.\n\n"
        "  --eval       by the reference evaluator instead of compiled code\n"
        "  --stats      afterwards, what happened in all runs, on standard error\n"
        "  --times      how long each took to compile, on standard error\n"
        "  --seconds N  how long one program may take; 60 if not given\n",
    .run = run,
};
