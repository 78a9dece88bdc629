/* trace.c - notes which functions of the engine are run, in the order of their first calls.
 *
 * Linked into a copy of the engine, it starts before LLVM's constructors and lays a breakpoint over
 * the first byte of every function.  Whoever comes to one takes it away, for good, and appends the
 * function's name to the file that TUTTI_CALLED names.  So a run needs no debugger and no rights, is
 * slower only where it is new, and a program that forks is followed.
 *
 * What stands here has a section of its own, since it cannot have breakpoints itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define UNTRACED __attribute__((section("untraced"), noinline))

enum { BREAKPOINT = 0xcc, PAGE = 4096 };

/* Of every byte of .text: where its function's name is (0: no function starts there), and what the
 * breakpoint covers. */
static uint8_t *text;
static size_t size;
static uint32_t *names;
static uint8_t *covered;
static const char *strings;
static int out = -1;

UNTRACED static void give_up(const char *what)
{
    fprintf(stderr, "trace: %s: %m\n", what);
    _exit(1);
}

/* Two threads may come at once: the exchange tells who is first, and both go on. */
UNTRACED static void enter(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    size_t at = (size_t)(*ip - 1 - (greg_t)(uintptr_t)text);
    if (at >= size || !names[at])
        abort();
    *ip -= 1;
    if (__atomic_exchange_n(&text[at], covered[at], __ATOMIC_SEQ_CST) != BREAKPOINT)
        return;
    char *name = (char *)strings + names[at];
    struct iovec line[] = { { name, strlen(name) }, { "\n", 1 } };
    if (writev(out, line, 2) < 0)
        give_up("a name cannot be written");
}

UNTRACED static const uint8_t *file_map(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about))
        give_up(path);
    void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        give_up(path);
    close(file);
    return bytes;
}

UNTRACED static void *room(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        give_up("no memory for the names of functions");
    return at;
}

UNTRACED static void text_open(uint8_t *at, size_t n)
{
    text = at;
    size = n;
    names = room(n * sizeof *names);
    covered = room(n);
    uintptr_t first = (uintptr_t)at & -(uintptr_t)PAGE;
    if (mprotect((void *)first, (uintptr_t)at + n - first, PROT_READ | PROT_WRITE | PROT_EXEC))
        give_up("code cannot be made writable");
}

/* at: where in .text.  Several names may mean one function: the first stands for all. */
UNTRACED static void breakpoint_lay(size_t at, uint32_t name)
{
    if (at >= size || names[at])
        return;
    names[at] = name;
    covered[at] = text[at];
    text[at] = BREAKPOINT;
}

UNTRACED static void functions_cover(const uint8_t *file, uint8_t *base)
{
    const Elf64_Ehdr *elf = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + elf->e_shoff), *code = NULL, *table = NULL;
    const char *titles = (const char *)file + sections[elf->e_shstrndx].sh_offset;
    for (int i = 0; i < elf->e_shnum; i++) {
        if (sections[i].sh_type == SHT_SYMTAB)
            table = &sections[i];
        if (!strcmp(titles + sections[i].sh_name, ".text"))
            code = &sections[i];
    }
    if (!code || !table)
        give_up("no symbols");
    strings = (const char *)file + sections[table->sh_link].sh_offset;
    text_open(base + code->sh_addr, code->sh_size);
    const Elf64_Sym *symbol = (const void *)(file + table->sh_offset);
    for (size_t n = table->sh_size / sizeof *symbol; n; n--, symbol++)
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx == code - sections)
            breakpoint_lay(symbol->st_value - code->sh_addr, symbol->st_name);
}

UNTRACED __attribute__((constructor(101))) static void start(void)
{
    const char *path = getenv("TUTTI_CALLED");
    Dl_info self;
    if (!path || !dladdr((void *)start, &self))
        return;
    out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out < 0)
        give_up(path);
    struct sigaction action = { .sa_sigaction = enter, .sa_flags = SA_SIGINFO | SA_NODEFER };
    sigaction(SIGTRAP, &action, NULL);
    functions_cover(file_map(self.dli_fname), self.dli_fbase);
}
