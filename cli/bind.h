/* bind.h - which array goes to which argument of a program. */
#ifndef TUTTI_CLI_BIND_H
#define TUTTI_CLI_BIND_H
#include "base/arena.h"
#include "files/exported.h"

/* What the command line says. */
typedef struct Given {
    const char *program, *weights; /* NULL: none */
    int n;
    const char *const *inputs;
} Given;

/* For each argument of main an input (array.h: a file, file:name, 'zeros' ...), in the arena.  A file
 * of several arrays stands for all of them, in its order.
 *
 * A function of JAX's has names for what it takes: weights go to the arguments of their names, with or
 * without the number of the positional argument before it, and so do inputs of a file that has such
 * names; the other inputs to what is left, in order.  e is NULL for a plain program. */
MUST_USE Error *bind_inputs(Arena *arena, const Exported *e, const Given *given, int *n,
                            const char ***out);
/* Which argument of the function an array of that name is for; -1: none.  e may be NULL. */
int argument_named(const Exported *e, Str name);
#endif
