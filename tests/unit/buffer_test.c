/* buffer_test.c - arrays on devices: strides, transfers that wait, views.  Links the engine. */
#include "tests/handmade.h"

static void check_strides(Device *device)
{
    int64_t dims[] = { 2, 3 };
    Type type = { I32, 2, dims };
    int32_t host[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    struct {
        int start;
        int64_t strides[2];
        int32_t expected[6];
    } cases[] = {
        { 0, { 12, 4 }, { 0, 1, 2, 3, 4, 5 } },   /* dense */
        { 0, { 4, 8 }, { 0, 2, 4, 1, 3, 5 } },    /* column-major */
        { 5, { -12, -4 }, { 5, 4, 3, 2, 1, 0 } }, /* reversed */
        { 2, { 12, -4 }, { 2, 1, 0, 5, 4, 3 } },  /* rows reversed */
        { 7, { 0, 4 }, { 7, 8, 9, 7, 8, 9 } },    /* broadcast */
        { 7, { 0, 0 }, { 7, 7, 7, 7, 7, 7 } },
        { 0, { 24, 8 }, { 0, 2, 4, 6, 8, 10 } }, /* every second */
        { 0, { 16, 4 }, { 0, 1, 2, 4, 5, 6 } },  /* rows with gaps */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buffer *b;
        CHECK(!buffer_from_host(device, type, host + cases[i].start, cases[i].strides, &b));
        int32_t back[6] = { 0 };
        Event *done;
        CHECK(!buffer_to_host(b, back, sizeof back, &done));
        CHECK(event_is_ready(done));
        event_release(done);
        CHECK(!memcmp(back, cases[i].expected, sizeof back));
        buffer_free(b);
    }
}

/* Three dimensions and every size of element, against plain indexing. */
static void check_elements(Device *device)
{
    Element elements[] = { I8, I16, F32, F64, C128 };
    int64_t dims[] = { 3, 1, 5, 2 };
    for (int k = 0; k < 5; k++) {
        size_t size = (size_t)element_info[elements[k]].bytes;
        unsigned char host[2000], back[3 * 5 * 2 * 16];
        for (size_t i = 0; i < sizeof host; i++)
            host[i] = (unsigned char)(i * 7);
        int64_t step = (int64_t)size, strides[] = { 2 * step, 77, 9 * step, -step };
        Type type = { elements[k], 4, dims };
        Buffer *b;
        Event *done;
        CHECK(!buffer_from_host(device, type, host + 100, strides, &b));
        CHECK(!buffer_to_host(b, back, sizeof back, &done));
        event_release(done);
        size_t at = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 5; j++)
                for (int l = 0; l < 2; l++, at += size)
                    CHECK(!memcmp(back + at,
                                  host + 100 + i * strides[0] + j * strides[2] + l * strides[3],
                                  size));
        buffer_free(b);
    }
}

/* What the host leaves above a narrow number does not come in. */
static void check_narrow(Device *device)
{
    int64_t dims[] = { 5 };
    struct {
        Element element;
        uint8_t host[5], expected[5];
    } cases[] = {
        { I1, { 0, 1, 2, 96, 255 }, { 0, 1, 1, 1, 1 } },
        { I2, { 0, 1, 2, 3, 0xfd }, { 0, 1, 0xfe, 0xff, 1 } },
        { I4, { 7, 8, 0x0e, 0xf1, 0xff }, { 7, 0xf8, 0xfe, 1, 0xff } },
        { U2, { 0, 1, 2, 3, 0xfd }, { 0, 1, 2, 3, 1 } },
        { U4, { 7, 8, 0x0e, 0xf1, 0xff }, { 7, 8, 0x0e, 1, 0x0f } },
        { I8, { 7, 8, 0x0e, 0xf1, 0xff }, { 7, 8, 0x0e, 0xf1, 0xff } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buffer *b;
        Event *done;
        uint8_t back[5];
        CHECK(!buffer_from_host(device, (Type){ cases[i].element, 1, dims }, cases[i].host, NULL,
                                &b));
        CHECK(!buffer_to_host(b, back, sizeof back, &done));
        event_release(done);
        CHECK(!memcmp(back, cases[i].expected, sizeof back));
        buffer_free(b);
    }
}

static void check_empty_and_scalar(Device *device)
{
    int64_t dims[] = { 3, 0 };
    Type empty = { F32, 2, dims };
    Buffer *b;
    Event *done;
    CHECK(!buffer_from_host(device, empty, NULL, NULL, &b));
    CHECK(!buffer_to_host(b, NULL, 0, &done));
    event_release(done);
    buffer_free(b);
    double x = 3.5, y = 0;
    CHECK(!buffer_from_host(device, type_scalar(F64), &x, (int64_t[]){ 0 }, &b));
    CHECK(!buffer_to_host(b, &y, sizeof y, &done));
    CHECK(y == 3.5);
    event_release(done);
    Error *error = buffer_to_host(b, &y, 4, &done);
    CHECK_STR(error_text(error), "buffer f64[] on device 0 takes 8 bytes; there is room for 4");
    error_free(error);
    buffer_free(b);
}

/* A launch consumed the buffer and could not start: the buffer is as before, unless another thread
 * has deleted it meanwhile. */
static void check_restored(Executor *e, bool is_deleted)
{
    float x = 5;
    Buffer *b;
    Storage *held;
    Event *pending;
    CHECK(!buffer_from_host(executor_device(e, 0), one_f32, &x, NULL, &b));
    CHECK(!buffer_hold(b, &held, &pending));
    CHECK(buffer_consume(b, held));
    if (is_deleted)
        buffer_delete(b);
    buffer_restore(b, held);
    CHECK(buffer_is_deleted(b) == is_deleted);
    CHECK(storage_is_alone(held) == is_deleted);
    storage_release(held);
    buffer_free(b);
}

/* Contents that come later: transfers and copies wait for them without blocking. */
static void check_pending(Executor *e, bool fails)
{
    Device *device = executor_device(e, 0), *other = executor_device(e, 1);
    Storage *storage;
    CHECK(!storage_new(device->memory, one_f32, &storage));
    Event *written = event_new();
    Buffer *b, *copy;
    CHECK(!buffer_new(device, one_f32, storage, written, &b));
    float x = 0;
    Event *done;
    CHECK(!buffer_to_host(b, &x, sizeof x, &done));
    CHECK(!event_is_ready(done));
    CHECK(!buffer_copy(b, other, &copy));
    CHECK(copy->device == other);
    Event *ready = buffer_ready(b);
    CHECK(!event_is_ready(ready));
    *(float *)storage->data = 8;
    buffer_delete(b); /* the transfers have holds of their own */
    event_set(written, fails ? error_new(CODE_INVALID, "lost") : NULL);
    event_release(written);
    CHECK(event_is_ready(done) && event_is_ready(ready));
    CHECK(x == (fails ? 0 : 8));
    CHECK_STR(failure_of(copy), fails ? "lost" : "");
    Error *error = event_error(done);
    CHECK((error != NULL) == fails);
    error_free(error);
    if (!fails)
        CHECK(read_float(copy) == 8);
    event_release(done);
    event_release(ready);
    buffer_free(b);
    buffer_free(copy);
}

/* A copy of a copy of a copy, all before the first is there. */
static void check_chain(Executor *e, bool fails)
{
    enum { COPIES = 100000 };
    Storage *storage;
    CHECK(!storage_new(executor_device(e, 0)->memory, one_f32, &storage));
    Event *written = event_new();
    Buffer *last;
    CHECK(!buffer_new(executor_device(e, 0), one_f32, storage, written, &last));
    *(float *)storage->data = 9;
    for (int i = 0; i < COPIES; i++) {
        Buffer *copy;
        CHECK(!buffer_copy(last, executor_device(e, i % 2), &copy));
        buffer_free(last);
        last = copy;
    }
    event_set(written, fails ? error_new(CODE_INVALID, "lost") : NULL);
    event_release(written);
    CHECK_STR(failure_of(last), fails ? "lost" : "");
    CHECK(fails || read_float(last) == 9);
    buffer_free(last);
}

static void check_views(Device *device)
{
    Buffer *b = make_float(device, 4);
    void *view, *second;
    CHECK(!buffer_view(b, &view));
    CHECK(!buffer_view(b, &second) && second == view);
    buffer_delete(b);
    CHECK(buffer_is_deleted(b));
    CHECK(*(float *)view == 4);
    Error *error = buffer_view(b, &second);
    CHECK_STR(error_text(error), "buffer f32[1] on device 0 has been deleted or donated");
    error_free(error);
    buffer_unview(b);
    CHECK(*(float *)view == 4);
    CHECK(memory_stats(device->memory).bytes_in_use == 64);
    buffer_unview(b);
    CHECK(memory_stats(device->memory).bytes_in_use == 0);
    buffer_free(b);

    b = make_float(device, 5);
    CHECK(!buffer_view(b, &view));
    buffer_free(b); /* the object lives until its last view ends */
    CHECK(*(float *)view == 5);
    buffer_unview(b);
}

int main(void)
{
    Executor *e;
    CHECK(!executor_new(2, 1, 0, &e));
    Device *device = executor_device(e, 0);
    check_strides(device);
    check_elements(device);
    check_narrow(device);
    check_empty_and_scalar(device);
    check_restored(e, false);
    check_restored(e, true);
    check_pending(e, false);
    check_pending(e, true);
    check_chain(e, false);
    check_chain(e, true);
    check_views(device);
    CHECK(memory_stats(device->memory).bytes_in_use == 0);
    executor_free(e);
    return check_done();
}
