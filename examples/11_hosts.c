/* Lesson 11: many hosts.
 *
 *     TUTTI_DEVICES=4 mpirun -n 2 ./11_hosts       prints what one process with 8 devices prints.
 *
 *          process 0                    process 1
 *     rows 0 to 31 of the data     rows 32 to 63             each reads its own,
 *     devices 0 1 2 3              devices 4 5 6 7           each device has 8 of them,
 *              \___________ tt_pmean __________/             and the mean is that of all.
 *
 * Every process runs the whole program; process 0 prints.  With a path the training is saved there,
 * and goes on from there, with as many processes as there are then. */
#include <stdio.h>
#include <tutti.h>

enum { ROWS = 64, STEPS = 40 };

typedef struct Params {
    tt w, b;
} Params;
typedef struct LossGrad {
    tt loss;
    Params grad;
} LossGrad;

static tt loss(Params p, tt x, tt y)
{
    tt error = tt_sub(tt_add(tt_matmul(x, p.w), p.b), y);
    return tt_pmean(tt_mean(tt_square(error)), "d");
}
TT_FUN(tt, loss, Params, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.2, g));
}

/* So many rows of the data, from `first` on: x in two columns, and y = 2 x0 - 3 x1 + 1. */
static void read_rows(int first, int n, float *x, float *y)
{
    for (int i = 0; i < n; i++) {
        int row = first + i;
        x[2 * i] = (float)(row % 8) / 8;
        x[2 * i + 1] = (float)(row * 5 % 16) / 16;
        y[i] = 2 * x[2 * i] - 3 * x[2 * i + 1] + 1;
    }
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    tt_mesh mesh = tt_mesh_of({ "d", tt_device_count() });

    float x_here[ROWS * 2], y_here[ROWS];
    int each = ROWS / tt_process_count();
    read_rows(each * tt_process_index(), each, x_here, y_here);
    tt x = tt_from_local(tt_from((const float *)x_here, each, 2), mesh, "d", NULL);
    tt y = tt_from_local(tt_from((const float *)y_here, each, 1), mesh, "d", NULL);
    printf("%d devices have x: %s\n", tt_device_count(), tt_describe(x));

    tt_fn mapped = tt_shard_map(loss, .mesh = mesh, .out_spec = TT_P(NULL),
                                .in = TT_EACH_SPEC(TT_RUN(Params, TT_P(NULL)),
                                                   TT_RUN(tt, TT_P("d")), TT_RUN(tt, TT_P("d"))));
    tt_fn both = tt_jit(tt_value_and_grad(mapped));
    Params p = { tt_zeros(TT_F32, 2, 1), tt_zeros(TT_F32, 1) };
    int64_t step = path ? tt_restore(path, &p) : -1;
    for (step++; step <= STEPS; step++) {
        TT_SCOPE;
        LossGrad r = tt_call_as(LossGrad, both, p, x, y);
        if (step % 10 == 0)
            printf("step %2d  loss %.4f\n", (int)step, tt_item(r.loss));
        tt_assign(p, tt_map(descend, p, r.grad));
        if (path && step % 10 == 0)
            tt_save(path, p, .step = step);
    }
    printf("w %.4f %.4f, b %.4f\n", tt_item(tt_index(p.w, 0, 0)), tt_item(tt_index(p.w, 1, 0)),
           tt_item(tt_index(p.b, 0)));
}
