/* weights.c - a program whose weights are in a file, and one that has them inside (tests/weights.sh):
 * p["a"]["w"] * rate, and the sum of p["b"].
 *
 *     weights FILE FLAGS [SECONDS]    what it gives; then the process waits, and plays again */
#include "inside.h"
#include "outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = OUTSIDE_ARG2 };

typedef struct Given {
    float product[N], sum;
} Given;

static void show(const Given *g)
{
    for (int i = 0; i < N; i++)
        printf("%g ", g->product[i]);
    printf("%g\n", g->sum);
    fflush(stdout);
}

static void check(const char *what, const char *wrong, const Given *now, const Given *before)
{
    if (!wrong && memcmp(now, before, sizeof *now) == 0)
        return;
    printf("%s: %s\n", what, wrong ? wrong : "other numbers");
    exit(1);
}

int main(int argc, char **argv)
{
    float rate[N] = { 0, 1, 2, 3, 4, 5 };
    Given first, now;
    tutti_rt_weights *weights = NULL;
    outside_arguments in = { .arg2 = rate };
    const char *wrong = outside_open(argv[1], atoi(argv[2]), &in, &weights);
    if (!wrong)
        wrong = outside(NULL, &in, &(outside_results){ first.product, &first.sum });
    if (wrong)
        return printf("%s\n", wrong), 1;
    wrong = inside(NULL, &(inside_arguments){ rate }, &(inside_results){ now.product, &now.sum });
    check("inside", wrong, &now, &first);
    show(&first);
    if (argc > 3) {
        sleep((unsigned)atoi(argv[3]));
        wrong = outside(NULL, &in, &(outside_results){ now.product, &now.sum });
        check("again", wrong, &now, &first);
    }
    tutti_rt_close(weights);
}
