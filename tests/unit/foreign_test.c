/* foreign_test.c - functions in C that programs call by name: what they are given, where they are
 * called, and what is said when they cannot be. */
#include "tests/front.h"

#include <stdatomic.h>

static _Atomic int count;

/* x + *user, and the sum of x. */
static const char *shifted(void *user, const tt_operand *in, int nin, const tt_operand *out,
                           int nout)
{
    count++;
    CHECK(nin == 1 && nout == 2 && in[0].type == TT_F32 && in[0].rank == 1);
    CHECK(out[0].type == TT_F32 && out[1].type == TT_F64 && out[1].rank == 0);
    CHECK(out[0].dims[0] == in[0].dims[0]);
    const float *x = in[0].data;
    float *y = out[0].data;
    double sum = 0;
    for (int64_t i = 0; i < in[0].dims[0]; i++) {
        sum += x[i];
        y[i] = x[i] + (float)*(int *)user;
    }
    *(double *)out[1].data = sum;
    return NULL;
}

static const char *refuses(void *user, const tt_operand *in, int nin, const tt_operand *out,
                           int nout)
{
    (void)in, (void)nin, (void)out, (void)nout;
    return user;
}

typedef struct {
    tt x, sum;
} Both;

static Both both(tt x)
{
    Both like = { x, tt_zeros(TT_F64) };
    return tt_custom_call("shifted", like, x);
}
TT_FUN(Both, both, tt);

static tt total(tt x)
{
    return tt_sum(both(x).x);
}

static void check_both(Both y, int n, const float *x, const double *sum)
{
    float got[8] = { 0 };
    double sums[4] = { 0 };
    CHECK(tt_read(y.x, got, sizeof *got * (size_t)n));
    CHECK(tt_read(y.sum, sums, sizeof *sums * (size_t)tt_shape(y.sum).v[0]));
    for (int i = 0; i < n; i++)
        CHECK(got[i] == x[i]);
    for (int i = 0; i < tt_shape(y.sum).v[0]; i++)
        CHECK(sums[i] == sum[i]);
}

static void test_calls(void)
{
    static int by = 10;
    CHECK((tt_define_call)("shifted", shifted, &by));
    Both y = both(tt_arange(TT_F32, 4));
    tt_wait(y);
    CHECK(count == 1 && tt_item(y.sum) == 6 && tt_item(tt_index(y.x, 3)) == 13);
    tt rows = tt_reshape(tt_arange(TT_F32, 8), 4, 2);
    const float want[] = { 10, 11, 12, 13, 14, 15, 16, 17 };
    const double sums[] = { 1, 5, 9, 13 };
    count = 0;
    check_both(tt_call_as(Both, tt_pmap(both), rows), 8, want, sums);
    CHECK(count == 4); /* once on every device */
    count = 0;
    check_both(tt_call_as(Both, tt_vmap(both), rows), 8, want, sums);
    CHECK(count == 4); /* once for every row */
    CHECK_SAID("");
}

static void test_files(void)
{
    static int by = 1;
    tt_fn f = front_load("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                         "  %y:2 = stablehlo.custom_call @shifted(%x) {api_version = 4 : i32} : "
                         "(tensor<3xf32>) -> (tensor<3xf32>, tensor<f64>)\n"
                         "  return %y#0 : tensor<3xf32>\n}\n");
    tt_define_call("shifted", shifted, &by); /* instead of the other */
    CHECK(tt_item(tt_sum(tt_call(f, tt_arange(TT_F32, 3)))) == 6);
    CHECK_SAID("");
}

static void check_ends(const char *end)
{
    const char *said = front_said();
    size_t n = strlen(said), m = strlen(end);
    CHECK_STR(n > m ? said + n - m : said, end);
}

static void test_refusals(void)
{
    tt x = tt_arange(TT_F32, 4);
    tt_wait(tt_custom_call("nobody", x, x));
    check_ends(": nobody has defined it; a C program does with tt_define_call");
    tt_define_call("never", refuses, "not today");
    tt_wait(tt_custom_call("never", x, x));
    check_ends(": not today");
    tt_wait(tt_call(tt_grad(total), x));
    CHECK(strstr(tt_error() ? tt_error() : "", "the derivative of custom_call @shifted"));
    tt_clear_error();
    CHECK(!tt_define_call("", refuses, NULL));
    check_ends("tt_define_call: a name is missing");
    CHECK(!tt_define_call("none", NULL, NULL));
    check_ends("tt_define_call: the function is missing");
    tt_wait(tt_custom_call(NULL, x, x));
    check_ends("tt_custom_call: a name is missing");
}

/* Elements that the interface has no word for. */
static void test_small_elements(void)
{
    tt_fn f = front_load("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                         "  %s = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf8E5M2>\n"
                         "  %y = stablehlo.custom_call @never(%s) : "
                         "(tensor<3xf8E5M2>) -> tensor<3xf32>\n"
                         "  return %y : tensor<3xf32>\n}\n");
    tt_wait(tt_call(f, tt_arange(TT_F32, 3)));
    check_ends(": one of its arrays has elements that no tt_dtype stands for");
}

int main(void)
{
    front_start(4);
    test_calls();
    test_files();
    test_refusals();
    test_small_elements();
    return check_done();
}
