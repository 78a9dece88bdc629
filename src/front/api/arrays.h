/* arrays.h - what the files of the interface share of reading arrays. */
#ifndef TUTTI_FRONT_API_ARRAYS_H
#define TUTTI_FRONT_API_ARRAYS_H
#include "front/value/array.h"

/* The array of a concrete value in the type its user sees, held for the caller.  NULL: reported. */
Array *settled_array(tt x, const char *who);
#endif
