/* archive.h - archives of object files, as linkers read them. */
#ifndef TUTTI_FILES_ARCHIVE_H
#define TUTTI_FILES_ARCHIVE_H
#include "base/text.h"

/* An object, and the symbol for whose sake a linker takes it. */
typedef struct Member {
    const char *name; /* of the file; at most 15 bytes */
    const char *symbol;
    Str bytes;
} Member;

void archive_write(Text *out, int n, const Member *members);
#endif
