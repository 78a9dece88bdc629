/* order.h - how an array lies: the order of its dimensions in memory, and which kind of memory it is.
 *
 * The engine computes on row-major arrays; a program's arguments and results may lie otherwise
 * (jax.experimental.layout), and compiled code transposes them (passes/place/orders.c). */
#ifndef TUTTI_ENGINE_ORDER_H
#define TUTTI_ENGINE_ORDER_H
#include "base/error.h"
#include "base/text.h"
#include "ops/type.h"

#include <stdbool.h>

/* From minor to major, four bits each, the first lowest.  0: row-major. */
typedef uint64_t Order;

enum { ORDER_MAX_RANK = 16 }; /* of arrays in any other order than row-major */

/* False: not each dimension once, or too many. */
bool order_of(int rank, const int64_t *minor_to_major, Order *out);
int order_dim(Order o, int rank, int i); /* the i-th from minor to major */

/* The extents of the same memory read as a row-major array, and which dimension each is. */
void order_physical(Order o, Type t, int64_t *dims, int64_t *which);
void order_byte_strides(Order o, Type t, int64_t *strides);

/* "{0,1}" as XLA writes it, "default" or "auto". */
MUST_USE Error *order_parse(Str text, int rank, Order *out, bool *is_auto);

/* A client may ask for arrays in the memory of the host (jax.memory).  Here that is one memory, and an
 * array remembers what was asked for. */
typedef enum MemoryKind {
    MEMORY_DEVICE,
    MEMORY_PINNED_HOST,
    MEMORY_UNPINNED_HOST,
    MEMORY_KINDS
} MemoryKind;
extern const char *const memory_kind_names[MEMORY_KINDS];
#endif
