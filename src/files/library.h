/* library.h - shared libraries that were compiled ahead, looked at before the system loads them. */
#ifndef TUTTI_FILES_LIBRARY_H
#define TUTTI_FILES_LIBRARY_H
#include "base/error.h"
#include "base/text.h"

/* The seal of a library's bytes, which stands behind them in its file. */
void library_seal(Str library, Text *out);
/* Is this file a library for this machine, of which nothing is missing, and is it as it was sealed?  One without
 * a seal may be: tools that strip symbols leave it out. */
MUST_USE Error *library_check(const char *path, Str file);
#endif
