/* eager_test.c - ten thousand different calls outside traces compile a few programs and keep fewer.
 *
 * Numbers of the host (indices, bounds, turns) are operands, so calls that differ in nothing else
 * share a program.  Calls that differ in their shapes cannot; of their programs the last used are
 * kept.  Programs are counted at the seam, as they are compiled and destroyed: also those that cannot
 * be used after all. */
#include "front/client/client.h"
#include "front/run/compiled_fn.h"
#include "pjrt/client.h"
#include "tests/front.h"
#include "tests/stress/resident.h"

enum { SIDE = 100, CALLS = 10000, MOST_GROWTH = 1 << 20 };

static PJRT_Api counted;
static const PJRT_Api *engine;
static int ncompiled, ndestroyed;

static PJRT_Error *compile(PJRT_Client_Compile_Args *args)
{
    ncompiled++;
    return engine->PJRT_Client_Compile(args);
}

static PJRT_Error *destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    ndestroyed++;
    return engine->PJRT_LoadedExecutable_Destroy(args);
}

static bool refuses; /* to bring an array to a device */

static PJRT_Error *copy(PJRT_Buffer_CopyToDevice_Args *args)
{
    return engine->PJRT_Buffer_CopyToDevice(refuses ? NULL : args); /* which is an error */
}

static PJRT_Error *send(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    return engine->PJRT_Client_BufferFromHostBuffer(refuses ? NULL : args);
}

static void count_programs(void)
{
    engine = client_plugin()->api;
    memcpy(&counted, engine,
           engine->struct_size < sizeof counted ? engine->struct_size : sizeof counted);
    counted.PJRT_Client_Compile = compile;
    counted.PJRT_LoadedExecutable_Destroy = destroy;
    counted.PJRT_Buffer_CopyToDevice = copy;
    counted.PJRT_Client_BufferFromHostBuffer = send;
    client_plugin()->api = &counted;
}

typedef void Try(tt x, int i);

static void try_index(tt x, int i)
{
    CHECK(tt_item(tt_index(x, i / SIDE, i % SIDE - SIDE)) == i);
}

static void try_row(tt x, int i)
{
    float row[SIDE];
    CHECK(tt_read(tt_index(x, i % SIDE), row, sizeof row) && row[3] == i % SIDE * SIDE + 3);
}

static void try_slice(tt x, int i)
{
    float part[2 * SIDE];
    int at = i % (SIDE - 2);
    CHECK(tt_read(tt_slice(x, 0, at, at + 2), part, sizeof part) && part[SIDE] == (at + 1) * SIDE);
}

static tt count_up(tt turn, tt x)
{
    return tt_add(x, turn);
}
TT_FUN(tt, count_up, tt, tt);

static void try_fori(tt x, int i)
{
    (void)x;
    CHECK(tt_item(tt_fori(i, count_up, tt_zeros(TT_I32))) == (int32_t)((int64_t)i * (i - 1) / 2));
}

/* Memory is looked at after a tenth of the calls and at the end. */
static void stays_flat(const char *name, Try *try, tt x, int most_programs)
{
    int before = ncompiled;
    long memory = 0;
    for (int i = 0; i < CALLS; i++) {
        TT_SCOPE;
        try(x, i);
        if (i == CALLS / 10)
            memory = resident();
    }
    long growth = resident() - memory;
    printf("%s: %d calls, %d programs, %ld KB more\n", name, CALLS, ncompiled - before,
           growth / 1024);
    CHECK(ncompiled - before <= most_programs);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* these keep what is freed */
    CHECK(growth < MOST_GROWTH);
#endif
    CHECK_SAID("");
}

static tt thrice(tt x)
{
    return tt_mul(3, x);
}

/* Every shape has its program, of a public function and of the user's; of all of them few are kept,
 * and those that went are made again. */
static void keeps_the_last_used(void)
{
    enum { MOST = 16, SHAPES = 100 };
    int made = ncompiled, before = ncompiled - ndestroyed, was = compiled_fn_most;
    compiled_fn_most = before + MOST;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 1; i <= SHAPES; i++) {
            TT_SCOPE;
            tt x = tt_ones(TT_F32, i);
            CHECK(tt_item(tt_sum(tt_call(thrice, x))) == 3 * i);
            CHECK(tt_item(tt_sum(tt_call(thrice, x))) == 3 * i);
            CHECK(ncompiled - ndestroyed <= before + MOST);
        }
    CHECK(ncompiled - made == 2 * 2 * SHAPES);
    compiled_fn_most = was;
    CHECK_SAID("");
}

static tt outside; /* a large array on one device */

static tt adds_outside(tt x)
{
    return tt_add(x, tt_sum(outside));
}

/* The function is compiled, and then what it captures cannot be brought to its devices. */
static void gives_back_what_it_cannot_use(void)
{
    int before = ncompiled, held = ncompiled - ndestroyed;
    outside = tt_add(tt_ones(TT_F32, 1000), 1);
    CHECK(tt_item(tt_index(outside, 3)) == 2);
    tt x = tt_ones(TT_F32, 2);
    CHECK(tt_item(tt_sum(x)) == 2);
    int made = ncompiled, kept = ncompiled - ndestroyed - held;
    refuses = true;
    tt_call(tt_pmap(adds_outside), x);
    refuses = false;
    CHECK(strstr(front_said(), "args is NULL"));
    CHECK(ncompiled == made + 1 && before < made);
    CHECK(ncompiled - ndestroyed - held == kept);
    CHECK(tt_item(tt_index(tt_call(tt_pmap(adds_outside), x), 1)) == 2001);
    CHECK_SAID("");
}

int main(void)
{
    front_start(2);
    count_programs();
    tt x = tt_reshape(tt_arange(TT_F32, SIDE * SIDE), SIDE, SIDE);
    stays_flat("tt_index", try_index, x, 1);
    stays_flat("rows by tt_index", try_row, x, 1);
    stays_flat("tt_slice", try_slice, x, 1);
    stays_flat("tt_fori", try_fori, x, 1);
    keeps_the_last_used();
    gives_back_what_it_cannot_use();
    return check_done();
}
