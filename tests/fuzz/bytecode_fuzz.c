/* bytecode_fuzz.c - whatever bytes come in, the reader returns: a module or an error.
 *
 * With -fsanitize=fuzzer this is a libFuzzer target.  With -DSTANDALONE it is a program that
 * reads the files it is given, says what became of each, and (with -c) checks what was read. */
#include "base/arena.h"
#include "hlo/module.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Module *m = NULL;
    Error *error = read_bytecode((const char *)bytes, n, "fuzz", &m);
    if (!error) {
        error_free(module_check(m));
        module_free(m);
    }
    error_free(error);
    return 0;
}

#ifdef STANDALONE
#include "tests/fuzz/file_bytes.h"

int main(int argc, char **argv)
{
    int failures = 0;
    bool is_checked = argc > 1 && strcmp(argv[1], "-c") == 0;
    for (int i = 1 + is_checked; i < argc; i++) {
        size_t n = 0;
        char *bytes = file_bytes(argv[i], &n);
        Module *m = NULL;
        Error *error = bytes ? read_bytecode(bytes, n, argv[i], &m)
                             : error_new(CODE_NOT_FOUND, "%s: no such file", argv[i]);
        if (!error && is_checked)
            error = module_check(m);
        printf("%s: %s\n", argv[i], error ? error_text(error) : "read");
        failures += error != NULL;
        error_free(error);
        module_free(m);
        free(bytes);
    }
    return failures != 0;
}
#endif
