/* define.h - operations that stand for others. */
#ifndef TUTTI_HLO_DEFINE_DEFINE_H
#define TUTTI_HLO_DEFINE_DEFINE_H
#include "hlo/module.h"

/* Replaces every operation of kind SHORT in r and below by what it stands for.  Calls must have
 * been replaced by what they call where a region is applied element by element (map). */
MUST_USE Error *write_out(Module *m, RegionId r);

/* Makes a function without calls one without tuples: a tuple among its arguments or results is
 * its elements (tuple.c). */
MUST_USE Error *untuple(Module *m, Func *f);
#endif
