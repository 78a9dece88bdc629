/* load_compiled.h - what `tutti compile` or tt_save_compiled made of a program, as one again. */
#ifndef TUTTI_FRONT_TRANSFORM_LOAD_COMPILED_H
#define TUTTI_FRONT_TRANSFORM_LOAD_COMPILED_H
#include "base/error.h"
#include "base/text.h"

/* Is it a shared library, and called one?  A file that says by its name that it is a program never has
 * its code run. */
bool compiled_is(Str file, const char *path);
/* Loads the library, whose bytes are those of `file`, for ever, and writes a program that is one call of it. */
MUST_USE Error *compiled_load(const char *path, Str file, Text *program);
#endif
