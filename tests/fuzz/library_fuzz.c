/* library_fuzz.c - whatever bytes come in, the check of a shared library returns; and every part that one
 * which passes would have loaded lies in the bytes.  Half of the inputs are sealed first: no fuzzer
 * guesses a checksum. */
#include "files/library.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Reads what would be loaded, under the eyes of the address sanitizer. */
static uint32_t read_parts(Str file)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    uint32_t sum = 0;
    memcpy(&header, file.at, sizeof header);
    for (int i = 0; i < header.e_phnum; i++) {
        memcpy(&part, file.at + header.e_phoff + (size_t)i * sizeof part, sizeof part);
        for (uint64_t k = 0; k < part.p_filesz; k++)
            sum += (uint8_t)file.at[part.p_offset + k];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static volatile uint32_t sum;
    Text seal = { 0 };
    if (n && bytes[n - 1] % 2)
        library_seal((Str){ (const char *)bytes, n }, &seal);
    char *at = malloc(n + seal.n);
    Str file = { at, at ? n + seal.n : 0 };
    if (file.n)
        memcpy(at, bytes, n);
    if (file.n && seal.n)
        memcpy(at + n, seal.at, seal.n);
    Error *error = library_check("fuzz", file);
    if (!error)
        sum = read_parts(file);
    error_free(error);
    free(at);
    text_free(&seal);
    return 0;
}
