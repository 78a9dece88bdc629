/* memory_test.c - the caching allocator: alignment, reuse, books, limits.  Links the engine. */
#include "engine/memory/memory.h"

#include "base/sync.h"
#include "tests/check.h"

#include <stdlib.h>

static void check_sizes(void)
{
    Memory *memory = memory_new(0, 0);
    size_t sizes[] = { 0,    1,     63,    64,     65,      512,           513,    1000,
                       4096, 32768, 32769, 100000, 1 << 20, (2 << 20) + 1, 5 << 20 };
    enum { N = sizeof sizes / sizeof *sizes };
    char *blocks[N];
    for (int i = 0; i < N; i++) {
        void *block;
        CHECK(!memory_take(memory, sizes[i], &block));
        CHECK((uintptr_t)block % 64 == 0);
        memset(block, i, sizes[i]);
        blocks[i] = block;
    }
    size_t total = 0;
    for (int i = 0; i < N; i++) {
        for (size_t at = 0; at < sizes[i]; at += 61)
            CHECK(blocks[i][at] == i);
        total += sizes[i];
    }
    MemoryStats s = memory_stats(memory);
    CHECK(s.bytes_in_use >= total && s.bytes_in_use < total + total / 8 + 64 * N);
    CHECK(s.nallocs == N && s.nreused == 0);
    for (int i = 0; i < N; i++)
        memory_give(memory, blocks[i], sizes[i]);
    CHECK(memory_stats(memory).bytes_in_use == 0 &&
          memory_stats(memory).peak_bytes == s.peak_bytes);
    for (int i = 0; i < N; i++) {
        void *block;
        CHECK(!memory_take(memory, sizes[i], &block));
        blocks[i] = block;
    }
    CHECK(memory_stats(memory).nreused == N);
    for (int i = 0; i < N; i++)
        memory_give(memory, blocks[i], sizes[i]);
    memory_free(memory);
}

static void check_limit(void)
{
    Memory *memory = memory_new(3, 1000);
    void *a, *b;
    CHECK(!memory_take(memory, 500, &a));
    Error *error = memory_take(memory, 600, &b);
    CHECK_STR(error_text(error), "device 3: 600 bytes asked, 488 left of 1000 "
                                 "(TUTTI_DEVICE_MEMORY)");
    CHECK(error_code(error) == CODE_EXHAUSTED);
    error_free(error);
    error = memory_take(memory, 480, &b);
    CHECK_STR(error_text(error), "device 3: 480 bytes asked, which take 512, 488 left of "
                                 "1000 (TUTTI_DEVICE_MEMORY)");
    error_free(error);
    error = memory_take(memory, SIZE_MAX, &b);
    CHECK(error != NULL);
    error_free(error);
    memory_give(memory, a, 500);
    CHECK(!memory_take(memory, 960, &a));
    memory_give(memory, a, 960);
    memory_free(memory);

    memory = memory_new(1, 4096);
    Storage *storages[4];
    int64_t extents[] = { 100, 300, 10 }, many[] = { 2, 1, 5, 1, 1, 20 };
    for (int i = 0; i < 3; i++)
        CHECK(!storage_new(memory, (Type){ F32, 1, &extents[i] }, &storages[i]));
    CHECK(!storage_new(memory, (Type){ F32, 6, many }, &storages[3]));
    error = memory_take(memory, 4000, &b);
    CHECK_STR(error_text(error), "device 1: 4000 bytes asked, 1472 left of 4096 "
                                 "(TUTTI_DEVICE_MEMORY); the largest alive: f32[300] (1200 bytes), "
                                 "f32[2,1,5,1,1,20] (800 bytes), f32[100] "
                                 "(400 bytes)");
    error_free(error);
    CHECK(memory_stats(memory).largest_bytes == 1280);
    for (int i = 0; i < 4; i++)
        storage_release(storages[i]);
    CHECK(memory_stats(memory).bytes_in_use == 0 && memory_stats(memory).idle_bytes == 2624);
    memory_free(memory);

    memory = memory_new(0, 0);
    error = memory_take(memory, (size_t)1 << 61, &b); /* more than any machine has */
    CHECK(error && error_code(error) == CODE_EXHAUSTED);
    error_free(error);
    memory_free(memory);
}

static void count(void *data, void *user)
{
    (void)data;
    ++*(int *)user;
}

static void check_storage(void)
{
    Memory *memory = memory_new(0, 0);
    Storage *storage;
    CHECK(!storage_new(memory, (Type){ U8, 1, (int64_t[]){ 100 } }, &storage));
    CHECK(storage_is_alone(storage));
    storage_hold(storage);
    CHECK(!storage_is_alone(storage));
    storage_release(storage);
    CHECK(storage_is_alone(storage));
    memory_free(memory); /* what is alive stays valid */
    memset(storage->data, 1, 100);
    storage_release(storage);

    int nended = 0;
    char mine[8];
    storage = storage_foreign(mine, sizeof mine, count, &nended);
    storage_release(storage_hold(storage));
    CHECK(nended == 0);
    storage_release(storage);
    CHECK(nended == 1);
}

/* Threads that take and give: no block is ever out twice. */
static void churn(void *user)
{
    Memory *memory = user;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    char *blocks[16] = { 0 };
    size_t sizes[16] = { 0 };
    for (int turn = 0; turn < 3000; turn++) {
        int i = rand_r(&seed) % 16;
        if (blocks[i]) {
            CHECK(*(char **)blocks[i] == blocks[i]);
            memory_give(memory, blocks[i], sizes[i]);
            blocks[i] = NULL;
        } else {
            void *block;
            sizes[i] = 8 + (size_t)rand_r(&seed) % 40000;
            CHECK(!memory_take(memory, sizes[i], &block));
            blocks[i] = block;
            *(char **)block = block;
        }
    }
    for (int i = 0; i < 16; i++)
        if (blocks[i])
            memory_give(memory, blocks[i], sizes[i]);
}

static void check_threads(void)
{
    Memory *memory = memory_new(0, 0);
    Thread threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(!thread_start(&threads[i], "churn", churn, memory));
    for (int i = 0; i < 3; i++)
        thread_join(&threads[i]);
    CHECK(memory_stats(memory).bytes_in_use == 0);
    memory_free(memory);
}

/* Two blocks of 1 MiB lie on one huge page, and each can be given back to the system alone. */
static void check_parts_of_a_page(void)
{
    enum { MIB = 1 << 20 };
    Memory *memory = memory_new(0, 0);
    void *first, *second, *third;
    CHECK(!memory_take(memory, MIB, &first));
    CHECK(memory_stats(memory).idle_bytes == MIB);
    CHECK(!memory_take(memory, MIB, &second));
    CHECK(memory_stats(memory).idle_bytes == 0 && memory_stats(memory).nreused == 1);
    CHECK((uintptr_t)first >> 21 == (uintptr_t)second >> 21 && first != second);
    CHECK(!memory_take(memory, MIB, &third));
    CHECK((uintptr_t)first >> 21 != (uintptr_t)third >> 21);
    memset(first, 1, MIB);
    memset(second, 2, MIB);
    memset(third, 3, MIB);
    CHECK(*(char *)first == 1 && *(char *)second == 2);
    memory_give(memory, first, MIB);
    memory_give(memory, third, MIB);
    memory_give(memory, second, MIB);
    CHECK(memory_stats(memory).bytes_in_use == 0);
    memory_free(memory);
}

/* Idle blocks of sizes that are no longer asked for make room for those that are. */
static void check_sizes_that_change(void)
{
    enum { MIB = 1 << 20 };
    Memory *memory = memory_new(0, 0);
    void *old[3], *block;
    for (int i = 0; i < 3; i++)
        CHECK(!memory_take(memory, (size_t)(170 + 30 * i) * MIB, &old[i]));
    for (int i = 0; i < 3; i++)
        memory_give(memory, old[i], (size_t)(170 + 30 * i) * MIB);
    for (int i = 0; i < 3; i++) {
        CHECK(!memory_take(memory, (size_t)500 * MIB, &block));
        memory_give(memory, block, (size_t)500 * MIB);
    }
    CHECK(memory_stats(memory).nreused == 2);
    memory_free(memory);
}

/* What is idle and what is used are together no more than the limit. */
static void check_idle_below_limit(void)
{
    enum { MIB = 1 << 20 };
    Memory *memory = memory_new(0, 8 * MIB);
    void *first, *second;
    CHECK(!memory_take(memory, 5 * MIB, &first));
    memory_give(memory, first, 5 * MIB);
    CHECK(memory_stats(memory).idle_bytes == 5 * MIB);
    CHECK(!memory_take(memory, 3 * MIB, &second)); /* both fit */
    CHECK(memory_stats(memory).idle_bytes == 5 * MIB);
    memory_give(memory, second, 3 * MIB);
    CHECK(!memory_take(memory, 7 * MIB, &first));
    CHECK(memory_stats(memory).bytes_in_use == 7 * MIB && memory_stats(memory).idle_bytes == 0);
    CHECK(!memory_take(memory, MIB, &second)); /* and the rest of its huge page does not */
    CHECK(memory_stats(memory).bytes_in_use == 8 * MIB && memory_stats(memory).idle_bytes == 0);
    memory_give(memory, first, 7 * MIB);
    memory_give(memory, second, MIB);
    memory_free(memory);
}

/* Of what another device lends each has its share, and is not its own. */
static void check_lent(void)
{
    Memory *owner = memory_new(0, 0), *other = memory_new(1, 0);
    int64_t extent = 1 << 18;
    size_t bytes = memory_rounded((size_t)extent * 4);
    Storage *own, *lent;
    CHECK(!storage_new(owner, (Type){ F32, 1, &extent }, &own));
    CHECK(!storage_lend(other, (Type){ F32, 1, &extent }, own, 2, &lent));
    size_t pool = memory_stats(owner).pool_bytes;
    CHECK(memory_stats(owner).bytes_in_use == bytes / 2 && pool >= bytes);
    CHECK(memory_stats(other).bytes_in_use == bytes / 2 && memory_stats(other).pool_bytes == 0);
    storage_release(lent); /* now all of it is the owner's again */
    CHECK(memory_stats(owner).bytes_in_use == bytes && memory_stats(owner).pool_bytes == pool);
    CHECK(!storage_lend(other, (Type){ F32, 1, &extent }, own, 2, &lent));
    storage_release(own); /* which the other device still reads */
    CHECK(memory_stats(owner).bytes_in_use == bytes / 2);
    storage_release(lent);
    CHECK(memory_stats(owner).bytes_in_use == 0 && memory_stats(owner).pool_bytes == pool);
    CHECK(memory_stats(other).bytes_in_use == 0 && memory_stats(other).peak_pool_bytes == 0);
    CHECK(memory_stats(owner).peak_pool_bytes >= bytes);
    memory_free(owner);
    memory_free(other);
}

int main(void)
{
    check_lent();
    check_parts_of_a_page();
    check_sizes_that_change();
    check_idle_below_limit();
    check_sizes();
    check_limit();
    check_storage();
    check_threads();
    return check_done();
}
