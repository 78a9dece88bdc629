/* transforms.c - tt_jit, tt_grad, tt_vmap, tt_pmap and their like: options become the key of a
 * tt_fn (fn.h), in which all strings and lists are interned. */
#include "front/transform/fn.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

/* The C function inside f with its configuration, and f of that.  NULL: reported. */
static tt_fn configured(tt_fn f, const char *who, const void *config, size_t size)
{
    if (!config)
        return f;
    FnKey key = f->key;
    if (key.inner) {
        key.inner = configured(key.inner, who, config, size);
        return key.inner ? fn_intern(&key, f->how, NULL) : NULL;
    }
    size_t wanted = f->fun ? f->fun->config_size : 0;
    if (!wanted)
        return report_broken("%s(%s): .config is given, but %s takes none: describe it by "
                             "TT_FUN_WITH(type, ...), and its first parameter is a const type *",
                             who, f->label, f->name),
               NULL;
    if (size && size != wanted)
        return report_broken(
                   "%s(%s): config_size is %zu, but the configuration of %s has %zu bytes", who,
                   f->label, size, f->name, wanted),
               NULL;
    if (key.config)
        return report_broken("%s(%s): %s has its configuration already", who, f->label, f->name),
               NULL;
    key.config = intern_bytes(config, wanted);
    key.config_size = wanted;
    return key.config ? fn_intern(&key, NULL, f->name) : NULL;
}

/* The function that a transformation is of: f, with the configuration in `options`. */
#define CONFIGURED(f, who, options)                                                                \
    ((f) = configured(f, who, (options).config, (options).config_size))

tt_fn tt_jit_with(tt_fn f, const tt_jit_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_jit"))
        return NULL;
    OPTIONS(tt_jit_options, "tt_jit", given, return NULL);
    if (!CONFIGURED(f, "tt_jit", options))
        return NULL;
    FnKey key = { .kind = FN_JIT, .inner = f, .donate = options.donate };
    return fn_intern(&key, "jit", NULL);
}

static tt_fn grad_with(tt_fn f, const tt_grad_options *given, FnKind kind, const char *how)
{
    const char *who = kind == FN_GRAD ? "tt_grad" : "tt_value_and_grad";
    if (!fn_is_given(f, who))
        return NULL;
    OPTIONS(tt_grad_options, who, given, return NULL);
    if (!CONFIGURED(f, who, options))
        return NULL;
    FnKey key = {
        .kind = kind, .inner = f, .wrt = options.wrt ? options.wrt : 1, .has_aux = options.has_aux
    };
    return fn_intern(&key, how, NULL);
}

tt_fn tt_grad_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    return grad_with(f, given, FN_GRAD, "grad");
}

tt_fn tt_value_and_grad_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    return grad_with(f, given, FN_VALUE_AND_GRAD, "value_and_grad");
}

tt_fn tt_vjp_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_vjp"))
        return NULL;
    OPTIONS(tt_grad_options, "tt_vjp", given, return NULL);
    if (!CONFIGURED(f, "tt_vjp", options))
        return NULL;
    FnKey key = { .kind = FN_VJP, .inner = f, .wrt = options.wrt ? options.wrt : 1 };
    return fn_intern(&key, "vjp", NULL);
}

tt_fn tt_jvp_with(tt_fn f, const tt_jvp_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_jvp"))
        return NULL;
    OPTIONS(tt_jvp_options, "tt_jvp", given, return NULL);
    if (!CONFIGURED(f, "tt_jvp", options))
        return NULL;
    FnKey key = { .kind = FN_JVP, .inner = f, .wrt = options.wrt ? options.wrt : 1 };
    return fn_intern(&key, "jvp", NULL);
}

static tt_fn jacobian_with(tt_fn f, const tt_grad_options *given, FnKind kind, const char *who)
{
    if (!fn_is_given(f, who))
        return NULL;
    OPTIONS(tt_grad_options, who, given, return NULL);
    if (options.has_aux)
        return report_broken("%s(%s): .has_aux is for tt_grad: all results are differentiated", who,
                             f->label),
               NULL;
    if (!CONFIGURED(f, who, options))
        return NULL;
    FnKey key = { .kind = kind, .inner = f, .wrt = options.wrt ? options.wrt : 1 };
    return fn_intern(&key, who + strlen("tt_"), NULL);
}

tt_fn tt_jacfwd_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    return jacobian_with(f, given, FN_JACFWD, "tt_jacfwd");
}

tt_fn tt_jacrev_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    return jacobian_with(f, given, FN_JACREV, "tt_jacrev");
}

tt_fn tt_hessian_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    tt_fn slopes = jacobian_with(f, given, FN_JACREV, "tt_jacrev");
    FnKey key = { .kind = FN_JACFWD, .inner = slopes };
    if (!slopes)
        return NULL;
    key.wrt = slopes->key.wrt;
    return fn_intern(&key, "jacfwd", NULL);
}

tt_fn tt_custom_jvp(tt_fn f, tt_fn rule)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_custom_jvp") || !fn_is_given(rule, "tt_custom_jvp"))
        return NULL;
    FnKey key = { .kind = FN_CUSTOM_JVP, .inner = f, .other = rule };
    return fn_intern(&key, "custom_jvp", NULL);
}

tt_fn tt_custom_vjp(tt_fn f, tt_fn forward, tt_fn backward)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_custom_vjp") || !fn_is_given(forward, "tt_custom_vjp") ||
        !fn_is_given(backward, "tt_custom_vjp"))
        return NULL;
    FnKey key = { .kind = FN_CUSTOM_VJP, .inner = f, .other = forward };
    key.config_size = sizeof backward;
    key.config = intern_bytes(&backward, sizeof backward);
    return key.config ? fn_intern(&key, "custom_vjp", NULL) : NULL;
}

tt_fn tt_checkpoint_with(tt_fn f, const tt_checkpoint_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_checkpoint"))
        return NULL;
    OPTIONS(tt_checkpoint_options, "tt_checkpoint", given, return NULL);
    if (!CONFIGURED(f, "tt_checkpoint", options))
        return NULL;
    unsigned before = report_count();
    FnKey key = { .kind = FN_CHECKPOINT, .inner = f, .has_aux = options.dots };
    key.axis_name = intern_string(options.names);
    return report_count() == before ? fn_intern(&key, "checkpoint", NULL) : NULL;
}

/* Are runs given instead of lists, not beside them?  False: reported. */
static bool are_instead(const char *who, tt_fn f, const char *option, bool has_runs, bool has_list)
{
    if (has_runs && has_list)
        report_broken("%s(%s): %s is given by type and one by one: give one of the two", who,
                      f->label, option);
    return !(has_runs && has_list);
}

enum { MOST_RUNS = 256 };

static bool runs_are_few(const char *who, tt_fn f, int n)
{
    if (n > MOST_RUNS)
        report_broken("%s(%s): %d runs; at most %d are possible", who, f->label, n, MOST_RUNS);
    return n <= MOST_RUNS;
}

static const tt_axis_run *intern_axis_runs(tt_axis_runs runs)
{
    return runs.n ? intern_bytes(runs.run, sizeof *runs.run * (size_t)runs.n) : NULL;
}

static bool is_any(const int32_t *axes, int n)
{
    for (int i = 0; i < n; i++)
        if (axes[i])
            return true;
    return false;
}

/* The axes of a map's arguments and results.  False: reported. */
static bool take_axes(FnKey *key, const char *who, const int32_t *in_axes, const int32_t *out_axes,
                      tt_axis_runs in, tt_axis_runs out)
{
    memcpy(key->in_axes, in_axes, sizeof key->in_axes);
    memcpy(key->out_axes, out_axes, sizeof key->out_axes);
    key->in_axis_runs = intern_axis_runs(in);
    key->out_axis_runs = intern_axis_runs(out);
    key->nin_runs = in.n;
    key->nout_runs = out.n;
    bool has_out = key->out_axis || is_any(out_axes, TT_MAX_RESULTS);
    return are_instead(who, key->inner, ".in", in.n, is_any(in_axes, TT_MAX_ARGS)) &&
           are_instead(who, key->inner, ".out", out.n, has_out);
}

static bool is_axis_name(const char *who, tt_fn f, const char *name)
{
    bool is_list = name && strchr(name, ',');
    if (is_list)
        report_broken("%s(%s): .axis_name is \"%s\": a map has one axis, and a comma is for naming "
                      "several at once",
                      who, f->label, name);
    return !is_list;
}

tt_fn tt_vmap_with(tt_fn f, const tt_vmap_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_vmap"))
        return NULL;
    OPTIONS(tt_vmap_options, "tt_vmap", given, return NULL);
    if (!is_axis_name("tt_vmap", f, options.axis_name) || !CONFIGURED(f, "tt_vmap", options))
        return NULL;
    unsigned before = report_count();
    FnKey key = { .kind = FN_VMAP,
                  .inner = f,
                  .axis_size = options.axis_size,
                  .axis_name = intern_string(options.axis_name),
                  .out_axis = options.out_axis };
    return take_axes(&key, "tt_vmap", options.in_axes, options.out_axes, options.in, options.out) &&
                   report_count() == before
               ? fn_intern(&key, "vmap", NULL)
               : NULL;
}

tt_fn tt_pmap_with(tt_fn f, const tt_pmap_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_pmap"))
        return NULL;
    OPTIONS(tt_pmap_options, "tt_pmap", given, return NULL);
    if (!is_axis_name("tt_pmap", f, options.axis_name) || !CONFIGURED(f, "tt_pmap", options))
        return NULL;
    if ((options.devices != NULL) != (options.ndevices > 0)) {
        report_broken(
            "tt_pmap(%s): devices must list at least one device, and ndevices say how many, "
            "or neither be given",
            f->label);
        return NULL;
    }
    unsigned before = report_count();
    FnKey key = { .kind = FN_PMAP,
                  .inner = f,
                  .axis_size = options.axis_size,
                  .axis_name = intern_string(options.axis_name),
                  .out_axis = options.out_axis,
                  .donate = options.donate,
                  .ndevices = options.ndevices };
    if (options.devices)
        key.devices = intern_bytes(options.devices, sizeof(int) * (size_t)options.ndevices);
    return take_axes(&key, "tt_pmap", options.in_axes, options.out_axes, options.in, options.out) &&
                   report_count() == before
               ? fn_intern(&key, "pmap", NULL)
               : NULL;
}

static tt_spec intern_spec(tt_spec spec)
{
    for (int i = 0; i < TT_MAX_RANK; i++)
        spec.axis[i] = intern_string(spec.axis[i]);
    return spec;
}

static bool is_empty(const tt_spec *spec)
{
    static const tt_spec empty;
    return memcmp(spec, &empty, sizeof empty) == 0;
}

/* Interned; NULL: none is given. */
static const tt_spec *intern_specs(const tt_spec *specs, int n)
{
    tt_spec copy[TT_MAX_RESULTS] = { 0 };
    bool any = false;
    for (int i = 0; i < n; i++) {
        copy[i] = intern_spec(specs[i]);
        any |= !is_empty(&specs[i]);
    }
    return any ? intern_bytes(copy, sizeof *copy * (size_t)n) : NULL;
}

static const tt_spec_run *intern_spec_runs(tt_spec_runs runs)
{
    tt_spec_run copy[MOST_RUNS];
    memset(copy, 0, sizeof copy); /* bytes between fields count */
    for (int i = 0; i < runs.n; i++) {
        copy[i].leaves = runs.run[i].leaves;
        copy[i].spec = intern_spec(runs.run[i].spec);
    }
    return runs.n ? intern_bytes(copy, sizeof *copy * (size_t)runs.n) : NULL;
}

tt_fn tt_shard_map_with(tt_fn f, const tt_shard_map_options *given)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_shard_map"))
        return NULL;
    OPTIONS(tt_shard_map_options, "tt_shard_map", given, return NULL);
    if (!CONFIGURED(f, "tt_shard_map", options))
        return NULL;
    if (!options.mesh) {
        report_broken("tt_shard_map(%s): no mesh is given: make one with tt_mesh_of", f->label);
        return NULL;
    }
    unsigned before = report_count();
    FnKey key = { .kind = FN_SHARD_MAP, .inner = f, .mesh = options.mesh };
    if (!runs_are_few("tt_shard_map", f, options.in.n) ||
        !runs_are_few("tt_shard_map", f, options.out.n))
        return NULL;
    key.in_specs = intern_specs(options.in_specs, TT_MAX_ARGS);
    key.out_spec = intern_spec(options.out_spec);
    key.out_specs = intern_specs(options.out_specs, TT_MAX_RESULTS);
    key.in_spec_runs = intern_spec_runs(options.in);
    key.out_spec_runs = intern_spec_runs(options.out);
    key.nin_runs = options.in.n;
    key.nout_runs = options.out.n;
    if (!are_instead("tt_shard_map", f, ".in", options.in.n, key.in_specs) ||
        !are_instead("tt_shard_map", f, ".out", options.out.n,
                     key.out_specs || !is_empty(&key.out_spec)))
        return NULL;
    if (key.out_specs && !is_empty(&key.out_spec)) {
        report_broken(
            "tt_shard_map(%s): .out_spec is for every result and .out_specs has one for each: "
            "give one of the two",
            f->label);
        return NULL;
    }
    return report_count() == before ? fn_intern(&key, "shard_map", NULL) : NULL;
}
