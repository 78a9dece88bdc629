/* array.h - concrete arrays: a buffer per device, how they make one array, reading, printing. */
#ifndef TUTTI_FRONT_ARRAY_H
#define TUTTI_FRONT_ARRAY_H
#include "front/client.h"
#include "ops/sharding.h"
#include "ops/type.h"

#include <stdatomic.h>
#include <tutti.h>

/* How an array lies on devices: tile d of `tiling` is on device devices[d]. */
typedef struct Layout {
    int ndevices;
    const int *devices; /* the client's numbers */
    Tiling tiling;
} Layout; /* interned: equal layouts are one pointer (layout_intern) */

const Layout *layout_single(int device);
const Layout *layout_intern(int ndevices, const int *devices, Tiling tiling);

struct Array {
    _Atomic int holders;
    Type type; /* of the whole; dims in dims_ */
    int64_t dims_[TT_MAX_RANK];
    const Layout *layout;
    PJRT_Buffer **parts; /* [layout->ndevices] */
};

/* Takes the buffers.  One holder. */
struct Array *array_new(Type type, const Layout *layout, PJRT_Buffer *const *parts);
struct Array *array_hold(struct Array *a);
void array_release(struct Array *a);

/* From and to row-major host memory of the whole array; awaited.  NULL / false: said. */
struct Array *array_from_host(Type type, const void *data, const Layout *layout);
bool array_read(const struct Array *a, void *data);
/* The same array laid out otherwise; copies through the host where it must. */
struct Array *array_relay(struct Array *a, const Layout *layout);
/* As NumPy prints it, with the same digits. */
void array_print(Text *out, const struct Array *a);
#endif
