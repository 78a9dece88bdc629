/* saved.c - functions of C saved as machine code, and loaded again (tests/ahead.sh): the same numbers to
 * the last bit, for one device and for several, with what they captured. */
#include "tests/check.h"

#include <elf.h>
#include <tutti.h>
#include <unistd.h>

static tt table; /* captured */

static tt layer(tt w, tt x)
{
    return tt_tanh(tt_add(tt_matmul(x, w), tt_sum(table)));
}

static tt mean(tt x)
{
    return tt_sub(tt_sin(x), tt_pmean(x, "i"));
}

static tt twice(tt x)
{
    return tt_mul(x, 2);
}

static bool is_same(tt a, tt b, int n)
{
    float x[64], y[64];
    size_t bytes = sizeof *x * (size_t)n;
    CHECK(bytes <= sizeof x && tt_read(a, x, bytes) && tt_read(b, y, bytes));
    return memcmp(x, y, bytes) == 0;
}

static void says(const char *expected)
{
    const char *said = tt_error() ? tt_error() : "nothing";
    if (!strstr(said, expected))
        CHECK_STR(said, expected);
    tt_clear_error();
}

/* What tt_init says of memory and time holds. */
static int limits(const char *endless)
{
    tt_init(.devices = 2, .memory = 1 << 20, .seconds = 0.2);
    tt_on_error(NULL, NULL);
    tt_wait(tt_call(tt_load(endless), tt_arange(TT_F32, 4)));
    says("was stopped: it took longer than 0.2 seconds");
    tt_wait(tt_add(tt_arange(TT_F32, 1 << 20), 1));
    says("of 1048576 (TUTTI_DEVICE_MEMORY)");
    CHECK(tt_item(tt_sum(tt_arange(TT_F32, 4))) == 6);
    return check_done();
}

static tt_fn load_written(const char *bytes, size_t n)
{
    FILE *file = fopen("edited.so", "wb");
    CHECK(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
    return tt_load("edited.so");
}

/* Of a library: up to the end of the last part that is loaded.  Behind it are names for debuggers. */
static size_t loaded_bytes(const char *library)
{
    const Elf64_Ehdr *header = (const void *)library;
    const Elf64_Phdr *parts = (const void *)(library + header->e_phoff);
    size_t end = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && parts[i].p_offset + parts[i].p_filesz > end)
            end = parts[i].p_offset + parts[i].p_filesz;
    return end;
}

/* A library that is cut short anywhere, or has another byte somewhere, is refused before its code is loaded:
 * the process goes on, and it is told why. */
static void other_bytes(void)
{
    static char bytes[1 << 20];
    FILE *file = fopen("layer.so", "rb");
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0, needed = loaded_bytes(bytes);
    CHECK(n > 5000 && n < sizeof bytes && fclose(file) == 0);
    for (size_t length = 0; length < needed; length += needed / 97) {
        CHECK(!load_written(bytes, length));
        says(length < 64 ? "edited.so" : "edited.so is cut short: it has ");
    }
    for (size_t at = 64; at < n - 12; at += n / 211) {
        bytes[at] ^= 1 << at % 8;
        CHECK(!load_written(bytes, n));
        says("tt_load: edited.so has changed since it was made: its CRC-32 is ");
        bytes[at] ^= 1 << at % 8;
    }
    bytes[18] = 8; /* the machine: MIPS */
    CHECK(!load_written(bytes, n));
    says("edited.so is for another kind of machine, and this machine is ");
    bytes[18] = 0;
}

/* saved FOLDER, or saved FOLDER ENDLESS.mlir */
int main(int argc, char **argv)
{
    if (argc == 3)
        return limits(argv[2]);
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    tt_init(.devices = 4);
    table = tt_reshape(tt_arange(TT_F32, 300), 30, 10);
    tt w = tt_div(tt_reshape(tt_arange(TT_F32, 12), 3, 4), 1e6);
    tt x = tt_div(tt_reshape(tt_arange(TT_F32, 24), 8, 3), 7);
    CHECK(tt_save_compiled("layer.so", layer, w, x));
    tt_fn loaded = tt_load("layer.so");
    CHECK(loaded && is_same(tt_call(loaded, w, x), layer(w, x), 32));
    CHECK(tt_item(tt_sum(tt_call(tt_jit(twice), tt_call(loaded, w, x)))) != 0);

    tt_fn each = tt_pmap(mean, .axis_name = "i");
    tt rows = tt_reshape(x, 4, 6);
    CHECK(tt_save_compiled("mean.so", each, rows));
    CHECK(is_same(tt_call(tt_load("mean.so"), rows), tt_call(each, rows), 24));
    CHECK(tt_save_compiled("mean.o", each, rows));

    tt_on_error(NULL, NULL);
    tt_call(loaded, w, w);
    says("layer.so: argument 1 is f32[3,4], and must be f32[8,3]");
    tt_load("none.so");
    says("tt_load: none.so: No such file");
    FILE *file = fopen("broken.so", "w");
    fputs("\177ELF and no more", file);
    fclose(file);
    tt_load("broken.so");
    says("tt_load: broken.so is cut short: it has 16 bytes, fewer than its header");
    other_bytes();
    CHECK(!tt_save_compiled("nowhere/layer.o", layer, w, x));
    says("tt_save_compiled: nowhere/layer.h cannot be written: No such file");
    return check_done();
}
