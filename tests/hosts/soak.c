/* soak.c - many sums over the devices of several processes: none is wrong, and memory does not grow.
 *
 *     mpirun -n 4 soak [LAUNCHES]
 *
 * Every hundredth is large enough to go from process to process in pieces.  Each process says how many
 * bytes of memory it has, after a tenth of the launches, after half, and at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti.h>
#include <unistd.h>

enum { SMALL = 64, LARGE = 1 << 16, ALLOWED_KB = 4096 };

static tt share(tt x)
{
    return tt_psum(x, "d");
}

static long resident_kb(void)
{
    long pages = 0, resident = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (!in || fscanf(in, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (in)
        fclose(in);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    long launches = argc > 1 ? atol(argv[1]) : 100000, before = 0, half = 0;
    int n = tt_device_count();
    tt_mesh mesh = tt_mesh_of({ "d", n });
    tt_fn sum = tt_pmap(share, .axis_name = "d");
    tt small = tt_place(tt_ones(TT_F32, n, SMALL), mesh, "d");
    tt large = tt_place(tt_ones(TT_F32, n, LARGE), mesh, "d");
    for (long i = 0; i < launches; i++) {
        TT_SCOPE;
        tt y = tt_call(sum, i % 100 == 99 ? large : small);
        if (i % 1000 == 0 && tt_item(tt_index(y, n - 1, 0)) != n)
            return fprintf(stderr, "process %d: launch %ld: wrong\n", tt_process_index(), i), 1;
        if (i % 100 == 0)
            tt_wait(y);
        if (i == launches / 10)
            before = resident_kb();
        if (i == launches / 2)
            half = resident_kb();
    }
    long after = resident_kb();
    fprintf(stderr, "process %d: %ld launches, %ld KB, %ld KB, at the end %ld KB\n",
            tt_process_index(), launches, before, half, after);
    return after > half + ALLOWED_KB;
}
