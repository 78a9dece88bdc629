/* mapped.c - the bytes of a file: mapped, so that what is not looked at is not read. */
#include "files/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t changed_at(const struct stat *is)
{
    return (int64_t)is->st_mtim.tv_sec * 1000000000 + is->st_mtim.tv_nsec;
}

static Error *unreadable(const char *path)
{
    return error_new(CODE_NOT_FOUND, "%s cannot be read: %s", path, strerror(errno));
}

/* All that comes out of a pipe or the like. */
static Error *read_all(int file, Mapped *out)
{
    size_t n = 0, room = 1 << 16;
    char *at = malloc(room);
    for (ssize_t got = 1; at && got > 0;) {
        if (n == room) {
            char *more = realloc(at, room *= 2);
            if (!more)
                free(at);
            at = more;
        }
        got = at ? read(file, at + n, room - n) : 0;
        if (got < 0) {
            free(at);
            return unreadable(out->path);
        }
        n += (size_t)got;
    }
    if (!at)
        return error_new(CODE_EXHAUSTED, "%s cannot be read: no memory for it", out->path);
    out->bytes = (Str){ at, n };
    out->file = -1;
    return NULL;
}

static Error *map(int file, const struct stat *is, Mapped *out)
{
    void *at =
        is->st_size ? mmap(NULL, (size_t)is->st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (is->st_size && at == MAP_FAILED)
        return unreadable(out->path);
    out->bytes = (Str){ is->st_size ? at : "", (size_t)is->st_size };
    out->changed = changed_at(is);
    return NULL;
}

Error *mapped_open(const char *path, Mapped *out)
{
    struct stat is;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *out = (Mapped){ .path = path, .file = file };
    if (file < 0)
        return unreadable(path);
    Error *error = fstat(file, &is) != 0 ? unreadable(path)
                   : S_ISREG(is.st_mode) ? map(file, &is, out)
                                         : read_all(file, out);
    if (error || out->file < 0)
        close(file);
    if (error)
        *out = (Mapped){ 0 };
    return error;
}

void mapped_close(Mapped *file)
{
    if (!file->bytes.at)
        return;
    if (file->file < 0) {
        free((char *)file->bytes.at);
    } else {
        if (file->bytes.n)
            munmap((char *)file->bytes.at, file->bytes.n);
        close(file->file);
    }
    *file = (Mapped){ 0 };
}

Error *mapped_check(const Mapped *file)
{
    struct stat is;
    if (!file->path || file->file < 0)
        return NULL;
    if (fstat(file->file, &is) != 0)
        return unreadable(file->path);
    if ((size_t)is.st_size < file->bytes.n)
        return error_new(CODE_INVALID, "%s was cut short while it was open: from %zu to %lld bytes",
                         file->path, file->bytes.n, (long long)is.st_size);
    if (changed_at(&is) != file->changed)
        return error_new(CODE_INVALID, "%s was changed while it was open", file->path);
    return NULL;
}
