/* precision_test.c - .precision of products: in the lowered text of each, of its derivatives and batches, and
 * of programs that were loaded, from text and from bytecode.  Run from the root of the repository.
 *
 * tests/jax/precision.mlir and .mlirbc are a function of JAX with four products: HIGHEST, (HIGH, DEFAULT), a
 * convolution with HIGHEST, and one that says nothing. */
#include "tests/front.h"

#define DOT(lhs, rhs) "precision = [" #lhs ", " #rhs "]"
#define CONV(lhs, rhs)                                                                             \
    "precision_config = [#stablehlo<precision " #lhs ">, #stablehlo<precision " #rhs ">]"

/* The products of the program, and how many of them say that. */
typedef struct Count {
    int all, that;
} Count;

static Count count(const char *text, const char *product, const char *that)
{
    Count n = { 0 };
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char own[2048];
        snprintf(own, sizeof own, "%.*s", (int)strcspn(line, "\n"), line);
        n.all += strstr(own, product) != NULL;
        n.that += strstr(own, product) && strstr(own, that);
    }
    return n;
}

static int dots(const char *text, const char *that)
{
    return count(text, "stablehlo.dot_general", that).that;
}

/* At least so many products, and all of them say that. */
static void check_all(const char *text, int least, const char *product, const char *that)
{
    Count n = count(text, product, that);
    CHECK(n.all >= least && n.that == n.all);
    if (n.all < least || n.that != n.all)
        printf("%d of %d say %s:\n%s\n", n.that, n.all, that, text);
}

static tt plain(tt x, tt w)
{
    return tt_sum(tt_tanh(tt_matmul(x, w)));
}
static tt matrices(tt x, tt w)
{
    return tt_sum(tt_tanh(tt_matmul(x, w, .precision = TT_HIGHEST)));
}
static tt batches(tt x, tt w)
{
    tt stacked = tt_stack(0, x, w);
    return tt_sum(tt_square(tt_matmul(stacked, stacked, .precision = TT_HIGHEST)));
}
static tt sums(tt x, tt w)
{
    return tt_sum(tt_square(tt_einsum("ij,jk,kl->il", x, w, x, .precision = TT_HIGHEST)));
}
static tt attends(tt x, tt w)
{
    tt q = tt_reshape(x, 1, 2, 2, 4), k = tt_reshape(w, 1, 2, 2, 4);
    return tt_sum(tt_square(tt_attention(q, k, q, .causal = true, .precision = TT_HIGHEST)));
}
static tt windows(tt x, tt w)
{
    tt images = tt_reshape(x, 1, 4, 4, 1), kernels = tt_reshape(w, 2, 2, 1, 4);
    tt y = tt_conv(images, kernels, .stride = 2, .precision = TT_HIGHEST);
    tt z = tt_conv_transpose(y, tt_transpose(kernels, 0, 1, 3, 2), .stride = 2,
                             .precision = TT_HIGHEST);
    return tt_sum(tt_square(z));
}
static tt mixed(tt x, tt w)
{
    tt y = tt_matmul(x, w, .precision = TT_DEFAULT), z = tt_matmul(x, w, .precision = TT_HIGH);
    return tt_add(tt_add(y, z), tt_add(tt_matmul(x, w), tt_einsum("ij,jk", x, w)));
}
static tt again(tt x, tt w)
{
    return tt_sum(tt_call(tt_checkpoint(matrices), x, w));
}

/* f as it is, its gradient, the gradient's, both of a batch, with tangents. */
static void check_transforms(tt_fn f, int n, const char *product, const char *that)
{
    tt x = tt_ones(TT_F32, 4, 4), xs = tt_ones(TT_F32, 3, 4, 4);
    tt_fn both = tt_grad(f, .wrt = 3), jvp = tt_jvp(f, .wrt = 3);
    check_all(tt_lower(f, x, x), n, product, that);
    check_all(tt_lower(both, x, x), 2 * n, product, that);
    check_all(tt_lower(tt_vmap(f), xs, xs), n, product, that);
    check_all(tt_lower(tt_vmap(both, .in_axes = { 0, TT_NONE }), xs, x), 2 * n, product, that);
    check_all(tt_lower(jvp, x, x, x, x), 2 * n, product, that);
    CHECK_SAID("");
}

static void test_options(void)
{
    static const char dot[] = "stablehlo.dot_general", conv[] = "stablehlo.convolution";
    tt x = tt_ones(TT_F32, 4, 4);
    check_transforms(TT_FN(matrices, "matrices"), 1, dot, DOT(HIGHEST, HIGHEST));
    check_transforms(TT_FN(batches, "batches"), 1, dot, DOT(HIGHEST, HIGHEST));
    check_transforms(TT_FN(sums, "sums"), 2, dot, DOT(HIGHEST, HIGHEST));
    check_transforms(TT_FN(attends, "attends"), 2, dot, DOT(HIGHEST, HIGHEST));
    check_transforms(TT_FN(windows, "windows"), 2, conv, CONV(HIGHEST, HIGHEST));
    check_transforms(TT_FN(again, "again"), 1, dot, DOT(HIGHEST, HIGHEST));
    CHECK(!strstr(tt_lower(tt_grad(plain), x, x), "precision = "));
    /* The same operands in different precisions are different products. */
    const char *text = tt_lower(mixed, x, x);
    CHECK(dots(text, DOT(DEFAULT, DEFAULT)) == 1 && dots(text, DOT(HIGH, HIGH)) == 1);
    CHECK(dots(text, "precision = ") == 2);
    /* Our engine computes all of them alike, and eagerly too. */
    CHECK(tt_item(tt_sum(tt_call(mixed, x, x))) == 4 * 64);
    CHECK(tt_item(tt_sum(mixed(x, x))) == 4 * 64);
    CHECK(tt_item(tt_sum((tt_matmul)(x, x))) == 64);
}

static tt_fn loaded;
static tt loss(tt x, tt w, tt k)
{
    tt in[] = { x, w, k };
    const tt *out =
        tt_call_n(loaded, (tt_tree[]){ { &in[0], 1 }, { &in[1], 1 }, { &in[2], 1 } }, 3, 2);
    return tt_add(tt_sum(tt_square(out[0])), tt_sum(tt_square(out[1])));
}

static void check_counts(const char *text, int times)
{
    CHECK(dots(text, DOT(HIGHEST, HIGHEST)) == times && dots(text, DOT(HIGH, DEFAULT)) == times);
    check_all(text, times, "stablehlo.convolution", CONV(HIGHEST, HIGHEST));
    Count all = count(text, "stablehlo.dot_general", "");
    CHECK(all.all == 3 * times);
}

static void test_loaded(const char *path)
{
    tt x = tt_ones(TT_F32, 4, 4), k = tt_ones(TT_F32, 3, 3, 1, 2), xs = tt_ones(TT_F32, 5, 4, 4);
    loaded = tt_load(path);
    check_counts(tt_lower(loaded, x, x, k), 1);
    check_counts(tt_lower(tt_vmap(loaded, .in_axes = { 0, TT_NONE, TT_NONE }), xs, x, k), 1);
    check_counts(tt_lower(tt_grad(loss, .wrt = 7), x, x, k), 3);
    CHECK_SAID("");
}

static void test_dot(void)
{
    tt_fn f = front_load("func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
                         "  %b = stablehlo.dot %a, %a, precision = [HIGH, HIGHEST] : "
                         "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
                         "  return %b : tensor<2x2xf32>\n}\n");
    check_all(tt_lower(f, tt_ones(TT_F32, 2, 2)), 1, "stablehlo.dot", DOT(HIGH, HIGHEST));
    f = front_load("func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
                   "  %b = stablehlo.dot %a, %a, precision = [MOST] : "
                   "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
                   "  return %b : tensor<2x2xf32>\n}\n");
    CHECK(!f && strstr(front_said(), "attribute 'precision_config' must be a list of at most two "
                                     "of DEFAULT, HIGH and HIGHEST, not [MOST]"));
}

static void test_misuse(void)
{
    tt x = tt_ones(TT_F32, 4, 4), y = tt_reshape(x, 1, 2, 2, 4);
    tt_precision wrong = (tt_precision)7;
#define SAYS(who, call)                                                                            \
    do {                                                                                           \
        call;                                                                                      \
        CHECK(strstr(front_said(), who ": .precision is 7; TT_DEFAULT, TT_HIGH and TT_HIGHEST "    \
                                       "are possible"));                                           \
    } while (0)
    SAYS("tt_matmul", tt_matmul(x, x, .precision = wrong));
    SAYS("tt_einsum", tt_einsum("ij,jk", x, x, .precision = wrong));
    SAYS("tt_conv", tt_conv(y, y, .precision = wrong));
    SAYS("tt_conv_transpose", tt_conv_transpose(y, y, .precision = wrong));
    SAYS("tt_attention", tt_attention(y, y, y, .precision = wrong));
    tt_precision unsaid = (tt_precision)0;
    CHECK(tt_item(tt_sum(tt_einsum("ij,jk", x, x, .precision = unsaid))) == 64);
}

int main(void)
{
    front_start(1);
    test_options();
    test_loaded("tests/jax/precision.mlir");
    test_loaded("tests/jax/precision.mlirbc");
    test_dot();
    test_misuse();
    return check_done();
}
