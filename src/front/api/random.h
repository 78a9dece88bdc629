/* random.h - what random.c is made of. */
#ifndef TUTTI_FRONT_API_RANDOM_H
#define TUTTI_FRONT_API_RANDOM_H
#include "front/transform/build.h"

tt erf_inv(tt x); /* of floats, recorded in the innermost frame */
#endif
