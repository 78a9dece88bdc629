/* custom_call.c - a program calls a function by its name, and the function is C. */
#include <stdio.h>
#include <tutti.h>

static const char *inverse(void *user, const tt_operand *in, int nin, const tt_operand *out,
                           int nout)
{
    (void)user; /* what tt_define_call was given */
    if (nin != 1 || nout != 1 || in[0].type != TT_F32 || out[0].type != TT_F32)
        return "it takes one f32 array and gives one";
    const float *x = in[0].data;
    float *y = out[0].data;
    int64_t n = 1;
    for (int i = 0; i < in[0].rank; i++)
        n *= in[0].dims[i];
    for (int64_t i = 0; i < n; i++) {
        if (x[i] == 0)
            return "0 has no inverse";
        y[i] = 1 / x[i];
    }
    return NULL;
}

static tt half_inverse(tt x)
{
    return tt_div(tt_custom_call("inverse", x, x), 2); /* its result is like x */
}

int main(void)
{
    tt_init(.devices = 4);
    tt_define_call("inverse", inverse, NULL);

    tt x = tt_add(tt_arange(TT_F32, 4), 1);
    tt_print(tt_call(tt_load("examples/custom_call.mlir"), x)); /* 1 + @inverse(x) */
    tt_print(half_inverse(x));
    tt rows = tt_reshape(tt_add(tt_arange(TT_F32, 8), 1), 4, 2);
    tt_print(tt_call(tt_pmap(half_inverse), rows)); /* every device has its row inverted */

    tt_on_error(NULL, NULL);
    tt_wait(half_inverse(tt_sub(x, 1)));
    printf("%s\n", tt_error());
}
