/* loaded.c - what tt_save_compiled made, played where there is no compiler (tests/ahead.sh): prints the
 * numbers, and what is said of anything else.  loaded FOLDER */
#include "tests/check.h"

#include <math.h>
#include <tutti.h>
#include <unistd.h>

static void print(tt x, int n)
{
    float at[64];
    CHECK(n <= 64 && tt_read(x, at, sizeof *at * (size_t)n));
    for (int i = 0; i < n; i++)
        printf("%a\n", at[i]);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    float w[12], x[24], y[24];
    for (int i = 0; i < 24; i++)
        x[i] = (float)i / 7;
    for (int i = 0; i < 12; i++)
        w[i] = (float)i / 1e6f;
    print(tt_call(tt_load("layer.so"), tt_from(w, 3, 4), tt_from(x, 8, 3)), 32);
    tt mean = tt_call(tt_load("mean.so"), tt_from(x, 4, 6));
    print(mean, 24);
    CHECK(tt_read(mean, y, sizeof y));
    for (int i = 0; i < 6; i++) {
        float m = (x[i] + x[i + 6] + x[i + 12] + x[i + 18]) / 4;
        for (int row = 0; row < 4; row++)
            CHECK(fabsf(y[row * 6 + i] - (sinf(x[row * 6 + i]) - m)) < 1e-5f);
    }
    tt_on_error(NULL, NULL);
    tt_wait(tt_add(tt_from(w, 3, 4), 1));
    fprintf(stderr, "%s\n", tt_error() ? tt_error() : "added");
    return check_done();
}
