/* dlpack_test.c - tensors that another library of the process hands over: those that are broken, each with
 * its message, and random ones, which are taken or refused; all of them are given back once. */
#include "tests/front.h"

#include <stdint.h>

/* DLPack 1.0, as tt_from_dlpack takes it. */
typedef struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    void *data;
    int32_t device, device_id, rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} Tensor;

static int given_back;

static void give_back(Tensor *self)
{
    given_back += self->context == self;
}

static float six[] = { 1, 2, 3, 4, 5, 6 };
static int64_t rows_and_columns[] = { 2, 3 }, columns_first[] = { 1, 2 };

static Tensor good(void)
{
    return (Tensor){ .major = 1,
                     .deleter = give_back,
                     .data = six,
                     .device = 1,
                     .rank = 2,
                     .code = 2,
                     .bits = 32,
                     .lanes = 1,
                     .shape = rows_and_columns };
}

static tt taken(Tensor *t)
{
    t->context = t;
    int before = given_back;
    tt x = tt_from_dlpack(t);
    CHECK(given_back == before + 1);
    return x;
}

static void test_good(void)
{
    float back[6] = { 0 };
    Tensor plain = good(), turned = good();
    CHECK(tt_read(taken(&plain), back, sizeof back) && memcmp(back, six, sizeof six) == 0);
    turned.strides = columns_first;
    CHECK(tt_read(taken(&turned), back, sizeof back));
    const float expected[] = { 1, 3, 5, 2, 4, 6 };
    CHECK(memcmp(back, expected, sizeof back) == 0);
    CHECK_SAID("");
}

/* The message, without the place in this file. */
static const char *said(void)
{
    const char *all = front_said(), *message = strstr(all, "tt_from_dlpack");
    return message ? message : all;
}

/* What is wrong with it, and the message. */
#define BROKEN(change, message)                                                                    \
    do {                                                                                           \
        Tensor t = good();                                                                         \
        change;                                                                                    \
        taken(&t);                                                                                 \
        CHECK_STR(said(), message);                                                                \
    } while (0)

static void test_broken(void)
{
    int64_t negative[] = { 2, -3 }, huge[] = { INT64_MAX, INT64_MAX };
    int64_t nowhere[] = { 0, 0 };
    tt_from_dlpack(NULL);
    CHECK_STR(said(), "tt_from_dlpack: there is no tensor");
    BROKEN(t.major = 2, "tt_from_dlpack: version 2 of DLPack; 1 is known here");
    BROKEN(t.device = 2, "tt_from_dlpack: the array is on a device of kind 2; it must be in the "
                         "host's memory");
    BROKEN(t.bits = 24, "tt_from_dlpack: elements of kind 2 with 24 bits have no tt_dtype");
    BROKEN(t.code = 77, "tt_from_dlpack: elements of kind 77 with 32 bits have no tt_dtype");
    BROKEN(t.lanes = 4, "tt_from_dlpack: an element has 4 lanes; it must have one");
    BROKEN(t.rank = -1, "tt_from_dlpack: a shape has 0 to 12 extents, not -1");
    BROKEN(t.rank = 1 << 30, "tt_from_dlpack: a shape has 0 to 12 extents, not 1073741824");
    BROKEN(t.shape = NULL, "tt_from_dlpack: 2 dimensions, and no shape");
    BROKEN(t.shape = negative, "tt_from_dlpack: extent 1 of the shape is -3; it must be 0 or more");
    BROKEN(t.shape = huge, "tt_from_dlpack: the shape has more than 2^56 elements");
    BROKEN(t.data = NULL, "tt_from_dlpack: f32[2,3], and no data");
    BROKEN((t.data = NULL, t.shape = nowhere), "");
}

static uint64_t seed = 1;

static uint64_t any(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

/* All strides are 0: whatever the shape, one element is read. */
static void test_random(void)
{
    static const int64_t extents[] = { 0, 1, 1, 2, 3, 5, -1, INT64_MIN, INT64_MAX };
    static const uint8_t widths[] = { 8, 16, 32, 64, 128, 7, 0 };
    static _Alignas(16) unsigned char element[16];
    int nread = 0;
    for (int i = 0; i < 20000; i++) {
        int64_t shape[20], strides[20] = { 0 };
        for (int k = 0; k < 20; k++)
            shape[k] = extents[any() % (any() % 4 ? 6 : 9)];
        Tensor t = good();
        t.rank = (int32_t)(any() % (any() % 8 ? 4 : 20)) - (any() % 50 == 0);
        t.code = (uint8_t)(any() % 8);
        t.bits = widths[any() % 7];
        t.lanes = any() % 10 ? 1 : (uint16_t)any();
        t.major = any() % 20 ? 1 : (uint32_t)any();
        t.device = any() % 20 ? 1 : (int32_t)any();
        t.data = any() % 20 ? element : NULL;
        t.shape = any() % 20 ? shape : NULL;
        t.strides = strides;
        element[0] = (unsigned char)(any() % 2);
        tt_scope scope = tt_scope_begin();
        tt x = taken(&t);
        bool is_refused = *front_said() != 0;
        unsigned char back[16] = { 0 };
        if (!is_refused && !tt_shape(x).n)
            nread += tt_read(x, back, t.bits / 8) && memcmp(back, element, t.bits / 8) == 0;
        CHECK(is_refused || *front_said() == 0);
        tt_scope_end(&scope);
    }
    CHECK(nread > 500);
}

int main(void)
{
    front_start(1);
    test_good();
    test_broken();
    test_random();
    return check_done();
}
