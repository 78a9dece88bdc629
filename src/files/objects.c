/* objects.c - objects that the engine has made become a file that linkers take. */
#include "files/objects.h"

#include "base/guard.h"
#include "files/archive.h"
#include "files/library.h"
#include "files/mapped.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void object_name(const char *path, Text *out)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t n = strcspn(base, ".");
    if (!n || isdigit((unsigned char)*base))
        text_add(out, "_", 1);
    for (size_t i = 0; i < n; i++)
        text_add(out, isalnum((unsigned char)base[i]) ? &base[i] : "_", 1);
}

static Error *file_put(const char *path, const char *mode, Str bytes)
{
    FILE *file = fopen(path, mode);
    bool is_well = file && fwrite(bytes.at, 1, bytes.n, file) == bytes.n;
    int trouble = errno;
    if (file && fclose(file) != 0 && is_well) {
        is_well = false;
        trouble = errno;
    }
    if (is_well)
        return NULL;
    if (file)
        unlink(path);
    return error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(trouble));
}

Error *file_write(const char *path, Str bytes)
{
    return file_put(path, "wb", bytes);
}

static Error *archive_make(const char *path, int n, const Made *objects)
{
    Member *members = HEAP_ARRAY(Member, n, "the members of an archive");
    char(*names)[16] = heap_rows((size_t)n, sizeof *names, "the members of an archive");
    Text file = { 0 };
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "p%d.o", i);
        members[i] = (Member){ names[i], objects[i].symbol, objects[i].bytes };
    }
    archive_write(&file, n, members);
    Error *error = file_write(path, (Str){ file.at, file.n });
    text_free(&file);
    heap_free(names);
    heap_free(members);
    return error;
}

extern char **environ;

/* Waits for a tool of the system's. */
static Error *tool_run(char *const *words)
{
    pid_t child;
    int refused = posix_spawnp(&child, words[0], NULL, NULL, words, environ), state = 0;
    if (refused)
        return error_new(CODE_NOT_FOUND,
                         "%s cannot be started: %s; file.o for one processor and "
                         "file.a need no tool",
                         words[0], strerror(refused));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return NULL;
    return error_new(CODE_INVALID, "%s could not link the program", words[0]);
}

enum { MOST_WORDS = 16 };

static size_t count_words(char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}

/* The C compiler: CC, which may be several words ("ccache gcc", "gcc -m64"), or cc.  They lie in the text
 * that is returned. */
static char *compiler_words(char **words)
{
    const char *said = getenv("CC");
    Text text = { 0 };
    text_printf(&text, "%s", said ? said : "");
    int n = 0;
    for (char *rest = text.at, *word; n < MOST_WORDS && (word = strtok_r(rest, " \t", &rest));)
        words[n++] = word;
    if (!n)
        words[n++] = "cc";
    words[n] = NULL;
    return text.at;
}

/* The linker joins the archive's objects, whole. */
static Error *join(const char *path, const char *folder, const char *archive, const char *symbol)
{
    Text search = { 0 }, alias = { 0 };
    text_printf(&search, "-L%s", folder);
    text_printf(&alias, "-Wl,--defsym," LOADED_SYMBOL "=%s", symbol);
    char *how[] = { "-shared",       "-o",
                    (char *)path,    "-Wl,--whole-archive",
                    (char *)archive, "-Wl,--no-whole-archive",
                    alias.at,        search.at,
                    "-ltutti_rt",    "-lm",
                    "-pthread",      NULL };
    char *shared[MOST_WORDS + sizeof how / sizeof *how];
    char *cc = compiler_words(shared);
    memcpy(shared + count_words(shared), how, sizeof how);
    char *object[] = { "ld", "-r", "-o", (char *)path, "--whole-archive", (char *)archive, NULL };
    Error *error = tool_run(cstr_ends_with(path, ".so") ? shared : object);
    heap_free(cc);
    text_free(&search);
    text_free(&alias);
    return error;
}

/* So that one that has changed is not loaded. */
static Error *append_seal(const char *path)
{
    Mapped library;
    Text seal = { 0 };
    TRY(mapped_open(path, &library));
    library_seal(library.bytes, &seal);
    mapped_close(&library);
    Error *error = file_put(path, "ab", (Str){ seal.at, seal.n });
    text_free(&seal);
    return error;
}

static Error *linked_make(const char *path, const char *folder, int n, const Made *objects)
{
    Text archive = { 0 };
    text_printf(&archive, "%s.parts.a", path);
    Error *error = archive_make(archive.at, n, objects);
    if (!error)
        error = join(path, folder, archive.at, objects[0].symbol);
    if (!error && cstr_ends_with(path, ".so"))
        error = append_seal(path);
    unlink(archive.at);
    text_free(&archive);
    return error;
}

Error *objects_write(const char *path, const char *folder, int n, const Made *objects)
{
    if (cstr_ends_with(path, ".a"))
        return archive_make(path, n, objects);
    if (!cstr_ends_with(path, ".so") && !cstr_ends_with(path, ".o"))
        return error_new(CODE_INVALID,
                         "%s cannot be written: its end says what it is to be: .o, .a or .so",
                         path);
    if (cstr_ends_with(path, ".so") || n > 1)
        return linked_make(path, folder, n, objects);
    return file_write(path, objects[0].bytes);
}
