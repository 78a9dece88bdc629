/* array.h - concrete arrays: a buffer per device, how they make one array, reading, printing. */
#ifndef TUTTI_FRONT_VALUE_ARRAY_H
#define TUTTI_FRONT_VALUE_ARRAY_H
#include "base/sync.h"
#include "front/client/client.h"
#include "front/value/layout.h"

#include <stdatomic.h>
#include <tutti.h>

enum { SMALL = 16 };

typedef struct Array Array;
struct Array {
    _Atomic int holders;
    Type type; /* of the whole; dims in dims_ */
    const ArrayLayout *layout;
    PJRT_Buffer **_Atomic buffers_; /* [layout->ndevices]; NULL: not uploaded yet (array_buffers) */
    PJRT_Buffer *own_[2];           /* where so few buffers lie */
    Array *lender;                  /* owns the parts marked in is_lent; NULL: none are */
    bool *is_lent;                  /* [layout->ndevices], or NULL */
    bool has_small;                 /* the elements are in `small` too: numbers need no device */
    unsigned char small[SMALL];
    _Atomic bool is_donated; /* a call has consumed the buffers: said when it is used */
    Lock lock;
    Array *resharded;           /* under `lock`: as it was last laid out otherwise, or NULL */
    int64_t dims_[TT_MAX_RANK]; /* all before starts as zeroes */
};

/* Takes the buffers.  One holder.  Rank at most TT_MAX_RANK.  NULL: reported. */
Array *array_new(Type type, const ArrayLayout *layout, PJRT_Buffer *const *buffers);
Array *array_hold(Array *a);
void array_release(Array *a);
/* May the caller, who holds a, give its buffers away: has a no other holder, and borrows none? */
bool array_is_sole(const Array *a);

/* The buffers [layout->ndevices], uploaded at first need.  NULL: reported. */
PJRT_Buffer *const *array_buffers(Array *a);

/* From and to row-major host memory of the whole array; awaited.  NULL / false: reported.
 * An array of up to SMALL bytes reaches its devices only when its parts are asked for. */
Array *array_from_host(Type type, const void *data, const ArrayLayout *layout);
/* The same from what this process alone has: `local` is the type of that data, the boxes of its
 * devices put together. */
Array *array_from_local(Type type, const ArrayLayout *layout, Type local, const void *data);
/* data NULL: there is no memory for it, which is reported already; processes that read it too are told. */
bool array_read(Array *a, void *data);
/* What this process is to write of the array when all write it together, in runs of bytes, `at` from
 * the beginning of the row-major whole; those of a tile in rising order.  turn: equal in all; by it
 * they take turns with arrays that each of them has. */
typedef Error *ArrayRun(void *user, size_t at, const void *bytes, size_t n);
MUST_USE Error *array_own_runs(Array *a, int turn, ArrayRun *run, void *user);
bool array_wait(Array *a);
/* The same array laid out otherwise, with a hold for the caller; copies through the host where
 * it must. */
Array *array_reshard(Array *a, const ArrayLayout *layout);

/* As NumPy prints it (np.array2string with its defaults), with the same digits; without a newline
 * at the end.  False: reported. */
bool array_print(Text *out, Array *a);
void elements_print(Text *out, Type type, const void *data); /* row-major */
#endif
