/* one_device.h - a Program of one device and no collective, run without the executor. */
#ifndef TUTTI_TESTS_ONE_DEVICE_H
#define TUTTI_TESTS_ONE_DEVICE_H
#include "engine/floats.h"
#include "engine/program.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

/* As the executor would: until the program has ended or failed.  The error is the frame's. */
static inline Error *run_on_one_device(const Program *p, const Runtime *rt, void **args,
                                       void **outs)
{
    static const _Atomic int never;
    char *slab = aligned_alloc(64, (p->slab_bytes + 127) & ~(size_t)63);
    memset(slab, 0x5a, p->slab_bytes); /* no code may rely on what is there */
    Frame f = { .slab = slab,
                .pool = p->pool,
                .args = args,
                .outs = outs,
                .rt = rt,
                .cancel = &never,
                .program = p };
    Floats before = floats_enter_compiled();
    int32_t next = 0;
    while (next >= 0 && !f.error)
        next = p->segments[next](&f);
    floats_restore(before);
    CHECK(f.error || next == SEGMENT_END);
    free(slab);
    return f.error;
}
#endif
