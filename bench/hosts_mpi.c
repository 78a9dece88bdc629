/* hosts_mpi.c - what hosts.c does, by hand: each process sums the arrays of its devices, then
 * MPI_Allreduce sums those of the processes.  The order of additions is another.
 *
 *     mpirun -n 2 hosts_mpi DEVICES BYTES COUNT [BYTES COUNT ...] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Block by block, so that a sum stays in the first cache. */
static void fold(int ndevices, float *const *in, float *sum, int64_t n)
{
    enum { BLOCK = 2048 };
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t end = n - first < BLOCK ? n : first + BLOCK;
        for (int64_t i = first; i < end; i++)
            sum[i] = in[0][i];
        for (int d = 1; d < ndevices; d++)
            for (int64_t i = first; i < end; i++)
                sum[i] += in[d][i];
    }
}

static void measure(int process, int ndevices, int64_t bytes, int64_t count)
{
    float *in[64], *sum = malloc((size_t)bytes), *all = malloc((size_t)bytes);
    int64_t n = bytes / 4;
    for (int d = 0; d < ndevices; d++) {
        in[d] = malloc((size_t)bytes);
        for (int64_t i = 0; i < n; i++)
            in[d][i] = 1;
    }
    if (!process)
        printf("{\"bytes\": %lld, \"ns\": [", (long long)bytes);
    for (int64_t i = -3; i < count; i++) {
        int64_t start = now();
        fold(ndevices, in, sum, n);
        MPI_Allreduce(sum, all, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (i >= 0 && !process)
            printf("%s%lld", i ? ", " : "", (long long)(now() - start));
    }
    if (!process)
        printf("]}\n");
    for (int d = 0; d < ndevices; d++)
        free(in[d]);
    free(sum);
    free(all);
}

int main(int argc, char **argv)
{
    int process;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    for (int k = 2; k + 1 < argc; k += 2)
        measure(process, atoi(argv[1]), atoll(argv[k]), atoll(argv[k + 1]));
    MPI_Finalize();
}
