/* arrays.c - arrays whose pieces lie in several processes: made of each one's rows, printed, saved by
 * all, restored by any number of processes.
 *
 *     arrays save FOLDER | restore FOLDER
 *
 * There are eight devices in all.  What is printed does not depend on the number of processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti.h>

enum { DEVICES = 8, ROWS = 16, COLUMNS = 6 };

typedef struct State {
    tt rows, columns, both, half, whole, number, narrow;
} State;

static const char *const names[] = {
    "rows", "columns", "both", "half", "whole", "number", "narrow"
};

static tt_mesh line, grid;

/* Rows of the array 0 1 2 ... that this process has, when they are cut among all. */
static tt own_rows(void)
{
    float data[ROWS * COLUMNS];
    int n = ROWS / tt_process_count(), first = n * tt_process_index();
    for (int i = 0; i < n * COLUMNS; i++)
        data[i] = (float)(first * COLUMNS + i);
    return tt_from((const float *)data, n, COLUMNS);
}

static tt all_rows(void)
{
    return tt_reshape(tt_arange(TT_F32, ROWS * COLUMNS), ROWS, COLUMNS);
}

/* `scale` times what is saved; the element types have different widths, so the file's order is
 * another than the tree's. */
static State make(double scale)
{
    tt x = tt_mul(all_rows(), scale);
    return (State){ .rows = tt_place(x, line, "d", NULL),
                    .columns = tt_place(tt_astype(tt_transpose(x), TT_BF16), grid, NULL, "x"),
                    .both = tt_place(x, grid, "x", "y"),
                    .half = tt_place(tt_astype(x, TT_I32), grid, NULL, "y"),
                    .whole = tt_mul(tt_arange(TT_F32, 10), scale),
                    .number = tt_astype(tt_scalar(7 * scale), TT_F64),
                    .narrow = tt_place(tt_astype(tt_arange(TT_F32, DEVICES), TT_U8), line, "d") };
}

static void show(const char *title, State s)
{
    puts(title);
    tt_print(s);
}

/* The sum over the rows of all processes is that of the whole array. */
static void check_local(void)
{
    tt x = tt_from_local(own_rows(), line, "d", NULL);
    tt wrong = tt_sum(tt_abs(tt_sub(x, tt_place(all_rows(), line, "d", NULL))));
    printf("rows of each process: %s, wrong by %g\n", tt_describe(x), tt_item(wrong));
    tt_print(x);
    /* cut along both axes: a process has the boxes of its devices, packed */
    tt y = tt_from_local(own_rows(), grid, "x", NULL);
    printf("the same by another mesh: %s, wrong by %g\n", tt_describe(y),
           tt_item(tt_sum(tt_abs(tt_sub(y, tt_place(all_rows(), grid, "x", NULL))))));
    tt_show_sharding(x);
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *what = argc > 1 ? argv[1] : "save", *folder = argc > 2 ? argv[2] : ".";
    if (tt_device_count() != DEVICES)
        return fprintf(stderr, "there are %d devices\n", tt_device_count()), 2;
    line = tt_mesh_of({ "d", DEVICES });
    grid = tt_mesh_of({ "x", 4 }, { "y", 2 });
    snprintf(path, sizeof path, "%s/state.safetensors", folder);
    if (strcmp(what, "save") == 0) {
        State s = make(1);
        check_local();
        show("saved:", s);
        if (!tt_save(path, s, .step = 3, .names = names))
            return 1;
        snprintf(path, sizeof path, "%s/state.npz", folder);
        if (!tt_save(path, s, .names = names))
            return 1;
        snprintf(path, sizeof path, "%s/rows.npy", folder);
        return !tt_save_npy(path, s.rows);
    }
    State s = make(0);
    int64_t step = tt_restore(path, &s, .names = names);
    printf("step %lld\n", (long long)step);
    show("saved:", s);
    return step < 0;
}
