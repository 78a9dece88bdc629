/* random.h - inside a body: many keys at once, and one number drawn by each. */
#ifndef TUTTI_FRONT_API_RANDOM_H
#define TUTTI_FRONT_API_RANDOM_H
#include "front/transform/build.h"

/* Keys, or blocks of the generator: the first and the second word of each, u32[n]. */
typedef struct Pair {
    tt a, b;
} Pair;

Pair split_key(tt key, int64_t n);      /* tt_split's */
Pair split_each(Pair keys, uint32_t i); /* of each key, key i of its split */
tt uniform_each(Pair keys, Element e);  /* in [0, 1) */
tt normal_each(Pair keys, Element e);
Pair choose_each(tt condition, Pair yes, Pair no);

/* d log x / d a of a number x > 0 that was drawn from gamma's distribution of parameter a. */
tt gamma_log_slope(tt a, tt x);
#endif
