/* aside.c - a file is written beside its place, synced, and renamed. */
#include "files/aside.h"

#include "base/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static Error *unwritable(const char *path)
{
    return error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(errno));
}

/* Is the open file still the one of that name?  Who had the lock may have renamed it. */
static bool has_name(int file, const char *name)
{
    struct stat opened, named;
    return fstat(file, &opened) == 0 && stat(name, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/* A guard is left: the name stays, and the next writer's file takes it. */
static void abandon(void *user)
{
    Aside *aside = user;
    if (aside->file >= 0)
        close(aside->file);
}

Error *aside_open(const char *path, Aside *out)
{
    *out = (Aside){ .path = path, .file = -1 };
    text_printf(&out->part, "%s.part", path);
    guard_defer(abandon, out);
    for (;;) {
        out->file = open(out->part.at, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (out->file < 0)
            break;
        if (flock(out->file, LOCK_EX) == 0 && has_name(out->file, out->part.at) &&
            ftruncate(out->file, 0) == 0)
            return NULL;
        if (errno == ENOLCK || errno == EOPNOTSUPP)
            break;
        close(out->file);
    }
    Error *error = unwritable(out->part.at);
    guard_forget(abandon, out);
    if (out->file >= 0)
        close(out->file);
    text_free(&out->part);
    return error;
}

Error *aside_join(const char *path, Aside *out)
{
    *out = (Aside){ .path = path, .file = -1 };
    text_printf(&out->part, "%s.part", path);
    guard_defer(abandon, out);
    out->file = open(out->part.at, O_RDWR | O_CLOEXEC);
    return out->file >= 0 ? NULL : unwritable(out->part.at);
}

void aside_leave(Aside *aside)
{
    guard_forget(abandon, aside);
    if (aside->file >= 0)
        close(aside->file);
    text_free(&aside->part);
}

Error *aside_sync(Aside *aside)
{
    return fsync(aside->file) == 0 ? NULL : unwritable(aside->part.at);
}

Error *aside_write(Aside *aside, const void *bytes, size_t n)
{
    for (const char *at = bytes; n;) {
        ssize_t done = write(aside->file, at, n);
        if (done < 0 && errno != EINTR)
            return unwritable(aside->part.at);
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return NULL;
}

Error *aside_write_at(Aside *aside, size_t at, const void *bytes, size_t n)
{
    for (const char *from = bytes; n;) {
        ssize_t done = pwrite(aside->file, from, n, (off_t)at);
        if (done < 0 && errno != EINTR)
            return unwritable(aside->part.at);
        size_t step = done > 0 ? (size_t)done : 0;
        from += step;
        at += step;
        n -= step;
    }
    return NULL;
}

/* The new name is on the disk when the folder is.  Some file systems cannot sync a folder: then
 * there is nothing more to do. */
static Error *sync_folder(const char *path)
{
    Text folder = { 0 };
    const char *slash = strrchr(path, '/');
    text_printf(&folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int file = open(folder.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool failed = file >= 0 && fsync(file) != 0 && errno == EIO;
    Error *error = failed ? unwritable(path) : NULL;
    if (file >= 0)
        close(file);
    text_free(&folder);
    return error;
}

Error *aside_finish(Aside *aside, Error *error)
{
    guard_forget(abandon, aside);
    if (!error && fsync(aside->file) != 0)
        error = unwritable(aside->part.at);
    if (!error && rename(aside->part.at, aside->path) != 0)
        error = unwritable(aside->path);
    else if (!error)
        error = sync_folder(aside->path);
    if (error)
        unlink(aside->part.at);
    close(aside->file); /* and with it the lock */
    text_free(&aside->part);
    return error;
}
