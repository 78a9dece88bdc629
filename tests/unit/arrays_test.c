/* arrays_test.c - files of named arrays: what is read of safetensors and .npz, what is written, and
 * every way in which a file can be broken, with what is said about it. */
#include "files/arrays.h"

#include "files/crc32.h"
#include "files/inflate.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/tutti-arrays-XXXXXX";

/* Opens the bytes and reads every array; what was wrong, or "". */
static const char *said_of(const void *bytes, size_t n)
{
    static char said[512];
    ArrayFile *file = NULL;
    Error *error = arrays_of((Str){ bytes, n }, "x", &file);
    for (int i = 0; !error && i < file->n; i++) {
        const FileArray *a = &file->at[i];
        Element e = a->is_npy ? F32 : a->type.element;
        error = file_array_check(a, e);
        void *data = error ? NULL : malloc(type_bytes(file_array_type(a, e)) + 1);
        if (data)
            error = file_array_read(file, a, e, data);
        free(data);
    }
    snprintf(said, sizeof said, "%s", error ? error_text(error) : "");
    error_free(error);
    arrays_close(file);
    return said;
}

/* ---- safetensors ---- */

/* A file of this header and n bytes of data. */
static const char *said_of_header(const char *header, size_t n)
{
    size_t length = strlen(header);
    char *bytes = calloc(1, 8 + length + n + 1);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(length >> (8 * i));
    memcpy(bytes + 8, header, length);
    const char *said = said_of(bytes, 8 + length + n);
    free(bytes);
    return said;
}

static const struct {
    const char *header;
    size_t data;
    const char *said;
} broken[] = {
    { "{}", 0, "" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ", 8, "" },
    { "{\"\\u00e4\\n\":{\"shape\":[],\"dtype\":\"I8\",\"data_offsets\":[0,1]}}", 1, "" },
    { "{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]"
      "}}",
      0, "" },
    { "[]", 0, "x is not a file of arrays: safetensors, .npz or .npy" },
    { "{", 0, "x is not a file of arrays: safetensors, .npz or .npy" },
    { "{ ", 0, "x: byte 2 of its header: '\"' is expected" },
    { "{\"a\"}", 0, "x: byte 4 of its header: ':' is expected" },
    { "{\"a", 0, "x: byte 2 of its header: a string does not end" },
    { "{\"a\\", 0, "x: byte 2 of its header: a string does not end" },
    { "{\"a\\q\":1}", 0, "x: byte 4 of its header: no such escape" },
    { "{\"\\u12x4\":1}", 0,
      "x: byte 6 of its header: four hexadecimal digits are expected behind \\u" },
    { "{\"\\udc00\":1}", 0, "x: byte 8 of its header: half a pair of \\u" },
    { "{\"\\ud800x\":1}", 0, "x: byte 8 of its header: half a pair of \\u" },
    { "{\"a\t\":1}", 0, "x: byte 3 of its header: a control character in a string" },
    { "{\"a\":1}", 0, "x: byte 5 of its header: '{' is expected" },
    { "{\"a\":{}}", 0, "x: a must have dtype, shape and data_offsets" },
    { "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "x: a has two fields 'dtype'" },
    { "{\"a\":{\"kind\":1}}", 0, "x: a has a field 'kind'" },
    { "{\"a\":{\"dtype\":\"F31\"}}", 0, "x: a: elements 'F31' are not known here" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,0]}}", 0,
      "x: byte 29 of its header: a whole number from 0 on is expected" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,0]}}", 0,
      "x: byte 30 of its header: a whole number is expected" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,0]}}", 0,
      "x: byte 47 of its header: the number is too large" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[281474976710656,65536],\"data_offsets\":[0,0]}}", 0,
      "x: a says that it holds f32[281474976710656,65536]: no memory is as large" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,7]}}", 7,
      "x: a is f32[2], 8 bytes, but has 7" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7,
      "x: a lies from byte 0 to 8 of 7 bytes of data" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8,
      "x: a lies from byte 8 to 0 of 8 bytes of data" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9,
      "x has 9 bytes of data, and its arrays take 8" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\","
      "\"shape\":[2],\"data_offsets\":[1,3]}}",
      3, "x: b begins at byte 1 of the data, not at 2, where the one before it ends" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2,
      "x: a begins at byte 1 of the data, not at 0, where the one before it ends" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":{\"dtype\":\"U8\","
      "\"shape\":[0],\"data_offsets\":[0,0]}}",
      0, "x has two arrays named a" },
    { "{} x", 0, "x: byte 3 of its header: more behind the last brace" },
    { "{\"__metadata__\":{\"k\":1}}", 0, "x: byte 21 of its header: '\"' is expected" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
      "1,1,1,1,1],\"data_offsets\":[0,1]}}",
      1, "x: a has more than 32 dimensions" },
};

static void test_broken_safetensors(void)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        CHECK_STR(said_of_header(broken[i].header, broken[i].data), broken[i].said);
    CHECK_STR(said_of("", 0), "x is not a file of arrays: safetensors, .npz or .npy");
    CHECK_STR(said_of("\x09\0\0\0\0\0\0\0{}", 10),
              "x ends early: its header has 9 bytes, and the file 10");
    CHECK_STR(said_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10),
              "x is not a file of arrays: safetensors, .npz or .npy");
}

/* ---- written and read again ---- */

static const int64_t dims[] = { 2, 3 };
static const float w[] = { 1, 2, 3, 4, 5, -6 };
static const int64_t big = 1ll << 40;
static const NamedType arrays[] = { { "flag", { I1, 0, NULL } },
                                    { "layer.\"w\"", { F32, 2, dims } },
                                    { "big", { I64, 0, NULL } },
                                    { "none", { F32, 1, (const int64_t[]){ 0 } } } };
enum { NARRAYS = sizeof arrays / sizeof *arrays };

static Error *get(void *user, int i, void *data)
{
    const void *const all[] = { "\1", w, &big, "" };
    (void)user;
    memcpy(data, all[i], type_bytes(arrays[i].type));
    return NULL;
}

static void check_same(const ArrayFile *file)
{
    CHECK(file->n == NARRAYS);
    for (int i = 0; i < NARRAYS; i++) {
        char wanted[64], data[64];
        const FileArray *a = arrays_find(file, str_of(arrays[i].name));
        Element e = arrays[i].type.element;
        CHECK(a && file_array_holds(a, e) && type_equal(file_array_type(a, e), arrays[i].type));
        CHECK(a && !file_array_read(file, a, e, data) && !get(NULL, i, wanted));
        CHECK(memcmp(data, wanted, type_bytes(arrays[i].type)) == 0);
    }
    CHECK(!arrays_find(file, STR("w")));
}

static void test_written(void)
{
    ArrayFile *file = NULL;
    CHECK(!safetensors_write(path, NARRAYS, arrays, 12, get, NULL));
    CHECK(!arrays_open(path, &file) && !safetensors_check(file));
    check_same(file);
    CHECK(str_is(arrays_note(file, "step")->value, "12"));
    CHECK(file_array_view(arrays_find(file, STR("big")))); /* aligned */
    arrays_close(file);
    CHECK(!npz_write(path, NARRAYS, arrays, get, NULL));
    CHECK(!arrays_open(path, &file));
    check_same(file);
    arrays_close(file);
    CHECK(access("/tmp/tutti-arrays-none/x", F_OK) != 0);
    Error *error = npz_write("/tmp/tutti-arrays-none/x", NARRAYS, arrays, get, NULL);
    CHECK_STR(error ? error_text(error) : "",
              "/tmp/tutti-arrays-none/x.part cannot be written: No such file or directory");
    error_free(error);
}

static Error *fail_to_get(void *user, int i, void *data)
{
    return i == 1 ? error_new(CODE_INTERNAL, "not now") : get(user, i, data);
}

/* A write that fails leaves the file before, and nothing aside. */
static void test_left(void)
{
    char part[64];
    ArrayFile *file = NULL;
    snprintf(part, sizeof part, "%s.part", path);
    CHECK(!safetensors_write(path, NARRAYS, arrays, 1, get, NULL));
    Error *error = safetensors_write(path, NARRAYS, arrays, 2, fail_to_get, NULL);
    CHECK_STR(error ? error_text(error) : "", "not now");
    error_free(error);
    CHECK(access(part, F_OK) != 0);
    CHECK(!arrays_open(path, &file) && !safetensors_check(file));
    CHECK(str_is(arrays_note(file, "step")->value, "1"));
    arrays_close(file);
}

static char *bytes_of(const char *name, size_t *n)
{
    FILE *in = fopen(name, "rb");
    static char bytes[1 << 16];
    *n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    return bytes;
}

/* Every byte of a file changed, and every shorter file: each is refused, whoever finds it. */
static void test_damage(void)
{
    size_t n, missed = 0;
    CHECK(!safetensors_write(path, NARRAYS, arrays, 7, get, NULL));
    char *bytes = bytes_of(path, &n);
    for (size_t i = 0; i < n; i++) {
        ArrayFile *file = NULL;
        bytes[i] ^= 4;
        Error *error = arrays_of((Str){ bytes, n }, "x", &file);
        if (!error)
            error = file->n == NARRAYS && arrays_note(file, "crc32")
                        ? safetensors_check(file)
                        : error_new(CODE_INVALID, "not as many arrays");
        missed += !error;
        error_free(error);
        arrays_close(file);
        bytes[i] ^= 4;
    }
    CHECK(missed == 0);
    for (size_t i = 0; i < n; i++)
        missed += !*said_of(bytes, i);
    CHECK(missed == 0);
    CHECK(!npz_write(path, NARRAYS, arrays, get, NULL));
    bytes = bytes_of(path, &n);
    for (size_t i = 0; i < n; i++)
        missed += !*said_of(bytes, i);
    CHECK(missed == 0);
}

/* A file that changes under our hands. */
static void test_changed(void)
{
    ArrayFile *file = NULL;
    float data[6];
    CHECK(!safetensors_write(path, NARRAYS, arrays, 7, get, NULL));
    CHECK(!arrays_open(path, &file) && truncate(path, 100) == 0);
    Error *error = file_array_read(file, arrays_find(file, STR("layer.\"w\"")), F32, data);
    CHECK(error && strstr(error_text(error), " was cut short while it was open: from "));
    error_free(error);
    arrays_close(file);
}

/* ---- deflated ---- */

static void test_inflate(void)
{
    /* zlib.compress(b'tutti tutti tutti tutti', wbits=-15), its fixed and stored blocks */
    static const unsigned char fixed[] = { 0x2b, 0x29, 0x2d, 0x29, 0xc9,
                                           0x54, 0x28, 0x41, 0x27, 0x01 };
    static const unsigned char stored[] = { 1, 3, 0, 0xFC, 0xFF, 'a', 'b', 'c' };
    static const char *const refused[] = { "\7", "\1\3\0\0\0abc",
                                           "\1\3\0\xFC\xFF"
                                           "ab",
                                           "\5\xFF\xFF\xFF" };
    char out[64];
    size_t made;
    CHECK(inflate_into((Str){ (const char *)fixed, sizeof fixed }, out, sizeof out, &made) &&
          made == 23 && memcmp(out, "tutti tutti tutti tutti", 23) == 0);
    CHECK(inflate_into((Str){ (const char *)stored, sizeof stored }, out, sizeof out, &made) &&
          made == 3 && memcmp(out, "abc", 3) == 0);
    CHECK(inflate_into((Str){ (const char *)fixed, sizeof fixed }, out, 7, &made) && made == 7);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(!inflate_into((Str){ refused[i], i == 1 ? 8 : strlen(refused[i]) }, out, sizeof out,
                            &made));
    CHECK(crc32_of(0, "123456789", 9) == 0xCBF43926u);
}

/* Two who have every other run of bytes; where the runs are cut does not matter. */
static void test_shares(void)
{
    char bytes[1000];
    for (int i = 0; i < (int)sizeof bytes; i++)
        bytes[i] = (char)(i * i % 251);
    for (size_t run = 1; run < sizeof bytes; run = run * 3 / 2 + 1) {
        CrcShare share[2] = { 0 };
        for (size_t at = 0, k = 0; at < sizeof bytes; at += run, k++)
            crc32_share_add(&share[k % 2], at, bytes + at,
                            at + run < sizeof bytes ? run : sizeof bytes - at);
        uint32_t joined =
            crc32_share_end(&share[0], sizeof bytes) ^ crc32_share_end(&share[1], sizeof bytes);
        CHECK(crc32_of_shares(joined, sizeof bytes) == crc32_of(0, bytes, sizeof bytes));
    }
    CHECK(crc32_of_shares(0, 0) == 0);
}

int main(void)
{
    close(mkstemp(path));
    test_broken_safetensors();
    test_written();
    test_left();
    test_damage();
    test_changed();
    test_inflate();
    test_shares();
    unlink(path);
    return check_done();
}
