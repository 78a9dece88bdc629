/* xla_flags.c - XLA's own compile options: what users write for other engines is no error here.
 *
 * A name that XLA knows is accepted if its value is of the right type, and changes nothing; a name
 * that it does not know is refused by the caller (proto.c). */
#include "engine/plugin/xla_flags.h"

#include <string.h>

/* Each list is words between blanks. */
static const char bools[] =
    " "
    "xla_allow_excess_precision "
    "xla_allow_h2h_copy_when_automatic_host_compute_offload_disabled "
    "xla_allow_scalar_index_dynamic_ops xla_cpu_copy_insertion_use_region_analysis "
    "xla_cpu_enable_concurrency_optimized_scheduler xla_cpu_enable_fast_math "
    "xla_cpu_enable_fast_min_max xla_cpu_enable_platform_dependent_math "
    "xla_cpu_enable_xprof_traceme xla_cpu_experimental_enable_tiling_propagation "
    "xla_cpu_experimental_onednn_custom_call xla_cpu_fast_math_honor_division "
    "xla_cpu_fast_math_honor_functions xla_cpu_fast_math_honor_infs "
    "xla_cpu_fast_math_honor_nans xla_cpu_ftz "
    "xla_cpu_generate_unique_c_style_kernel_entry_points xla_cpu_multi_thread_eigen "
    "xla_cpu_strict_dot_conv_math xla_cpu_use_acl xla_cpu_use_fusion_emitters "
    "xla_cpu_use_onednn xla_cpu_use_xnnpack xla_detailed_logging xla_disable_all_hlo_passes "
    "xla_disable_automatic_host_compute_offload xla_dump_buffer_assignment_analysis "
    "xla_dump_compress_protos xla_dump_disable_metadata xla_dump_enable_mlir_pretty_form "
    "xla_dump_full_hlo_config xla_dump_fusion_visualization xla_dump_hlo_as_dot "
    "xla_dump_hlo_as_html xla_dump_hlo_as_long_text xla_dump_hlo_as_proto "
    "xla_dump_hlo_as_text xla_dump_hlo_as_url xla_dump_hlo_snapshots "
    "xla_dump_hlo_to_subfolder xla_dump_hlo_unoptimized_snapshots xla_dump_include_timestamp "
    "xla_dump_large_constants xla_dump_latency_hiding_schedule xla_dump_module_metadata "
    "xla_early_exit_with_layouts xla_eliminate_hlo_implicit_broadcast "
    "xla_embed_ir_in_executable xla_enable_command_buffers_during_profiling "
    "xla_enable_dumping xla_enable_enzyme_comms_opt xla_enable_fast_math "
    "xla_enable_hlo_sharding_v3 xla_enable_rgv3_materialization "
    "xla_enable_scoped_logging_timers xla_flags_reset xla_hlo_evaluator_use_fast_path "
    "xla_hlo_graph_addresses xla_hlo_graph_sharding_color xla_hlo_pass_fix_detect_cycles "
    "xla_hlo_print_inline_stack_frames xla_hlo_profile xla_keep_shardings_after_spmd "
    "xla_llvm_disable_expensive_passes xla_llvm_enable_alias_scope_metadata "
    "xla_llvm_enable_invariant_load_metadata xla_llvm_enable_noalias_metadata "
    "xla_llvm_force_inline_before_split xla_pjrt_allow_auto_layout_in_hlo "
    "xla_sdy_export_all_reduce_scatter xla_syntax_sugar_async_ops "
    "xla_test_add_command_buffer_mode xla_test_all_input_layouts xla_test_all_output_layouts "
    "xla_unsupported_crash_on_hlo_pass_fix_max_iterations "
    "xla_unsupported_crash_on_hlo_pass_noop_change "
    "xla_unsupported_crash_on_hlo_pass_silent_hlo_change ";
static const char numbers[] =
    " "
    "exec_time_optimization_effort memory_fitting_effort memory_fitting_level "
    "optimization_level xla_backend_optimization_level xla_cmd_buffer_trace_cache_size "
    "xla_cpu_collective_call_terminate_timeout_seconds "
    "xla_cpu_collective_call_warn_stuck_seconds xla_cpu_collective_timeout_seconds "
    "xla_cpu_emitter_verification_level xla_cpu_parallel_codegen_split_count "
    "xla_cpu_prefer_vector_width xla_debug_buffer_assignment_show_max "
    "xla_dump_max_hlo_modules xla_force_host_platform_device_count "
    "xla_multiheap_size_constraint_per_heap xla_recognize_reduction_optimization_level "
    "xla_reduce_window_rewrite_base_length ";
static const char texts[] =
    " "
    "xla_cpu_experimental_onednn_fusion_type xla_cpu_experimental_xnn_fusion_type "
    "xla_cpu_experimental_xnn_graph_fusion_mode xla_cpu_experimental_ynn_fusion_type "
    "xla_cpu_max_isa xla_cpu_opt_preset xla_cpu_scheduler_type "
    "xla_detect_unstable_reductions xla_detect_unstable_reductions_post_optimizations "
    "xla_disable_hlo_passes xla_dump_emitter_re xla_dump_hlo_module_re xla_dump_hlo_pass_re "
    "xla_dump_hlo_pipeline_re xla_dump_to xla_enable_hlo_passes_only "
    "xla_partitioning_algorithm xla_step_marker_location ";

static bool is_listed(const char *list, Str name)
{
    for (const char *at = list; (at = strchr(at, ' ')) && *++at;)
        if (!strncmp(at, name.at, name.n) && at[name.n] == ' ')
            return name.n > 0;
    return false;
}

static bool begins(Str name, const char *with)
{
    return name.n > strlen(with) && !memcmp(name.at, with, strlen(with));
}

SwitchType switch_type(Str name)
{
    if (is_listed(bools, name))
        return SWITCH_BOOL;
    if (is_listed(numbers, name))
        return SWITCH_NUMBER;
    /* Those of machines that we are not: any value. */
    if (is_listed(texts, name) || begins(name, "xla_gpu_") || begins(name, "xla_tpu_"))
        return SWITCH_ANY;
    return SWITCH_UNKNOWN;
}
