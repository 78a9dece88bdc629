/* value.h - what a `tt` names: slots, generations, pins, scopes.
 *
 * A slot is one 64-bit atomic {generation, pins} and what it holds.  A call pins its operands by
 * compare-and-swap, so that another thread which ends a scope meanwhile cannot pull them away:
 * a pinned slot's contents go when the last pin does.  A `tt` whose generation is not its slot's
 * is stale: "its scope or trace has ended", said with the line that made it. */
#ifndef TUTTI_VALUE_H
#define TUTTI_VALUE_H
#include "hlo/module.h"

#include <tutti.h>

typedef struct Array Array; /* array.h: concrete, counted */
typedef struct Trace Trace; /* trace.h: a function being traced */

/* What a slot holds. */
typedef struct Held {
    Array *array;  /* concrete; NULL: traced */
    Trace *trace;  /* traced: where it was recorded */
    ValueId value; /* traced: in trace->m */
    Type type;     /* of the whole array; dims live as long as the slot */
    bool is_weak;  /* a number from C: takes its partner's type */
} Held;

/* A new value, owned by this thread's innermost scope.  Takes the caller's hold on the array. */
tt value_of_array(Array *array, bool is_weak);
/* Owned by its trace: stale when that ends (value_end_trace). */
tt value_of_traced(Trace *trace, ValueId value, bool is_weak);
void value_end_trace(Trace *trace);

/* Pins and looks.  False: broken or stale; the latter is said, naming `who` ("tt_add").  What is
 * held stays valid until value_unpin. */
bool value_pin(tt x, const char *who, Held *out);
void value_unpin(tt x);

/* Type without pinning for longer; says and gives false as value_pin does. */
bool value_type(tt x, const char *who, Type *out, bool *is_weak);
#endif
