/* play.c - plays programs that were compiled ahead and linked into this one (tests/ahead.sh).
 *
 *     play FOLDER [WORKERS | threads | late | at-once]
 *
 * The last three are threads of its own, lent to the runtime (tests/pools.h): late ones come when all is
 * over, and at-once is the thread that submits.
 *
 * Each is called three times with the arguments that `tutti run --input random` makes: twice on whole
 * arrays, by a runtime of its own and by the shared one, and once in pieces; all results must be the same
 * bits, and those of NAME are left in FOLDER/NAME/result_0.npy ...  A program that checks itself
 * fails by its checks. */
#include "cli/array.h"
#include "tests/ahead/programs.h"
#include "tests/pools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Arrays {
    int n;
    Array *at;
    void **data;
} Arrays;

static Type type_of_array(tutti_rt_array a)
{
    Type type = { F32, a.rank, a.dims };
    if (strcmp(a.type, "token") == 0)
        type.element = TOKEN;
    else if (!element_find((Str){ a.type, strlen(a.type) }, &type.element)) {
        fprintf(stderr, "an element type '%s'\n", a.type);
        exit(1);
    }
    return type;
}

typedef tutti_rt_array Describe(const tutti_rt_program *program, int i);

static Arrays arrays_new(const tutti_rt_program *p, int n, Describe *describe)
{
    Arrays a = { n, calloc((size_t)n + 1, sizeof *a.at), calloc((size_t)n + 1, sizeof *a.data) };
    for (int i = 0; i < n; i++) {
        Error *error = array_new(type_of_array(describe(p, i)), &a.at[i]);
        if (error) {
            fprintf(stderr, "%s\n", error_text(error));
            exit(1);
        }
        a.data[i] = a.at[i].data;
    }
    return a;
}

static void arrays_free(Arrays *a)
{
    for (int i = 0; i < a->n; i++)
        array_free(&a->at[i]);
    free(a->at);
    free(a->data);
}

static bool arrays_equal(const Arrays *a, const Arrays *b)
{
    for (int i = 0; i < a->n; i++)
        if (memcmp(a->data[i], b->data[i], type_bytes(a->at[i].type)) != 0)
            return false;
    return true;
}

/* On one device a piece is the whole. */
static const char *call_pieces(const tutti_rt_program *p, tutti_rt *rt, const Arrays *in,
                               const Arrays *out)
{
    return tutti_rt_call_pieces(rt, p, (const void *const *)in->data, out->data);
}

static const char *play(const Linked *l, tutti_rt *rt, const Arrays *in, const Arrays *out,
                        const Arrays *again)
{
    const tutti_rt_program *p = l->program;
    const char *wrong = tutti_rt_call(rt, p, (const void *const *)in->data, out->data);
    if (wrong || l->is_random)
        return wrong;
    wrong = tutti_rt_call(NULL, p, (const void *const *)in->data, again->data);
    if (!wrong && !arrays_equal(out, again))
        wrong = "a second call gives other bits";
    if (wrong || tutti_rt_devices(p) > 1)
        return wrong;
    wrong = call_pieces(p, rt, in, again);
    return wrong || arrays_equal(out, again) ? wrong : "pieces give other bits";
}

/* The results, and how many arguments they are of. */
static void save(const char *folder, const char *name, int nargs, const Arrays *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/arguments", folder, name);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%d\n", nargs);
        fclose(file);
    }
    for (int i = 0; i < out->n; i++) {
        snprintf(path, sizeof path, "%s/%s/result_%d.npy", folder, name, i);
        error_free(array_save(path, &out->at[i]));
    }
}

/* Leaves word of what it begins, for the case that it does not come back. */
static void begin(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/begun", folder);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%s", name);
        fclose(file);
    }
}

/* Who plays, by the word on the command line. */
static tutti_rt_options options_of(const char *who, Threads *pool)
{
    tutti_rt_options options = { .pool = pool };
    bool has_threads = strcmp(who, "threads") == 0;
    pool_start(pool, has_threads ? POOL_THREADS : 0);
    if (strcmp(who, "at-once") == 0)
        options.submit = pool_call_at_once;
    else if (has_threads || strcmp(who, "late") == 0)
        options.submit = pool_submit;
    else
        options.workers = atoi(who);
    return options;
}

int main(int argc, char **argv)
{
    int nfailed = 0;
    Threads pool;
    tutti_rt_options options = options_of(argc > 2 ? argv[2] : "0", &pool);
    tutti_rt *rt;
    const char *wrong = tutti_rt_start(&options, &rt);
    if (wrong || argc < 2)
        return fprintf(stderr, "%s\n", wrong ? wrong : "play FOLDER [WORKERS]"), 1;
    for (const Linked *l = linked; l->name; l++) {
        const tutti_rt_program *p = l->program;
        Arrays in = arrays_new(p, tutti_rt_arguments(p), tutti_rt_argument);
        Arrays out = arrays_new(p, tutti_rt_results(p), tutti_rt_result);
        Arrays again = arrays_new(p, tutti_rt_results(p), tutti_rt_result);
        for (int i = 0; i < in.n; i++)
            array_fill_random(&in.at[i], (uint64_t)i);
        begin(argv[1], l->name);
        wrong = play(l, rt, &in, &out, &again);
        if (wrong)
            printf("%s: %s\n", l->name, wrong);
        nfailed += wrong != NULL;
        save(argv[1], l->name, in.n, &out);
        arrays_free(&in);
        arrays_free(&out);
        arrays_free(&again);
    }
    tutti_rt_end(rt);
    pool_join(&pool);
    return nfailed != 0;
}
