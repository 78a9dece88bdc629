/* front_test.c - several threads call, trace and read at once, one of them ending scopes while
 * others use what it made; and nothing piles up over many turns.  Links the front's insides. */
#include "front/value/value.h"
#include "tests/front.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4, TURNS = 60 };

static tt_dims shape = { 2, { 4, 8 } };
static _Atomic uint64_t offered; /* a value of the thread that ends scopes */
static _Atomic bool done;

static tt twice_plus(tt x, tt y)
{
    return tt_add(tt_mul(2, x), y);
}

/* Sums of its own numbers, by eager calls and by a compiled function; and whatever is offered. */
static void *work(void *at)
{
    int me = (int)(intptr_t)at;
    for (int i = 0; i < TURNS; i++) {
        TT_SCOPE;
        tt x = (tt_full)(TT_F32, me + 1, &shape), y = tt_add(x, i);
        double sum = tt_item(tt_sum(tt_call(tt_jit(twice_plus), x, y)));
        CHECK(sum == 32.0 * (3 * (me + 1) + i));
        CHECK(tt_error() == NULL);
        uint64_t seen = atomic_load(&offered);
        tt theirs = { (uint32_t)(seen >> 32), (uint32_t)seen };
        if (!theirs.generation)
            continue;
        double item = tt_item(tt_amax(theirs)); /* 7, unless its scope has ended: then it is said */
        CHECK(item == 7 || tt_error() != NULL);
        tt_clear_error();
    }
    return NULL;
}

static void *end_scopes(void *unused)
{
    (void)unused;
    while (!atomic_load(&done)) {
        TT_SCOPE;
        tt x = (tt_full)(TT_F32, 7, &shape);
        atomic_store(&offered, (uint64_t)x.slot << 32 | x.generation);
        usleep(50);
    }
    return NULL;
}

static long memory_now(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * 4;
}

/* A loop with a scope and a variable stays as big as it is. */
static void test_steady(void)
{
    tt v = (tt_full)(TT_F32, 0, &shape);
    long before = 0;
    for (int i = 0; i < 3000; i++) {
        TT_SCOPE;
        tt_assign(v, tt_add(v, 1));
        if (i == 1000)
            before = memory_now();
    }
    CHECK(tt_item(tt_amax(v)) == 3000);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* these keep what is freed */
    CHECK(memory_now() - before < 1024);                          /* kilobytes */
#endif
    (void)before;
}

int main(void)
{
    front_start(2);
    pthread_t threads[THREADS], ender;
    pthread_create(&ender, NULL, end_scopes, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&done, true);
    pthread_join(ender, NULL);
    test_steady();
    return check_done();
}
