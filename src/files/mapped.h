/* mapped.h - the bytes of a file, to be read. */
#ifndef TUTTI_FILES_MAPPED_H
#define TUTTI_FILES_MAPPED_H
#include "base/error.h"
#include "base/text.h"

/* A regular file is mapped, anything else (a pipe) read.  Starts as { 0 }, which can be closed. */
typedef struct Mapped {
    Str bytes;
    const char *path; /* the caller's, until the close */
    int file;         /* -1: the bytes were read */
    int64_t changed;  /* when the file was last changed, in ns */
} Mapped;

MUST_USE Error *mapped_open(const char *path, Mapped *out);
void mapped_close(Mapped *file);
/* Is the file what it was when it was opened?  To be asked before bytes are read: those of a file that
 * was cut short since cannot be had. */
MUST_USE Error *mapped_check(const Mapped *file);
#endif
