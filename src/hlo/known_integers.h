/* known_integers.h - integers that follow from the program and the shapes of its arguments alone. */
#ifndef TUTTI_HLO_KNOWN_INTEGERS_H
#define TUTTI_HLO_KNOWN_INTEGERS_H
#include "hlo/module.h"

/* By value; lives as long as its arena.  Starts as { .arena = ... }. */
typedef struct Known {
    Arena *arena;
    const int64_t **at; /* [value]: its elements, row-major; NULL: not known */
    uint32_t n;
} Known;

void known_set(Known *k, ValueId v, const int64_t *elements);
const int64_t *known_get(const Known *k, ValueId v); /* NULL: not known */
/* If n computes small integers from known ones, its result is known from now on.  Its types are
 * settled. */
void known_node(Known *k, const Module *m, NodeId n);
#endif
