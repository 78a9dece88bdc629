/* random_test.c - 10,000 draws of each distribution are JAX's (tests/front/random_cases.txt): bit for
 * bit, but for those that docs/differences.md names.  Of JAX on our engine those are the same bits too. */
#include "tests/front.h"

#include <math.h>
#include <string.h>

enum { N = 10000 };

static uint32_t crc32(const unsigned char *at, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* How near: draws that are not exact, and f64's derivatives. */
static double bound_of(size_t bytes, double said)
{
    return (bytes == 8 ? 1e-11 : 3e-6) * fmax(1, fabs(said));
}

static void compare(const char *name, tt x, size_t bytes, bool is_exact)
{
    static unsigned char data[8 * N];
    static double numbers[N];
    FILE *file = fopen("tests/front/random_cases.txt", "r");
    char is[64];
    unsigned long crc;
    int n, found = 0;
    tt_dims shape = tt_shape(x);
    int64_t count = 1;
    for (int i = 0; i < shape.n; i++)
        count *= shape.v[i];
    int64_t step = count / 32 > 1 ? count / 32 - 1 : 1; /* 311: every parameter's turn comes */
    CHECK(file && tt_read(x, data, bytes * (size_t)count));
    CHECK(tt_read(tt_astype(x, TT_F64), numbers, sizeof *numbers * (size_t)count));
    while (file && fscanf(file, "%63s %lu %d", is, &crc, &n) == 3) {
        bool is_it = !strcmp(is, name);
        for (int i = 0; i < n; i++) {
            double said = 0, got = numbers[i * step];
            CHECK(fscanf(file, "%lf", &said) == 1);
            if (is_it && fabs(got - said) > (is_exact ? 0 : bound_of(bytes, said))) {
                printf("%s: number %d is %g, JAX's %g\n", name, i, got, said);
                check_failures++;
                break;
            }
        }
        if (is_it && is_exact && crc != crc32(data, bytes * (size_t)count)) {
            printf("%s: the draws are not JAX's\n", name);
            check_failures++;
        }
        found += is_it;
    }
    if (file)
        fclose(file);
    CHECK(found == 1);
}

static tt gamma_32(tt key, tt a)
{
    return tt_gamma(key, a, TT_F32);
}
static tt gamma_64(tt key, tt a)
{
    return tt_gamma(key, a, TT_F64);
}
static tt loggamma_64(tt key, tt a)
{
    return tt_loggamma(key, a, TT_F64);
}
TT_FUN(tt, gamma_32, tt, tt);
TT_FUN(tt, gamma_64, tt, tt);
TT_FUN(tt, loggamma_64, tt, tt);

/* How each of 10,000 draws moves with its parameter, which goes from 0.1 to 50. */
static tt slopes(tt_fn slope, tt key, tt_dtype type)
{
    tt a = tt_div(tt_astype(tt_add(tt_mod(tt_arange(TT_I32, N), 500), 1), type), 10);
    return tt_call(tt_vmap(slope), tt_split(key, N), a);
}

int main(void)
{
    front_start(4);
    tt key = tt_key(7), rows = tt_arange(TT_F32, N);
    tt few = tt_slice(rows, 0, 0, 100), at = tt_arange(TT_I32, 100);
    tt p = tt_div(tt_astype(tt_add(tt_mod(at, 7), 1), TT_F32), 16);
    tt logits = tt_reshape(tt_sin(tt_arange(TT_F32, N * 5)), N, 5);
    tt alpha = tt_div(tt_astype(tt_add(tt_mod(tt_arange(TT_I32, N), 13), 1), TT_F32), 4);
    tt covariance = tt_add(tt_mul(2, tt_eye(TT_F32, 4)), 1);
    compare("laplace", tt_laplace(key, TT_F32, N), 4, true);
    compare("logistic", tt_logistic(key, TT_F32, N), 4, true);
    compare("cauchy", tt_cauchy(key, TT_F32, N), 4, true);
    compare("maxwell", tt_maxwell(key, TT_F32, N), 4, true);
    compare("rademacher", tt_rademacher(key, TT_F32, N), 4, true);
    compare("orthogonal", tt_tile(tt_reshape(tt_orthogonal(key, TT_F32, 10), -1), 100), 4, false);
    compare("gamma", tt_gamma(key, alpha, TT_F32, N), 4, true);
    compare("gamma_large", tt_gamma(key, tt_add(1, alpha), TT_F32, N), 4, true);
    compare("loggamma", tt_loggamma(key, alpha, TT_F32, N), 4, true);
    compare("beta", tt_beta(key, alpha, 1.5, TT_F32, N), 4, true);
    compare("chisquare", tt_chisquare(key, alpha, TT_F32, N), 4, true);
    compare("student_t", tt_student_t(key, tt_add(2, alpha), TT_F32, N), 4, true);
    compare("fisher_f", tt_fisher_f(key, tt_add(2, alpha), 3.5, TT_F32, N), 4, true);
    compare("lognormal", tt_lognormal(key, alpha, TT_F32, N), 4, true);
    compare("pareto", tt_pareto(key, tt_add(2, alpha), TT_F32, N), 4, true);
    compare("rayleigh", tt_rayleigh(key, alpha, TT_F32, N), 4, true);
    compare("weibull", tt_weibull(key, alpha, 1.5, TT_F32, N), 4, true);
    compare("poisson", tt_poisson(key, tt_mul(6, alpha), TT_I32, N), 4, true);
    const float odd_n[] = { 5, 5, 5, -1, INFINITY, NAN, 5 };
    const float odd_p[] = { 0, 1, -0.5, 0.5, 0.5, 0.5, NAN };
    tt quarter = tt_div(alpha, 4);
    compare("binomial_few", tt_binomial(key, tt_mul(3, alpha), quarter, TT_F32, N), 4, true);
    compare("binomial", tt_binomial(key, tt_mul(40, alpha), quarter, TT_F32, N), 4, true);
    compare("binomial_odd", tt_binomial(key, tt_from(odd_n, 7), tt_from(odd_p, 7), TT_F32, 7), 4,
            true);
    compare("generalized_normal", tt_generalized_normal(key, 1.5, TT_F32, N), 4, true);
    compare("ball", tt_reshape(tt_ball(key, 4, 3, TT_F32, N / 4), -1), 4, true);
    compare("dirichlet", tt_reshape(tt_dirichlet(key, tt_slice(alpha, 0, 0, 5), TT_F32, N / 5), -1),
            4, false);
    compare(
        "multivariate_normal",
        tt_reshape(tt_multivariate_normal(key, tt_slice(alpha, 0, 0, 4), covariance, TT_F32, N / 4),
                   -1),
        4, true);
    compare("bernoulli", tt_bernoulli(key, 0.3, TT_BOOL, N), 1, true);
    compare("bernoulli_each",
            tt_bernoulli(key, tt_mul(tt_full(TT_F32, 0.5, N), tt_div(rows, N)), TT_BOOL, N), 1,
            true);
    compare("randint", tt_randint(key, -3, 97, TT_I32, N), 4, true);
    compare("randint_wide", tt_randint(key, -1000000000, 1000000000, TT_I32, N), 4, true);
    compare("randint_u8", tt_randint(key, 0, 200, TT_U8, N), 1, true);
    compare("randint_u32", tt_randint(key, 5, 70000, TT_U32, N), 4, true);
    compare("categorical", tt_categorical(key, logits, -1), 4, true);
    compare("permutation", tt_permutation(key, rows, 0), 4, true);
    compare("permutation_rows",
            tt_get(tt_permutation(key, tt_reshape(rows, 100, 100), 0), TT_ALL, 0), 4, true);
    compare("choice", tt_choice(key, rows, TT_DIMS(N)), 4, true);
    compare("choice_once", tt_choice(key, rows, TT_DIMS(N), .once = true), 4, true);
    compare("choice_weighed", tt_choice(key, few, TT_DIMS(N), .p = p), 4, true);
    compare("choice_weighed_once", tt_choice(key, few, TT_DIMS(50), .p = p, .once = true), 4, true);
    compare("keys", tt_reshape(tt_split(key, N / 2), N), 4, true);
    compare("gumbel", tt_gumbel(key, TT_F32, N), 4, true);
    compare("exponential", tt_exponential(key, TT_F32, N), 4, true);
    compare("truncated_normal", tt_truncated_normal(key, -2, 1.5, TT_F32, N), 4, true);
    compare("gamma_slope", slopes(tt_grad(gamma_32, .wrt = 2), key, TT_F32), 4, false);
    compare("gamma_slope_64", slopes(tt_grad(gamma_64, .wrt = 2), key, TT_F64), 8, false);
    compare("loggamma_slope_64", slopes(tt_grad(loggamma_64, .wrt = 2), key, TT_F64), 8, false);
    compare("dropout", tt_dropout(key, tt_add(rows, 1), 0.25), 4, false);
    tt k[3];
    tt_keys(k, key);
    uint32_t one[2], row[2];
    CHECK(tt_read(k[2], one, sizeof one) &&
          tt_read(tt_index(tt_split(key, 3), 2), row, sizeof row));
    CHECK(!memcmp(one, row, sizeof one));
    CHECK_SAID("");
    return check_done();
}
