/* aside.h - a file that takes its name when it is whole.
 *
 *     aside_open    path.part, which no other writer has meanwhile
 *     aside_write   ...
 *     aside_finish  synced to the disk, then renamed: path is the old file or the new one, at every
 *                   moment, whenever the process or the machine stops
 */
#ifndef TUTTI_FILES_ASIDE_H
#define TUTTI_FILES_ASIDE_H
#include "base/error.h"
#include "base/text.h"

typedef struct Aside {
    const char *path; /* the caller's */
    Text part;        /* its name until then */
    int file;
} Aside;

/* Waits while another writes the same file. */
MUST_USE Error *aside_open(const char *path, Aside *out); /* out stays where it is, until the end */
/* Another process of the job has it open: here it is opened too.  It may then be written in both, and
 * is finished there, after aside_sync here. */
MUST_USE Error *aside_join(const char *path, Aside *out);
MUST_USE Error *aside_sync(Aside *aside);
void aside_leave(Aside *aside);
MUST_USE Error *aside_write(Aside *aside, const void *bytes, size_t n);
MUST_USE Error *aside_write_at(Aside *aside, size_t at, const void *bytes, size_t n);
/* Ends it, well or not; error: what went wrong before, or NULL.  Returns that, or what goes wrong
 * now.  After an error path is as it was. */
MUST_USE Error *aside_finish(Aside *aside, Error *error);
#endif
