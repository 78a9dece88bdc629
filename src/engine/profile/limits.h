/* limits.h - what one core of this machine does at most, measured. */
#ifndef TUTTI_ENGINE_PROFILE_LIMITS_H
#define TUTTI_ENGINE_PROFILE_LIMITS_H

typedef struct Limits {
    double gflops; /* of a product of f32 matrices in the cache */
    double gbytes; /* read and written, by a copy that no cache holds */
} Limits;

Limits limits_measure(void); /* some 20 ms; under a guard */
#endif
