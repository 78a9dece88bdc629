/* ops_test.c - every operation, from the rows of tests/ops/cases.def: compiled code against the
 * evaluator, and text -> print -> text.  Links the engine and LLVM.
 *
 *     ops_test [-k OPERATION [DRAW]]   tries them, `all` or one, with the values of that draw
 *     ops_test --write DIR             writes programs, arguments and our results, for other backends
 *
 * Compiled code flushes denormals, the evaluator does not; so a result may be the evaluator's of
 * the arguments as they are, or of the arguments flushed. */
#include "base/table.h"
#include "engine/codegen/codegen.h"
#include "engine/compile.h"
#include "hlo/define/define.h"
#include "tests/check.h"
#include "tests/one_device.h"
#include "tests/ops/instance.h"
#include "tests/ops/values.h"

#include <sys/stat.h>

/* ---- no operation without a case ---- */

#define CASE(id, elements, ranges, ulps, text) static const char has_case_##id;
#define ELSEWHERE(id, where) static const char has_case_##id;
#include "tests/ops/cases.def"

#define SECOND_(a, b, ...) b
#define SECOND(...) SECOND_(__VA_ARGS__, ~)
#define PROBE_none ~, 1
#define IS_NONE(rule) SECOND(PROBE_##rule, 0)
#define NEED_0_0(id) &has_case_##id,
#define NEED_0_1(id) &has_case_##id,
#define NEED_1_0(id) &has_case_##id,
#define NEED_1_1(id)
#define NEED__(a, b, id) NEED_##a##_##b(id)
#define NEED_(a, b, id) NEED__(a, b, id)
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, ...)                                                                             \
    NEED_(IS_NONE(element), IS_NONE(block), id) NEED_(IS_NONE(eval), IS_NONE(eval), id)
static const char *const cases_that_must_be_there[] = {
#include "ops/ops.def"
    NULL
};

static const Case cases[] = {
#define CASE(id, elements, ranges, ulps, text) { OP_##id, #id, elements, ranges, ulps, text },
#define ELSEWHERE(id, where)
#include "tests/ops/cases.def"
};
enum { NCASES = sizeof cases / sizeof *cases };

/* ---- running ---- */

static uint64_t draw; /* other values for all cases */

typedef struct Trial {
    const Case *c;
    Element e;
    bool is_short; /* few shapes */
    Text text;
    Module *m;
    RegionId body; /* of main */
    int nin, nout;
    Tensor *in, *want, *flushed, *got; /* flushed: wanted of flushed arguments */
    bool has_denormals;                /* among the arguments: a zero's sign is then left open */
} Trial;

static bool must(const Trial *t, const char *what, Error *error)
{
    if (error) {
        printf("%s of %s: %s: %s\n", t->c->id, element_info[t->e].name, what, error_text(error));
        check_failures++;
    }
    error_free(error);
    return !error;
}

/* The values of a case follow from what it is, so that they stay when other cases come and go. */
static void random_begin(const Case *c, Element e)
{
    uint64_t seed = hash_bytes(c->id, strlen(c->id), draw);
    seed = hash_bytes(c->ranges, strlen(c->ranges), seed);
    seed = hash_bytes(c->text, strlen(c->text), seed);
    random_state = hash_bytes(element_info[e].name, strlen(element_info[e].name), seed);
}

static Error *run_compiled(const Trial *t)
{
    Source s = { .bytes = { t->text.at, t->text.n },
                 .options = { .name = t->c->id, .no_fold = true } };
    Program *p = NULL;
    TRY(compile_program(&s, &p));
    if (p->stats.evaluations) /* what is compiled stays compiled */
        printf("%d operations left to the evaluator in:\n%s\n", p->stats.evaluations, t->text.at);
    CHECK(p->stats.evaluations == 0);
    void **args = calloc((size_t)t->nin + 1, sizeof *args),
         **outs = calloc((size_t)t->nout, sizeof *outs);
    for (int i = 0; i < t->nin; i++)
        args[i] = t->in[i].data;
    for (int i = 0; i < t->nout; i++)
        outs[i] = t->got[i].data;
    Error *error = run_on_one_device(p, &runtime, args, outs);
    free(args);
    free(outs);
    program_free(p);
    return error;
}

static void *tensors(int n)
{
    return calloc((size_t)n + 1, sizeof(Tensor));
}

static void tensors_free(int n, Tensor *at)
{
    for (int i = 0; i < n; i++)
        free(at[i].data);
    free(at);
}

static Tensor *flushed_copies(int n, const Tensor *from, bool *any)
{
    Tensor *copies = tensors(n);
    for (int i = 0; i < n; i++) {
        copies[i] = tensor_new(from[i].type);
        memcpy(copies[i].data, from[i].data, type_bytes(from[i].type));
        *any |= tensor_flush(copies[i]);
    }
    return copies;
}

static bool trial_begin(Trial *t)
{
    if (!must(t, "its text", instance_text(t->c, t->e, t->is_short, &t->text)) ||
        !must(t, "reading", read_text(t->text.at, t->text.n, t->c->id, &t->m)) ||
        !must(t, "checking", module_check(t->m)))
        return false;
    const Func *main = func_find(t->m, STR("main"));
    t->body = main->body;
    t->nin = region_at(t->m, t->body)->nargs;
    t->nout = main->nresults;
    t->in = tensors(t->nin);
    t->want = tensors(t->nout);
    t->flushed = tensors(t->nout);
    t->got = tensors(t->nout);
    int nfuncs = t->m->nfuncs - 1, each = nfuncs ? t->nin / nfuncs : 0;
    for (int i = 0; i < t->nin; i++) {
        t->in[i] = tensor_new(type_of(t->m, region_at(t->m, t->body)->args + (ValueId)i));
        int which = each ? i % each : i;
        tensor_fill(t->in[i], range_at(t->c->ranges, which), which);
    }
    for (int i = 0; i < t->nout; i++) {
        t->want[i] = tensor_new(main->results[i]);
        t->flushed[i] = tensor_new(main->results[i]);
        t->got[i] = tensor_new(main->results[i]);
    }
    return true;
}

static void trial_end(Trial *t)
{
    tensors_free(t->nin, t->in);
    tensors_free(t->nout, t->want);
    tensors_free(t->nout, t->flushed);
    tensors_free(t->nout, t->got);
    module_free(t->m);
    text_free(&t->text);
}

/* What stands for other operations is evaluated as those; XLA knows them as they are. */
static Error *evaluate(Trial *t)
{
    for (int i = 0; i < t->m->nfuncs; i++)
        TRY(write_out(t->m, t->m->funcs[i].body));
    TRY(eval_region(t->m, t->body, t->in, t->want));
    Tensor *copies = flushed_copies(t->nin, t->in, &t->has_denormals);
    Error *error = eval_region(t->m, t->body, copies, t->flushed);
    tensors_free(t->nin, copies);
    return error;
}

/* ---- comparing ---- */

static void show_mismatch(const Trial *t, int result, int64_t i)
{
    Text text = { 0 };
    text_printf(&text, "%s of %s, result %d %s, element %lld: ", t->c->id, element_info[t->e].name,
                result, type_name(t->got[result].type), (long long)i);
    element_show(&text, t->got[result], i);
    text_printf(&text, " compiled, ");
    element_show(&text, t->want[result], i);
    text_printf(&text, " evaluated");
    int nfuncs = t->m->nfuncs - 1, per = t->nout / nfuncs, each = t->nin / nfuncs;
    for (int a = result / per * each; a < (result / per + 1) * each; a++)
        if (type_same_shape(t->in[a].type, t->got[result].type)) {
            text_printf(&text, ", argument ");
            element_show(&text, t->in[a], i);
        }
    printf("%s\n", text_cstr(&text));
    text_free(&text);
}

/* Narrow floats are computed wider and rounded again, which may move a last bit. */
static double ulps_for(const Trial *t)
{
    return t->c->ulps > 0 && element_info[element_part(t->e)].bits < 32 ? fmin(t->c->ulps, 1)
                                                                        : t->c->ulps;
}

/* Which zero a reduction by max or min gives, of 0, -0 and denormals, is left open. */
static bool is_open_zero(const Trial *t, int r, int64_t i)
{
    return t->has_denormals && op_info[t->c->op].kind == KIND_FOLD &&
           element_info[t->e].kind == FLOAT && float_at(t->got[r], i) == 0 &&
           float_at(t->want[r], i) == 0;
}

static void compare(const Trial *t)
{
    for (int r = 0; r < t->nout; r++) {
        int64_t bad = 0, first = -1;
        for (int64_t i = 0; i < type_count(t->want[r].type); i++)
            if (!elements_close(t->got[r], t->want[r], i, ulps_for(t)) &&
                !elements_close(t->got[r], t->flushed[r], i, ulps_for(t)) &&
                !is_open_zero(t, r, i)) {
                bad++;
                first = first < 0 ? i : first;
            }
        CHECK(tensor_is_fenced(t->got[r]));
        if (!bad)
            continue;
        printf("%lld wrong: ", (long long)bad);
        show_mismatch(t, r, first);
        check_failures++;
    }
}

/* What is printed reads as the same program: it prints as the same text. */
static void check_printing(const Trial *t)
{
    Text once = { 0 }, twice = { 0 };
    module_print(&once, t->m, false);
    Module *again = NULL;
    if (must(t, "what was printed", read_text(once.at, once.n, "printed", &again))) {
        module_print(&twice, again, false);
        CHECK_STR(text_cstr(&twice), text_cstr(&once));
    }
    module_free(again);
    text_free(&once);
    text_free(&twice);
}

static void try_element(const Case *c, Element e, void *user)
{
    Trial t = { .c = c, .e = e };
    random_begin(c, e);
    ++*(int *)user;
    if (trial_begin(&t)) {
        check_printing(&t);
        if (must(&t, "evaluated", evaluate(&t)) && must(&t, "compiled", run_compiled(&t)))
            compare(&t);
    }
    trial_end(&t);
}

/* ---- for other backends ---- */

static void write_file(const char *dir, int number, const char *what, const void *at, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%d.%s", dir, number, what);
    FILE *file = fopen(path, "wb");
    if (!file || (n && fwrite(at, 1, n, file) != n) || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void describe(Text *out, const char *key, int n, const Tensor *at)
{
    text_printf(out, "\"%s\": [", key);
    for (int i = 0; i < n; i++) {
        text_printf(out, "%s[\"%s\", [", i ? ", " : "", element_info[at[i].type.element].name);
        for (int d = 0; d < at[i].type.rank; d++)
            text_printf(out, "%s%lld", d ? ", " : "", (long long)at[i].type.dims[d]);
        text_printf(out, "]]");
    }
    text_printf(out, "]");
}

typedef struct Writer {
    const char *dir;
    int count;
    Text index; /* JSON */
} Writer;

static void write_arrays(const Writer *w, const char *what, int n, const Tensor *at)
{
    Text bytes = { 0 };
    for (int i = 0; i < n; i++)
        text_add(&bytes, at[i].data, type_bytes(at[i].type));
    write_file(w->dir, w->count, what, bytes.at, bytes.n);
    text_free(&bytes);
}

/* The text is the printer's: what other backends read is what we write. */
static void write_element(const Case *c, Element e, void *user)
{
    Writer *w = user;
    Trial t = { .c = c, .e = e, .is_short = true };
    random_begin(c, e);
    bool is_ready = trial_begin(&t);
    for (int i = 0; is_ready && i < t.nin; i++)
        tensor_flush(t.in[i]); /* backends differ in what they do with denormals */
    if (is_ready && must(&t, "compiled", run_compiled(&t))) {
        Text text = { 0 };
        module_print(&text, t.m, false);
        write_file(w->dir, w->count, "mlir", text.at, text.n);
        text_free(&text);
        write_arrays(w, "in", t.nin, t.in);
        write_arrays(w, "out", t.nout, t.got);
        text_printf(&w->index,
                    "%s{\"op\": \"%s\", \"name\": \"%s\", \"kind\": %d, \"element\": "
                    "\"%s\", \"ranges\": \"%s\", \"ulps\": %g, ",
                    w->count ? ",\n" : "", c->id, op_info[c->op].name, op_info[c->op].kind,
                    element_info[e].name, c->ranges, c->ulps);
        describe(&w->index, "in", t.nin, t.in);
        text_printf(&w->index, ", ");
        describe(&w->index, "out", t.nout, t.got);
        text_printf(&w->index, "}");
        w->count++;
    }
    trial_end(&t);
}

static void write_all(const char *dir)
{
    Writer w = { .dir = dir };
    mkdir(dir, 0777);
    text_printf(&w.index, "[");
    for (int i = 0; i < NCASES; i++)
        each_element(&cases[i], cases[i].elements, write_element, &w);
    text_printf(&w.index, "]\n");
    write_file(dir, 0, "json", w.index.at, w.index.n);
    printf("%d programs written\n", w.count);
    text_free(&w.index);
}

/* ---- columns that must agree ---- */

static void must_hold(OpId op, bool holds, const char *what)
{
    if (holds)
        return;
    printf("%s in ops.def: %s\n", op_info[op].id, what);
    check_failures++;
}

static void test_columns(void)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const OpInfo *o = &op_info[i];
        bool is_map = o->kind == KIND_MAP, is_flow = o->flow != FLOW_PLAIN;
        bool has_kind = o->kind == KIND_FLOW || o->flow == FLOW_GLOBAL || o->flow == FLOW_KERNEL;
        must_hold(i, is_flow == has_kind, "kind FLOW and column flow contradict one another");
        must_hold(i, is_map == (o->in_place == IN_PLACE_ELEMENT), "a MAP works on any operand");
        must_hold(i, !is_map || cut_rules[i], "a MAP takes every cut along");
        must_hold(i, !is_map || o->cost.work == WORK_FLOP || o->cost.work == WORK_SPECIAL,
                  "a MAP costs FLOP or SPECIAL");
        must_hold(i,
                  (o->cost.ns > 0) == (o->cost.work >= WORK_MOVE && o->cost.work <= WORK_SPECIAL),
                  "nanoseconds belong to MOVE, FLOP and SPECIAL");
        must_hold(i, !element_rules[i] || o->cost.ns > 0, "what has `element` has a cost for each");
        must_hold(i, o->kind != KIND_SHORT || (!cut_rules[i] && o->cost.work == WORK_NONE),
                  "an operation that stands for others has none");
    }
}

int main(int argc, char **argv)
{
    (void)cases_that_must_be_there;
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        write_all(argv[2]);
        return check_done();
    }
    const char *only = argc > 2 && strcmp(argv[1], "-k") == 0 ? argv[2] : NULL;
    draw = only && argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    int count = 0;
    test_columns();
    for (int i = 0; i < NCASES; i++)
        if (!only || strcmp(only, "all") == 0 || strcmp(only, cases[i].id) == 0)
            each_element(&cases[i], cases[i].elements, try_element, &count);
    printf("%d programs of %d cases\n", count, NCASES);
    CHECK(count > 0);
    return check_done();
}
