/* hosts.c - sums over the devices of several processes: started by an MPI launcher, each process prints
 * nothing but the first, which prints a line of JSON for each size: the times of calls, in ns.
 *
 *     mpirun -n 2 hosts BYTES COUNT [BYTES COUNT ...]          bytes of each device, calls */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tutti.h>

static tt total(tt x)
{
    return tt_psum(x, "i");
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    int n = tt_device_count();
    tt_fn sum = tt_pmap(total, .axis_name = "i");
    for (int k = 1; k + 1 < argc; k += 2) {
        TT_SCOPE;
        int64_t bytes = atoll(argv[k]), count = atoll(argv[k + 1]);
        tt x = tt_place(tt_ones(TT_F32, n, bytes / 4), tt_mesh_of({ "i", n }), "i");
        printf("{\"bytes\": %lld, \"ns\": [", (long long)bytes);
        for (int64_t i = -3; i < count; i++) {
            TT_SCOPE;
            int64_t start = now();
            tt_wait(tt_call(sum, x));
            if (i >= 0)
                printf("%s%lld", i ? ", " : "", (long long)(now() - start));
        }
        printf("]}\n");
    }
}
