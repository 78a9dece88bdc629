/* random.h - what random.c is made of. */
#ifndef TUTTI_RANDOM_H
#define TUTTI_RANDOM_H
#include "front/build.h"

tt erf_inv(tt x); /* of floats, recorded in the innermost frame */
#endif
