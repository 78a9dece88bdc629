/* define.h - operations that stand for others. */
#ifndef TUTTI_DEFINE_H
#define TUTTI_DEFINE_H
#include "hlo/module.h"

/* Replaces every operation of kind SHORT in r and below by what it stands for.  Calls must have
 * been replaced by what they call where a region is applied element by element (map). */
MUST_USE Error *write_out(Module *m, RegionId r);
#endif
