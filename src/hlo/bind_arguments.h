/* bind_arguments.h - arguments of main become constants. */
#ifndef TUTTI_HLO_BIND_ARGUMENTS_H
#define TUTTI_HLO_BIND_ARGUMENTS_H
#include "hlo/module.h"

/* values[i], if not NULL, is what argument i of main is from now on, in the module's arena; the others
 * stay, in their order.  There is a main, and as many values as it takes. */
MUST_USE Error *module_bind_arguments(Module *m, const Dense *const *values);
#endif
