/* fault.c - sums over all devices of several processes, until one of them does what it is told:
 *
 *     fault kill | stop | exit0 | exit3 | skip | late | other | swap | branch | circle | large | flight | none
 *
 * The last process does it after some sums; the others must be told who it was.  swap: it
 * launches two programs in another order, and waits for neither.  branch: its devices skip a collective of a
 * program, and go on in it.  circle: each process waits for the next one, in one program.  large: it ends
 * while the others send it much.  flight: all end while sums are under way, for which nobody waits. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti.h>
#include <unistd.h>

static tt share(tt x)
{
    return tt_psum(x, "d");
}

static tt greatest(tt x)
{
    return tt_pmax(x, "d");
}

/* Much work: devices begin such runs one after the other. */
static tt sum_waves(tt x)
{
    return tt_psum(tt_sin(tt_exp(x)), "d");
}

static tt greatest_wave(tt x)
{
    return tt_pmax(tt_cos(tt_exp(x)), "d");
}

static tt gather(tt x)
{
    return tt_all_gather(x, "d");
}

/* The sum over devices of three processes, two of each: 0 2 4 and 1 3 5. */
static tt sum_apart(tt x)
{
    return tt_psum(x, "d", .groups = TT_GROUPS(TT_GROUP(0, 2, 4), TT_GROUP(1, 3, 5)));
}

static tt keep(tt x)
{
    return x;
}

static tt sum_unless_last(tt x)
{
    return tt_psum(tt_cond(tt_less(tt_axis_index("d"), 4), sum_apart, keep, x), "d");
}

/* Each process sums with the next one, of three. */
static tt sum_0_1(tt x)
{
    return tt_psum(x, "d", .groups = TT_GROUPS(TT_GROUP(0, 2), TT_GROUP(1, 3), TT_GROUP(4, 5)));
}

static tt sum_1_2(tt x)
{
    return tt_psum(x, "d", .groups = TT_GROUPS(TT_GROUP(2, 4), TT_GROUP(3, 5), TT_GROUP(0, 1)));
}

static tt sum_2_0(tt x)
{
    return tt_psum(x, "d", .groups = TT_GROUPS(TT_GROUP(4, 0), TT_GROUP(5, 1), TT_GROUP(2, 3)));
}

static tt sum_from_1(tt x)
{
    return tt_cond(tt_less(tt_axis_index("d"), 4), sum_1_2, sum_2_0, x);
}

static tt sum_in_circle(tt x)
{
    return tt_cond(tt_less(tt_axis_index("d"), 2), sum_0_1, sum_from_1, x);
}

static void act(const char *what)
{
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "stop") == 0)
        raise(SIGSTOP);
    if (strcmp(what, "exit0") == 0)
        exit(0);
    if (strcmp(what, "exit3") == 0)
        exit(3);
    if (strcmp(what, "late") == 0)
        sleep(5);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    int n = tt_device_count();
    bool is_last = tt_process_index() == tt_process_count() - 1;
    tt_fn sum = tt_pmap(share, .axis_name = "d");
    tt_fn other = tt_pmap(greatest, .axis_name = "d");
    tt x = tt_ones(TT_F32, n, 4);
    for (int i = 0; i < 40; i++) {
        if (i == 20 && is_last)
            act(what);
        if (i == 20 && is_last && strcmp(what, "skip") == 0)
            continue;
        if (i == 20 && strcmp(what, "branch") == 0)
            tt_wait(tt_call(tt_pmap(sum_unless_last, .axis_name = "d"), x));
        if (i == 20 && strcmp(what, "circle") == 0)
            tt_wait(tt_call(tt_pmap(sum_in_circle, .axis_name = "d"), x));
        if (i == 20 && strcmp(what, "swap") == 0) {
            tt many = tt_ones(TT_F32, n, 1 << 16);
            tt_fn a = tt_pmap(sum_waves, .axis_name = "d"),
                  b = tt_pmap(greatest_wave, .axis_name = "d");
            tt first = tt_call(is_last ? b : a, many);
            tt_wait(tt_call(is_last ? a : b, many));
            tt_wait(first);
        }
        if (i == 20 && strcmp(what, "large") == 0) {
            if (is_last)
                exit(0);
            tt_wait(tt_call(tt_pmap(gather, .axis_name = "d"), tt_ones(TT_F32, n, 2 << 20)));
        }
        bool differs = i == 20 && is_last && strcmp(what, "other") == 0;
        double got = tt_item(tt_index(tt_call(differs ? other : sum, x), 0, 0));
        if (got != n) {
            fprintf(stderr, "process %d: a sum is %g\n", tt_process_index(), got);
            return 2;
        }
    }
    for (int i = 0; i < 50 && strcmp(what, "flight") == 0; i++)
        tt_call(sum, x);
    fprintf(stderr, "process %d has summed\n", tt_process_index());
    return 0;
}
