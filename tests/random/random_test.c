/* random_test.c - random programs, compiled against the evaluator.  Links the engine and LLVM.
 *
 *     random_test [FIRST [COUNT [OPERATIONS]]]     seeds FIRST .. FIRST + COUNT - 1; operations
 *                                                  1 to 30, by seed, if not given
 *     random_test --soak [FIRST [COUNT]]           as many as one likes, over failures, with a line
 *                                                  now and then
 *     random_test --again [FIRST [COUNT]]          the same ones in several rounds: memory must not
 *                                                  grow by each of them
 *     random_test --show SEED [OPERATIONS]         the program of a seed
 *
 * A seed is a program and a way to run it:
 *
 *     one device         by compiled code, folded or not, with the evaluator as judge
 *     whole arrays       on 2, 3, 4 or 8 devices with random shardings, against whole arrays
 *                        evaluated on one
 *     manual             on as many, with collectives, against all devices evaluated in lockstep
 *
 * What fails is printed with its seed; the program is then shown by --show. */
#include "engine/compile.h"
#include "engine/exec/launch.h"
#include "hlo/define/define.h"
#include "tests/check.h"
#include "tests/lockstep.h"
#include "tests/random/grow_program.h"

#include <malloc.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DEVICES = 8 };

typedef struct Trial {
    uint64_t seed;
    GrowMode mode;
    int ndevices, noperations;
    Planted p;
    Module *m; /* as written; the judge's */
    int nin, nout;
    Tensor in[MOST_ARGS], want[MOST_RESULTS];
} Trial;

static Executor *executors[MOST_DEVICES + 1]; /* by number of devices; made when first needed */

/* Of 64 programs so many of so many operations: what goes wrong mostly does so in a small one, and
 * many of these take the time of one that is large. */
static int operations_of(uint64_t seed)
{
    static const struct {
        int operations, share;
    } sizes[] = {
        { 1, 22 }, { 2, 18 }, { 3, 12 }, { 4, 4 },  { 5, 3 },
        { 6, 2 },  { 8, 1 },  { 12, 1 }, { 30, 1 },
    };
    int at = (int)(seed / 16 % 64), i = 0;
    while (at >= sizes[i].share)
        at -= sizes[i++].share;
    return sizes[i].operations;
}

static Trial trial_of(uint64_t seed, int noperations)
{
    static const int counts[] = { 2, 4, 3, 8 };
    Trial t = { .seed = seed, .ndevices = 1, .noperations = noperations };
    t.mode = seed % 4 == 3 ? GROW_MANUAL : seed % 4 == 2 ? GROW_WHOLE : GROW_ALONE;
    if (t.mode != GROW_ALONE)
        t.ndevices = counts[seed / 4 % 4];
    if (!noperations)
        t.noperations = noperations = operations_of(seed);
    t.p = grow_program(seed, t.mode, t.ndevices, noperations);
    return t;
}

static bool must(const Trial *t, const char *what, Error *error)
{
    if (error) {
        printf("seed %llu, %d operations, %s: %s\n", (unsigned long long)t->seed, t->noperations,
               what, error_text(error));
        check_failures++;
    }
    error_free(error);
    return !error;
}

/* ---- the judge ---- */

static Error *judge(Trial *t)
{
    TRY(read_text(t->p.text.at, t->p.text.n, "grown", &t->m));
    TRY(module_check(t->m));
    for (int i = 0; i < t->m->nfuncs; i++)
        TRY(write_out(t->m, t->m->funcs[i].body));
    const Func *main = func_find(t->m, STR("main"));
    t->nin = region_at(t->m, main->body)->nargs;
    for (int i = 0; i < t->nin; i++) {
        t->in[i] = tensor_new(type_of(t->m, region_at(t->m, main->body)->args + (ValueId)i));
        tensor_fill(t->in[i], (Range){ .kind = t->p.is_wild[i] ? RANGE_ANY : RANGE_TAME }, i);
    }
    t->nout = main->nresults;
    for (int i = 0; i < t->nout; i++)
        t->want[i] = tensor_new(main->results[i]);
    if (t->mode != GROW_MANUAL)
        return eval_region(t->m, main->body, t->in, t->want);
    static const CompileOptions none;
    Params params;
    TRY(pass_refine(t->m));
    TRY(pass_sink_captures(t->m));
    TRY(pass_place(t->m, &none, &params));
    Tensor out[MOST_RESULTS];
    int collectives;
    TRY(run_placed(t->m, &params, t->in, out, &collectives));
    for (int i = 0; i < t->nout; i++)
        memcpy(t->want[i].data, out[i].data, type_bytes(out[i].type));
    return NULL;
}

/* ---- compiled code ---- */

static Error *send_parts(const Program *p, const Trial *t, Executor *e, Buffer *args[][MOST_ARGS])
{
    for (int d = 0; d < p->ndevices; d++)
        for (int i = 0; i < p->nargs; i++) {
            Tensor part = tensor_new(p->args[i].local);
            tile_copy(t->in[i], part, p->args[i].tiling, d, false);
            Error *error =
                buffer_from_host(executor_device(e, d), part.type, part.data, NULL, &args[d][i]);
            free(part.data);
            if (error)
                return error;
        }
    return NULL;
}

static Error *receive(Buffer *b, Tensor to)
{
    Event *done = NULL;
    TRY(buffer_to_host(b, to.data, type_bytes(to.type), &done));
    event_await(done);
    Error *error = event_error(done);
    event_release(done);
    return error;
}

static Error *compare_part(const Trial *t, int result, int device, Tensor got, Tensor want)
{
    for (int64_t i = 0; i < type_count(got.type); i++) {
        if (elements_close(got, want, i, t->p.ulps[result]))
            continue;
        Text text = { 0 };
        element_show(&text, got, i);
        text_printf(&text, " compiled, ");
        element_show(&text, want, i);
        Error *error = error_new(CODE_INTERNAL,
                                 "result %d %s on device %d of %d, element %lld: %s "
                                 "evaluated",
                                 result, type_name(got.type), device, t->ndevices, (long long)i,
                                 text_cstr(&text));
        text_free(&text);
        return error;
    }
    return NULL;
}

static Error *check_part(const Trial *t, const Param *param, int result, int d, Buffer *b)
{
    Tensor got = tensor_new(param->local), want = tensor_new(param->local);
    tile_copy(t->want[result], want, param->tiling, d, false);
    Error *error = receive(b, got);
    if (!error)
        error = compare_part(t, result, d, got, want);
    free(got.data);
    free(want.data);
    return error;
}

static Error *launch_and_check(const Program *p, const Trial *t)
{
    Executor **e = &executors[p->ndevices];
    if (!*e)
        TRY(executor_new(p->ndevices, 2, 0, e));
    Buffer *args[MOST_DEVICES][MOST_ARGS] = { 0 }, *outs[MOST_DEVICES][MOST_RESULTS] = { 0 };
    Buffer *const *arg_rows[MOST_DEVICES], **out_rows[MOST_DEVICES];
    Device *devices[MOST_DEVICES];
    for (int d = 0; d < p->ndevices; d++) {
        devices[d] = executor_device(*e, d);
        arg_rows[d] = args[d];
        out_rows[d] = outs[d];
    }
    Launch l = { .program = p, .devices = devices, .args = arg_rows, .outs = out_rows };
    Error *error = send_parts(p, t, *e, args);
    if (!error)
        error = launch_start(*e, &l);
    for (int d = 0; !error && d < p->ndevices; d++)
        for (int i = 0; !error && i < p->nresults; i++)
            error = check_part(t, &p->results[i], i, d, outs[d][i]);
    for (int d = 0; d < p->ndevices; d++) {
        for (int i = 0; i < p->nargs; i++)
            if (args[d][i])
                buffer_free(args[d][i]);
        for (int i = 0; i < p->nresults; i++)
            if (outs[d][i])
                buffer_free(outs[d][i]);
    }
    return error;
}

static Error *run_compiled(const Trial *t)
{
    Source s = { .bytes = { t->p.text.at, t->p.text.n },
                 .options = { .name = "grown", .no_fold = t->seed & 1 } };
    Program *p = NULL;
    TRY(compile_program(&s, &p));
    Error *error = launch_and_check(p, t);
    program_free(p);
    return error;
}

/* ---- one seed ---- */

enum { SECONDS_PER_SEED = 120 };

static volatile uint64_t seed_now;

/* A program that crashes or never ends: its seed, then the end that the signal stands for. */
static void name_seed(int signal_number)
{
    char text[64] = "seed ", digits[24];
    size_t n = strlen(text), k = 0;
    uint64_t seed = seed_now;
    do
        digits[k++] = (char)('0' + seed % 10);
    while (seed /= 10);
    while (k)
        text[n++] = digits[--k];
    const char *what = signal_number == SIGALRM ? ": does not end\n" : ": crashed\n";
    memcpy(text + n, what, strlen(what));
    if (write(STDOUT_FILENO, text, n + strlen(what)) < 0)
        _exit(2);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void watch_signals(void)
{
    static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], name_seed);
}

static void try_seed(uint64_t seed, int noperations)
{
    seed_now = seed;
    alarm(SECONDS_PER_SEED);
    Trial t = trial_of(seed, noperations);
    if (must(&t, "evaluated", judge(&t)))
        must(&t, "compiled", run_compiled(&t));
    for (int i = 0; i < t.nin; i++)
        free(t.in[i].data);
    for (int i = 0; i < t.nout; i++)
        free(t.want[i].data);
    module_free(t.m);
    text_free(&t.p.text);
}

static uint64_t try_seeds(uint64_t first, uint64_t count, int noperations)
{
    enum { ENOUGH = 20 };
    for (uint64_t i = 0; i < count; i++) {
        if (check_failures >= ENOUGH)
            return i;
        try_seed(first + i, noperations);
    }
    return count;
}

/* ---- many of them ---- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double megabytes_allocated(void)
{
    struct mallinfo2 heap = mallinfo2();
    return (double)(heap.uordblks + heap.hblkhd) / 1e6;
}

/* Pages of the process's own, without those of LLVM's code, of which other programs need other
 * ones. */
static double megabytes_held(void)
{
    long pages = 0, held = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld %ld", &pages, &held, &of_files) != 3)
        held = of_files = 0;
    if (file)
        fclose(file);
    return (double)(held - of_files) * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void soak_line(uint64_t first, uint64_t done, double began)
{
    printf("%llu programs from seed %llu on, %d failures, %.0f s, %.1f MB, %.2f MB allocated\n",
           (unsigned long long)done, (unsigned long long)first, check_failures,
           seconds_now() - began, megabytes_held(), megabytes_allocated());
    fflush(stdout);
}

static volatile sig_atomic_t is_to_stop;

static void stop(int signal)
{
    (void)signal;
    is_to_stop = 1;
}

/* Until all are done, too many failed, or a signal ends it. */
static uint64_t soak(uint64_t first, uint64_t count)
{
    enum { ENOUGH = 1000, SECONDS_PER_LINE = 30 };
    double began = seconds_now(), last = began;
    uint64_t done = 0;
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    while (done < count && check_failures < ENOUGH && !is_to_stop) {
        try_seed(first + done++, 0);
        if (seconds_now() - last < SECONDS_PER_LINE)
            continue;
        last = seconds_now();
        soak_line(first, done, began);
    }
    soak_line(first, done, began);
    return done;
}

/* The same programs in several rounds.  What is kept for later (memory of devices, LLVM's tables)
 * is there after one of them; what leaks is added by each.  LLVM itself keeps a few bytes of every
 * program. */
static uint64_t again(uint64_t first, uint64_t count)
{
    enum { ROUNDS = 4, FEW_BYTES = 256 };
    double before = 0, least = INFINITY;
    uint64_t done = 0;
    for (int i = 0; i < ROUNDS; i++) {
        done += try_seeds(first, count, 0);
        double now = megabytes_allocated();
        if (i)
            least = fmin(least, now - before);
        before = now;
        printf("round %d: %.3f MB allocated\n", i + 1, now);
    }
    CHECK(least * 1e6 < FEW_BYTES * (double)count);
    return done;
}

static uint64_t argument_or(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    bool is_soak = argc > 1 && strcmp(argv[1], "--soak") == 0;
    bool is_again = argc > 1 && strcmp(argv[1], "--again") == 0;
    if (argc > 2 && strcmp(argv[1], "--show") == 0) {
        Trial t = trial_of(strtoull(argv[2], NULL, 10), argc > 3 ? atoi(argv[3]) : 0);
        printf("%s", text_cstr(&t.p.text));
        text_free(&t.p.text);
        return 0;
    }
    watch_signals();
    uint64_t first = argument_or(argc, argv, is_soak || is_again ? 2 : 1, 1), done;
    if (is_soak)
        done = soak(first, argument_or(argc, argv, 3, 1000000));
    else if (is_again)
        done = again(first, argument_or(argc, argv, 3, 200));
    else
        done =
            try_seeds(first, argument_or(argc, argv, 2, 3000), (int)argument_or(argc, argv, 3, 0));
    for (int n = 0; n <= MOST_DEVICES; n++)
        if (executors[n])
            executor_free(executors[n]);
    printf("%llu programs\n", (unsigned long long)done);
    return check_done();
}
