/* value.h - what a `tt` names: slots, generations, pins, scopes.
 *
 * A slot is one 64-bit atomic {generation, pins} and what it holds.  A call pins its operands by
 * compare-and-swap, so that another thread which ends a scope meanwhile cannot pull them away:
 * a pinned slot's contents go when the last pin does.  A `tt` whose generation is not its slot's
 * is stale: "its scope or trace has ended", reported with the line that made it. */
#ifndef TUTTI_FRONT_VALUE_VALUE_H
#define TUTTI_FRONT_VALUE_VALUE_H
#include "hlo/module.h"

#include <tutti.h>

typedef struct Array Array; /* array.h: concrete, counted */
typedef struct Trace Trace; /* trace.h: a function being traced */

/* What a slot holds. */
typedef struct Held {
    Array *array;  /* concrete; NULL: traced */
    Trace *trace;  /* traced: where it was recorded */
    ValueId value; /* traced: in trace->m */
    Type type;     /* of the whole array; dims live as long as the slot holds it */
    bool is_weak;  /* a number from C: takes its partner's type */
} Held;

/* A new value, owned by this thread's innermost scope.  Takes the caller's hold on the array. */
tt value_of_array(Array *array, bool is_weak);
/* The same for many; broken values for those that could not be made. */
void values_of_arrays(int n, Array *const *arrays, const bool *is_weak, tt *out);
/* Owned by its trace: stale when that ends (value_end_list).  Only the thread that traces. */
tt value_of_traced(Trace *trace, ValueId value, bool is_weak);
struct ValueList;
void value_end_list(struct ValueList *list);

/* An array that is not there: all zero, or, given to a function that is traced, a mark by which messages
 * name it (value_absent).  Where a failure is kept all zero is broken, not absent. */
bool value_is_absent(tt x);
/* Such a mark, for this session; the name is copied. */
tt value_absent(const char *name);

/* Pins and looks.  False: broken or stale; reported, naming `who` ("tt_add"), unless a failure is
 * kept already.  What is held stays valid until value_unpin. */
/* Only pins: what is held, until value_unpin; NULL: x is broken, absent or stale, and value_report says so. */
const Held *value_try_pin(tt x);
void value_report(tt x, const char *who, const char *what);
bool value_pin(tt x, const char *who, Held *out);
bool value_pin_as(tt x, const char *who, const char *what, Held *out); /* "argument 1" */
void value_unpin(tt x);

/* Element type, rank and dims without a pin: dims[] is filled in.  Reports and returns
 * false as value_pin does. */
typedef struct Shape {
    Element element;
    int rank;
    int64_t dims[TT_MAX_RANK];
    bool is_weak, is_traced;
} Shape;
bool value_shape(tt x, const char *who, Shape *out);
static inline Type shape_type(const Shape *s)
{
    return (Type){ s->element, s->rank, s->dims };
}

/* Zeroed memory that dies with this thread's innermost scope, as values made now do.  NULL: reported. */
void *scope_alloc(size_t bytes);
/* The same for n values; and what is given back where there is no memory for them: zeroes, as many
 * as there may be. */
tt *scope_values(int n);
enum { MOST_VALUES = 1 << 16 };
extern const tt no_values[MOST_VALUES];

/* The interface's element types and ours. */
Element element_of(tt_dtype type);
/* What a value is to its user: a number from C, held in 64 bits, is the default type of 32. */
Element element_canonical(Element e, bool is_weak);
bool dtype_of(Element e, tt_dtype *out);

/* ---- promotion: promote.c ---- */

/* The type that operands of these types meet in, as JAX has it with 64-bit types enabled; a number
 * from C (is_weak) gives way to the others. */
typedef struct Promoted {
    Element element;
    bool is_weak;
} Promoted;
Promoted promote_types(int n, const Shape *shapes);
/* Does a number of C, or what came of one, give way to the array's type?  An integer to a float,
 * but never a float to an integer. */
bool weak_yields(Element number, Element array);
/* As promote, then a float if it is not one: the default float for integers and booleans. */
Promoted promote_inexact(int n, const Shape *shapes);
#endif
