/* NumPy's files: what is read, in which order, and what is refused. */
#include "files/arrays.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/tutti-npy-XXXXXX";

/* A file of this header and these bytes behind it. */
static void leave(const char *header, const void *data, size_t n)
{
    FILE *file = fopen(path, "wb");
    size_t length = strlen(header);
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    putc((int)(length & 255), file);
    putc((int)(length >> 8), file);
    fwrite(header, 1, length, file);
    fwrite(data, 1, n, file);
    CHECK(fclose(file) == 0);
}

/* Reads all of it as elements e; what was wrong, without the path before it, or "". */
static const char *read_as(Element e, void *data)
{
    static char said[256];
    ArrayFile *file;
    Error *error = arrays_open(path, &file);
    if (!error) {
        const FileArray *a = &file->at[0];
        error = !file_array_holds(a, e) ? error_new(CODE_INVALID, "%s other", path)
                                        : file_array_check(a, e);
        if (!error)
            error = file_array_read(file, a, e, data);
        arrays_close(file);
    }
    snprintf(said, sizeof said, "%s", error ? error_text(error) + sizeof path : "");
    error_free(error);
    return said;
}

static void test_orders(void)
{
    float x[6];
    static const unsigned char big[] = { 0x3F, 0x80, 0, 0, 0x40, 0, 0, 0 }; /* 1, 2 */
    leave("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", big, sizeof big);
    CHECK_STR(read_as(F32, x), "");
    CHECK(x[0] == 1 && x[1] == 2);
    /* np.array([[1, 2, 3], [4, 5, 6]], order='F') */
    static const float columns[] = { 1, 4, 2, 5, 3, 6 };
    leave("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", columns, sizeof columns);
    CHECK_STR(read_as(F32, x), "");
    CHECK(memcmp(x, (float[]){ 1, 2, 3, 4, 5, 6 }, sizeof x) == 0);
    static const unsigned char complex[] = { 0x40, 0x40, 0, 0, 0xBF, 0x80, 0, 0 }; /* 3-1j */
    leave("{\"descr\" : \">c8\", \"fortran_order\": False, \"shape\": ()}", complex,
          sizeof complex);
    CHECK_STR(read_as(C64, x), "");
    CHECK(x[0] == 3 && x[1] == -1);
    leave("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }\n", "", 0);
    CHECK_STR(read_as(F32, x), "");
}

static void test_elements(void)
{
    uint16_t x;
    leave("{'descr': '<V2', 'fortran_order': False, 'shape': (), }\n", "\x80\x3F", 2);
    CHECK_STR(read_as(BF16, &x), "");
    CHECK(x == 0x3F80);
    CHECK_STR(read_as(F16, &x), "other");
    CHECK_STR(read_as(I16, &x), "other");
    leave("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }\n", "", 0);
    CHECK_STR(read_as(F32, &x), "other");
    leave("{'descr': '', 'fortran_order': False, 'shape': (), }\n", "", 0);
    CHECK_STR(read_as(F32, &x), "other");
}

static void test_refused(void)
{
    static const char *const none[] = {
        "",
        "{",
        "{'descr': '",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (",
        "{'fortran_order': False, 'shape': (), 'descr': '", /* ends within a string */
        "{'fortran_order': False, 'shape': (), 'descr': ",
        "{'fortran_order': False, 'shape': (), 'descr': '<f4",
        "{'descr': '<f4', 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': 3, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{descr: '<f4', fortran_order: False, shape: (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
        ",1,1,1,1,1,1,1,1,1,1,1,1,1)}", /* 33 of them */
    };
    float x;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        leave(none[i], "", 0);
        CHECK_STR(read_as(F32, &x), "is not an array in NumPy's .npy format");
    }
    /* Products of extents that wrap to 0 and to 4 bytes. */
    leave("{'descr': '<f4', 'fortran_order': False, 'shape': (281474976710656, 65536), }\n", "", 0);
    CHECK_STR(read_as(F32, &x),
              "says that it holds f32[281474976710656,65536]: no memory is as large");
    leave("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967297, 4294967295, "
          "18446744073709551, 3), }\n",
          "1234", 4);
    CHECK(strstr(read_as(F32, &x), "no memory is as large"));
    leave("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", "123", 3);
    CHECK_STR(read_as(F32, &x), "ends early: it has 3 bytes of data for f32[]");
}

static void test_back(void)
{
    static const int64_t dims[] = { 3, 2 };
    static const int16_t x[] = { 1, -2, 3, -4, 5, -6 };
    int16_t y[6];
    Error *error = npy_write(path, (Type){ I16, 2, dims }, x);
    CHECK(!error);
    char text[129] = "";
    FILE *file = fopen(path, "rb");
    CHECK(fread(text, 1, 128, file) == 128);
    fclose(file);
    /* as np.save(np.zeros((3, 2), np.int16)) begins */
    CHECK_STR(strtok(text + 10, "\n"),
              "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }"
              "                                                          ");
    CHECK_STR(read_as(I16, y), "");
    CHECK(memcmp(x, y, sizeof x) == 0);
    error = npy_write("/dev/full", (Type){ I16, 2, dims }, x);
    CHECK_STR(error ? error_text(error) : "",
              "/dev/full cannot be written: No space left on device");
    error_free(error);
}

int main(void)
{
    close(mkstemp(path));
    test_orders();
    test_elements();
    test_refused();
    test_back();
    unlink(path);
    return check_done();
}
