/* slot.h - the table of slots behind value.h; for value.c and scope.c only. */
#ifndef TUTTI_FRONT_VALUE_SLOT_H
#define TUTTI_FRONT_VALUE_SLOT_H
#include "front/value/value.h"

#include <stdatomic.h>

struct Scope;

/* The line that made a value, for messages about it after its end; any thread may read it at any
 * time. */
typedef struct Origin {
    const char *_Atomic file;
    _Atomic int line;
    const char *_Atomic how, *_Atomic name; /* of the trace; NULL: concrete */
} Origin;

typedef struct Slot {
    _Atomic uint64_t state;      /* generation << 32 | ENDED | pins */
    struct Scope *_Atomic owner; /* changed under `lists`; NULL: a trace, or on its way out */
    uint32_t before, behind;     /* under `lists`: neighbours in the owner's list; 0: none */
    Held held;
    Origin origin[2];          /* of this generation and the one before: by its lowest bit */
    int64_t dims[TT_MAX_RANK]; /* of a traced value; an array has its own */
} Slot;

Slot *slot_at(uint32_t slot); /* NULL: there never was such a slot */

/* A value without an owner: the caller puts it into a scope's or a trace's list.  Broken (and
 * reported) when the table is full. */
tt slot_new(Held held, const char *how, const char *name);
/* The same for n arrays, which are then held by out[], in one go.  How many could be made, the first ones. */
int slot_new_arrays(int n, Array *const *arrays, const bool *is_weak, tt *out);
void slot_end(uint32_t slot); /* the owner lets go: at most once for each generation */
bool slot_is(uint32_t slot, uint32_t generation); /* still that value, not ended */
#endif
