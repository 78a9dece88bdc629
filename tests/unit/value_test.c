/* value_test.c - values live as long as their scope says, in every thread. */
#include "front/value/array.h"
#include "front/value/report.h"
#include "front/value/slot.h"
#include "front/value/trace.h"
#include "tests/front.h"

#include <pthread.h>

/* A small array needs no device. */
static tt number(float x)
{
    return value_of_array(array_from_host(type_scalar(F32), &x, layout_single(0)), false);
}

static float look(tt x)
{
    Held held;
    float out = -1;
    if (value_pin(x, "look", &held)) {
        CHECK(array_read(held.array, &out));
        value_unpin(x);
    }
    return out;
}

static void test_scopes(void)
{
    tt outer = number(1), inner;
    {
        TT_SCOPE;
        tt_at("a.c", 7, "f");
        inner = number(2);
        CHECK(look(inner) == 2);
    }
    CHECK(look(outer) == 1);
    tt_at("a.c", 9, "f");
    CHECK(look(inner) == -1);
    CHECK_SAID("a.c:9: in f: look: an argument made at a.c:7 has ended with its scope: carry it "
               "out with tt_keep, or store it with tt_assign");
    tt reused = number(3); /* takes the slot: the maker of the old one is still known */
    CHECK(reused.slot == inner.slot && reused.generation != inner.generation);
    look(inner);
    CHECK_SAID("a.c:9: in f: look: an argument made at a.c:7 has ended with its scope: carry it "
               "out with tt_keep, or store it with tt_assign");
    tt_scope scope = tt_scope_begin(), nested = tt_scope_begin();
    tt x = number(4);
    tt_scope_end(&scope); /* and with it what is open inside */
    CHECK(look(x) == -1);
    tt_clear_error();
    tt_scope_end(&nested);
    CHECK_SAID("");
}

typedef struct {
    tt a, b;
} Pair;

static Pair kept_pair(void)
{
    TT_SCOPE;
    Pair p = { number(5), number(6) };
    return tt_keep(p);
}

static void test_keep_and_assign(void)
{
    {
        TT_SCOPE;
        Pair p = kept_pair();
        CHECK(look(p.a) == 5 && look(p.b) == 6);
    }
    Pair v = { number(1), number(2) };
    tt old = v.a, other = number(9);
    for (int i = 0; i < 3; i++) {
        TT_SCOPE;
        Pair swapped = { v.b, v.a };
        tt_assign(v, swapped);
    }
    CHECK(look(v.a) == 2 && look(v.b) == 1);
    CHECK(look(old) == -1);
    tt_clear_error();
    tt_assign(v.a, other);
    tt_assign(v.a, v.b);
    CHECK(look(v.a) == 1 && look(other) == 9); /* assigning from a variable leaves it its own */
    tt empty = { 0, 0 };
    {
        TT_SCOPE;
        tt_assign(empty, number(8));
    }
    CHECK(look(empty) == 8);
}

/* Assigning in a loop must not pile up slots. */
static void test_no_leak(void)
{
    tt v = number(0);
    uint32_t most = 0;
    for (int i = 0; i < 100000; i++) {
        TT_SCOPE;
        tt next = number((float)i);
        if (i > 10 && next.slot > most)
            most = next.slot;
        tt_assign(v, next);
    }
    CHECK(look(v) == 99999);
    CHECK(most < 64);
}

static void test_broken(void)
{
    tt_at("b.c", 1, "g");
    Held held;
    CHECK(!value_pin((tt){ 0, 0 }, "tt_add", &held));
    CHECK_SAID("b.c:1: in g: tt_add: an argument is no array: it was never given one");
    CHECK(!value_pin((tt){ 4000000000u, 1 }, "tt_add", &held));
    CHECK(front_said()[0]);
    tt x;
    {
        TT_SCOPE;
        x = number(1);
        CHECK(value_pin(x, "t", &held));
    }
    float out = 0;
    CHECK(array_read(held.array, &out) && out == 1); /* pinned: still there */
    CHECK(!value_pin(x, "t", &held));                /* but ended for others */
    tt_clear_error();
    value_unpin(x);
    report_broken("first");
    report_broken("second");
    CHECK(!value_pin((tt){ 0, 0 }, "tt_add", &held)); /* silent: its cause has been said */
    CHECK_SAID("b.c:1: in g: first");
}

static void test_traces(void)
{
    Module *m = module_new();
    int64_t dims[] = { 2, 3 };
    Type type = type_new(m->arena, F32, 2, dims);
    RegionId region = region_new(m, 0, 1, &type);
    Trace outer = { .m = m,
                    .how = "pmap",
                    .name = "step",
                    .file = "t.c",
                    .line = 14,
                    .axis_name = "batch",
                    .axis_size = 4 };
    ValueList values = { 0 };
    Trace inner = { .m = m,
                    .how = "grad",
                    .name = "loss",
                    .file = "t.c",
                    .line = 8,
                    .outer = &outer,
                    .values = &values };
    tracing = &inner;
    tt_at("t.c", 4, "loss");
    tt x = value_of_traced(&inner, region_at(m, region)->args, false);
    Shape shape;
    CHECK(value_shape(x, "f", &shape) && shape.is_traced && shape.rank == 2 && shape.dims[1] == 3);
    report_broken("tt_matmul: %s by nothing", type_text(shape_type(&shape)));
    CHECK_SAID("t.c:4: in loss: tt_matmul: f32[2,3] by nothing\n"
               "    while tracing grad(loss), t.c:8\n"
               "    while tracing pmap(step), t.c:14, axis \"batch\" of size 4");
    value_end_list(&values);
    tracing = NULL;
    CHECK(!value_shape(x, "tt_add", &shape));
    CHECK_SAID("t.c:4: in loss: tt_add: an argument made at t.c:4 while tracing grad(loss) has "
               "outlived that trace: a traced value leaves its function only as a result");
    module_free(m);
}

/* Threads that make, pin and end values of their own and of each other. */
enum { THREADS = 4, TURNS = 3000 };
static _Atomic uint64_t shared[THREADS]; /* the newest value of each thread */

static void *use_values(void *at)
{
    int me = (int)(intptr_t)at;
    tt mine = number((float)me);
    for (int i = 0; i < TURNS; i++) {
        TT_SCOPE;
        tt next = number((float)me);
        atomic_store(&shared[me], (uint64_t)next.slot << 32 | next.generation);
        uint64_t seen = atomic_load(&shared[(me + 1) % THREADS]);
        tt theirs = { (uint32_t)(seen >> 32), (uint32_t)seen };
        Held held;
        float out;
        if (theirs.generation && value_pin(theirs, "test", &held)) {
            CHECK(array_read(held.array, &out) && (int)out == (me + 1) % THREADS);
            value_unpin(theirs);
        }
        tt_clear_error();
        tt_assign(mine, next);
    }
    CHECK((int)look(mine) == me);
    tt_scope other = { 1, 999 };
    tt_scope_end(&other);
    CHECK(tt_error() != NULL); /* and freed with the thread */
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_values, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t seen = atomic_load(&shared[0]);
    tt gone = { (uint32_t)(seen >> 32), (uint32_t)seen };
    CHECK(look(gone) == -1); /* its scope and its thread have ended */
    tt_clear_error();
}

int main(void)
{
    tt_on_error(NULL, NULL);
    test_scopes();
    test_keep_and_assign();
    test_no_leak();
    test_broken();
    test_traces();
    test_threads();
    return check_done();
}
