/* c_names.h - words of C for what a function of JAX takes and gives. */
#ifndef TUTTI_CLI_C_NAMES_H
#define TUTTI_CLI_C_NAMES_H
#include "files/exported.h"

/* One for each argument of main, no two alike: args[0]["dense"]["w"] is arg0_dense_w.  NULL: a name is
 * missing. */
const char *const *argument_names(Arena *arena, const Exported *e);
const char *const *result_names(Arena *arena, const Exported *e);
#endif
