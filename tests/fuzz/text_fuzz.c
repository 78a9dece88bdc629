/* text_fuzz.c - whatever text comes in, the reader returns: a module or an error.  A module
 * prints, and if it is a right one, what is printed reads back to the same text.
 *
 * With -fsanitize=fuzzer this is a libFuzzer target.  With -DSTANDALONE it is a program that
 * does the same with the files it is given and says what became of each. */
#include "hlo/module.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_again(const Text *first)
{
    Module *m = NULL;
    Text second = { 0 };
    Error *error = read_text(first->at, first->n, "printed", &m);
    if (!error)
        module_print(&second, m, true);
    if (error || second.n != first->n || memcmp(second.at, first->at, first->n) != 0) {
        printf("%s\n--- first\n%s--- second\n%s", error ? error_text(error) : "", first->at,
               text_cstr(&second));
        abort();
    }
    module_free(m);
    text_free(&second);
}

/* What became of it: 0 read, 1 refused by the reader, 2 refused by the checker. */
static int try_text(const char *bytes, size_t n, const char *name, Error **error)
{
    Module *m = NULL;
    *error = read_text(bytes, n, name, &m);
    if (*error)
        return 1;
    Text text = { 0 };
    module_print(&text, m, true);
    *error = module_check(m);
    if (!*error)
        check_again(&text);
    text_free(&text);
    module_free(m);
    return *error ? 2 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Error *error;
    try_text((const char *)bytes, n, "fuzz", &error);
    error_free(error);
    return 0;
}

#ifdef STANDALONE
#include "tests/fuzz/file_bytes.h"

int main(int argc, char **argv)
{
    static const char *const ends[] = { "read", "not read", "not right" };
    int counts[3] = { 0 };
    for (int i = 1; i < argc; i++) {
        size_t n = 0;
        Error *error;
        char *bytes = file_bytes(argv[i], &n);
        if (!bytes) {
            printf("%s: no such file\n", argv[i]);
            return 1;
        }
        int end = try_text(bytes, n, argv[i], &error);
        counts[end]++;
        if (error)
            printf("%s: %s\n", ends[end], error_text(error));
        error_free(error);
        free(bytes);
    }
    printf("%d read, %d not read, %d not right\n", counts[0], counts[1], counts[2]);
    return 0;
}
#endif
