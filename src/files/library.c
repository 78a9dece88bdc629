/* library.c - shared libraries that were compiled ahead, looked at before the system loads them.
 *
 *     the library, as the linker wrote it | "tutti.so" | CRC-32 of what is before
 *
 * The system maps what a library's headers say, and a process that touches what is not in the file dies:
 * so a library that was cut short is found here.  The seal finds those that were changed by chance.  It is no
 * signature: who changes a library can seal it again, and what is loaded is code. */
#include "files/library.h"

#include "files/crc32.h"

#include <elf.h>
#include <string.h>

#define SEAL "tutti.so"
enum { SEAL_WORD = sizeof SEAL - 1, SEAL_BYTES = SEAL_WORD + sizeof(uint32_t) };

#if defined __aarch64__
enum { THIS_MACHINE = EM_AARCH64 };
#else
enum { THIS_MACHINE = EM_X86_64 };
#endif

static const char *machine_name(int machine)
{
    return machine == EM_X86_64    ? "x86-64"
           : machine == EM_AARCH64 ? "aarch64"
                                   : "another kind of machine";
}

void library_seal(Str library, Text *out)
{
    uint32_t crc = crc32_of(0, library.at, library.n);
    text_add(out, SEAL, SEAL_WORD);
    text_add(out, (const char *)&crc, sizeof crc);
}

static Error *check_header(const char *path, Str file, Elf64_Ehdr *out)
{
    if (file.n < sizeof *out)
        return error_new(CODE_INVALID, "%s is cut short: it has %zu bytes, fewer than its header",
                         path, file.n);
    memcpy(out, file.at, sizeof *out);
    bool is_library = memcmp(out->e_ident, ELFMAG, SELFMAG) == 0 &&
                      out->e_ident[EI_CLASS] == ELFCLASS64 &&
                      out->e_ident[EI_DATA] == ELFDATA2LSB && out->e_type == ET_DYN &&
                      out->e_phentsize == sizeof(Elf64_Phdr);
    if (!is_library)
        return error_new(CODE_INVALID, "%s is not a shared library of 64 bits", path);
    if (out->e_machine != THIS_MACHINE)
        return error_new(CODE_INVALID, "%s is for %s, and this machine is %s", path,
                         machine_name(out->e_machine), machine_name(THIS_MACHINE));
    return NULL;
}

static Error *check_seal(const char *path, Str file)
{
    size_t n = file.n < SEAL_BYTES ? 0 : file.n - SEAL_BYTES;
    if (!n || memcmp(file.at + n, SEAL, SEAL_WORD) != 0)
        return NULL;
    uint32_t was, is = crc32_of(0, file.at, n);
    memcpy(&was, file.at + n + SEAL_WORD, sizeof was);
    return is == was ? NULL
                     : error_new(CODE_INVALID,
                                 "%s has changed since it was made: its CRC-32 is %08x, and was "
                                 "%08x",
                                 path, is, was);
}

static bool holds(Str file, uint64_t at, uint64_t n)
{
    return at <= file.n && n <= file.n - at;
}

/* All parts that the header lists lie in the file. */
static Error *check_parts(const char *path, Str file, const Elf64_Ehdr *header)
{
    Elf64_Phdr part;
    bool is_whole = holds(file, header->e_phoff, header->e_phnum * sizeof part);
    for (int i = 0; is_whole && i < header->e_phnum; i++) {
        memcpy(&part, file.at + header->e_phoff + (size_t)i * sizeof part, sizeof part);
        is_whole = holds(file, part.p_offset, part.p_filesz);
    }
    return is_whole ? NULL
                    : error_new(CODE_INVALID,
                                "%s is cut short: it has %zu bytes, and parts of it would lie "
                                "behind them",
                                path, file.n);
}

Error *library_check(const char *path, Str file)
{
    Elf64_Ehdr header;
    TRY(check_header(path, file, &header));
    TRY(check_seal(path, file));
    return check_parts(path, file, &header);
}
