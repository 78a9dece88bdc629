/* forms.c - every macro of tutti_sugar.h with all that it may be given, and with all left out that
 * may be: tests/sugar.sh compiles it without a warning.  It is not run. */
#include <stdio.h>
#include <tutti.h>

typedef struct {
    tt a, b;
} Two;
typedef struct {
    int n;
} Config;

static tt meets(tt x)
{
    x = tt_add(tt_psum(x, "i"), tt_pmean(x, "i", .groups = TT_GROUPS(TT_GROUP(0), TT_GROUP(1))));
    x = tt_add(tt_pmax(x, "i"), tt_pmin(x, "i"));
    x = tt_add(tt_all_gather(x, "i"), tt_all_gather(x, "i", .axis = 1, .tiled = true));
    x = tt_add(tt_psum_scatter(x, "i"), tt_all_to_all(x, "i"));
    x = tt_add(tt_pswapaxes(x, "i", 0), tt_pswapaxes(x, "i", 0, .tiled = true));
    x = tt_add(tt_ppermute(x, "i", { 0, 1 }, { 1, 0 }), tt_pshuffle(x, "i", 1, 0));
    x = tt_add(tt_shift(x, "i", 1), tt_pbroadcast(x, "i", 0));
    return tt_mul(tt_add(x, tt_axis_index("i")), tt_axis_size("i"));
}
#define PAIR(F) F(tt, a) F(tt, b)
TT_STRUCT(Pair, PAIR);
#define PAIRS(F) F(Pair, pair, [2]) F(tt, c)
TT_STRUCT(Pairs, PAIRS);
/* clang-format off */
static tt turn(tt i, tt x) { return tt_add(i, x); }
static tt is_small(tt x) { return tt_less(x, 1); }
static Two both(tt x, tt y) { return (Two){ x, y }; }
TT_FUN(Two, both, tt, tt);
static tt scaled(const Config *c, tt x) { return tt_mul(x, c->n); }
TT_FUN_WITH(Config, tt, scaled, tt);
static tt summed(Two p, tt x) { return tt_sum(tt_mul(p.a, p.b, x)); }
TT_FUN(tt, summed, Two, tt);
static tt moved(Two *s, tt x) { s->a = x; return s->b; }
TT_METHOD(tt, moved, Two, tt);
static tt leaves(tt in) { return in; } /* names as the macros could have them */
TT_FUN(tt, leaves, tt);
static tt config(const Config *c, tt in) { return tt_mul(in, c->n); }
TT_FUN_WITH(Config, tt, config, tt);
static tt results(Two *out, tt in) { return tt_add(in, out->a); }
TT_METHOD(tt, results, Two, tt);
/* clang-format on */

static tt made(const float data[4], int n, const float vla[n])
{
    float here[4] = { 0 };
    tt x = tt_add(tt_from(data, 4), tt_from(here, 2, 2)), key = tt_key(0);
    x = tt_add(tt_from(((float[]){ 1, 2 }), 2), tt_from(vla, n));
    x = tt_add(tt_full(TT_F32, 2), tt_full(TT_F32, 2, 3, 4));
    x = tt_add(tt_zeros(TT_F32), tt_ones(TT_F32, 3));
    x = tt_add(tt_uniform(key, TT_F32), tt_normal(key, TT_F32, 3));
    return tt_add(x, tt_bits(tt_next_key(&key), TT_U32, 2));
}

static tt shaped(tt x)
{
    x = tt_add(tt_sum(x), tt_mean(x, 0));
    x = tt_add(tt_softmax(x), tt_logsumexp(x, 0, -1));
    x = tt_add(tt_reshape(x), tt_reshape(x, 4, -1));
    x = tt_add(tt_transpose(x), tt_transpose(x, 1, 0));
    x = tt_add(tt_index(x), tt_index(x, 1, 2));
    x = tt_add(tt_get(x, 1, TT_ALL, TT_RANGE(1, 2), x),
               tt_get(x, TT_REST, TT_NEW_AXIS, TT_BLOCK(x, 2)));
    x = tt_add(tt_set(x, 1, TT_RANGE(0, TT_END, 2)), tt_add_to(x, x, 0, x));
    x = tt_add(tt_mul_to(x, 2, 0), tt_add(tt_min_to(x, 1, 0), tt_max_to(x, 1, 0)));
    x = tt_add(tt_conv(x, x), tt_conv(x, x, .stride = 2, .valid = true));
    return tt_concat(0, tt_slice(x, 0, 1, 2), tt_take(x, 1, 0), tt_broadcast(x, 3));
}

static void transformed(tt x, tt_mesh mesh)
{
    Config c = { 2 };
    tt_print(tt_call(tt_jit(shaped), x));
    tt_print(tt_call(tt_jit(scaled, .config = &c, .donate = 1), x));
    tt_print(tt_call(tt_vmap(tt_grad(shaped)), x));
    tt_print(tt_call_as(Two, tt_value_and_grad(shaped, .has_aux = true), x));
    tt_print(tt_call_as(Two, tt_jvp(shaped), x, x));
    tt_linear linear;
    tt_print(tt_linearize(&linear, shaped, x));
    tt_print(tt_linearize_as(Two, &linear, both, x, x));
    tt_print(tt_call(linear.along, linear.kept, x));
    tt_print(tt_call(tt_jacfwd(shaped), x));
    tt_print(tt_call(tt_jacrev(shaped, .wrt = 1), tt_call(tt_hessian(shaped), x)));
    tt_print(tt_call_as(Two, tt_custom_jvp(shaped, both), x));
    tt_print(tt_call(tt_custom_vjp(shaped, both, both), x));
    tt_print(tt_call(tt_checkpoint(shaped), tt_named(x, "x")));
    tt_print(tt_call(tt_checkpoint(scaled, .dots = true, .names = "x", .config = &c), x));
    tt_print(tt_call(tt_pmap(meets, .axis_name = "i", .in_axes = { 0, TT_NONE }), x));
    tt_print(tt_call(tt_shard_map(shaped, .mesh = mesh), x));
    tt_print(tt_call(tt_shard_map(shaped, .mesh = mesh, .in_specs = { TT_P("x", NULL), TT_P() },
                                  .out_spec = TT_P("x")),
                     x));
    tt_print(tt_map(shaped, ((Two){ x, x })));
    tt_print(tt_map(tt_add, x, x));
}

static void repeated(tt x)
{
    tt_print(tt_fori(3, turn, x));
    tt_print(tt_fori_to(1, x, turn, x));
    tt_print(tt_associative_scan(tt_add, x));
    tt_print(tt_tree_axpy(2, ((Two){ x, x }), ((Two){ x, x })));
    tt_print(tt_unravel(tt_ravel(((Two){ x, x })), ((Two){ x, x })));
    tt_print(tt_add(tt_tree_dot(x, x), tt_add(tt_tree_sum(x), (double)tt_tree_size(x))));
    tt_print(tt_while(is_small, shaped, x));
    tt_print(tt_scan_as(Two, both, x, x));
    Two two = { x, x }, grad;
    tt_print(tt_loss_grad(&grad, summed, two, x));
    TT_FOR(i, 3) {
        TT_FOR(j, i)
            tt_printf("%d %g %s\n", i, tt_update(&two, tt_jit(moved), x), "");
        tt_print(tt_add(tt_sweep(&two, moved, x), tt_sweep_as(tt, &two, moved, x), i));
    }
    tt_printf("\n");
    tt_print(tt_call(tt_jit(config, .config = &(Config){ 0 }), tt_call(leaves, x)));
    tt_print(tt_update(&two, results, x));
    tt_print(tt_cond(tt_less(x, 1), shaped, shaped, x));
    tt_print(tt_cond_as(Two, x, both, both, x, x));
    tt_print(tt_custom_call("f", tt_zeros(TT_F32, 2), x));
    tt_print(tt_custom_call("f", ((Two){ x, x }), x, ((Two){ x, x })));
    tt_define_call("f", NULL, NULL);
    tt_debug_print("here");
    tt_debug_print_ordered("{}", x);
    tt_save_sharding("x.svg", x);
    tt_debug_print("{} {}", x, tt_sin(x));
    tt_check(tt_less(x, 1), "x = {}", x);
    tt_check(tt_less(x, 1), "too large");
    tt_debug_progress(x, 10, "x {}", x);
    tt_debug_progress(1, 10, "");
}

int main(void)
{
    tt_init();
    tt_init(.devices = 2);
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 1 });
    float data[4] = { 0 };
    tt x = made(data, 4, data);
    Two kept = { x, x };
    {
        TT_SCOPE;
        tt_assign(kept, ((Two){ x, tt_keep(x) }));
    }
    tt_print(tt_place(x, mesh));
    tt_print(tt_place(x, mesh, "x", NULL));
    transformed(x, mesh);
    repeated(x);
    puts(TT_NAMES(Pairs)[1]);
    puts(tt_lower(shaped, x));
    tt_wait(kept);
    return (int)tt_item(x);
}
