/* no_compiler.c - what stands in the compiler's place in an engine that has none.
 *
 *     pjrt_plugin_tutti.so     plugin, executor, reader, compiler: LLVM
 *     pjrt_plugin_tutti_rt.so  plugin, executor, reader, this file
 *
 * It is for machines that only play what was compiled elsewhere: tt_load of a file.so makes a program
 * that is one custom call, answered by the library that was loaded.  Programs of such calls are played, and
 * every other is refused. */
#include "base/fail.h"
#include "engine/link/link.h"
#include "engine/passes/passes.h"

#define NO_COMPILER                                                                                \
    "this engine, pjrt_plugin_tutti_rt.so, holds no compiler: it plays what tutti compile and "    \
    "tt_save_compiled made, and pjrt_plugin_tutti.so compiles"
#define QUOTED(x) #x
#define QUOTE(x) QUOTED(x)

const char *const pass_names[] = { NULL };
const char rt_abi[] = QUOTE(TUTTI_RT_ABI);
const char llvm_version[] = "";

static Error *check_calls(const Module *m)
{
    const Region *main = region_at(m, module_main(m));
    if (m->nreplicas * m->npartitions != 1)
        return error_new(CODE_UNIMPLEMENTED, "%.*s is for %d devices, and " NO_COMPILER,
                         STR_ARG(module_name(m)), m->nreplicas * m->npartitions);
    for (int i = 0; i < main->nnodes; i++) {
        const Node *n = node_at(m, main->nodes[i]);
        if (n->op != OP_CUSTOM_CALL && n->op != OP_RETURN)
            return error_new(CODE_UNIMPLEMENTED, "%s (%s) is not compiled, and " NO_COMPILER,
                             op_name(n->op), loc_name(n->loc));
    }
    return NULL;
}

static Error *steps(Source *s, void *out)
{
    TRY(source_read(s));
    Module *m = s->module;
    TRY(module_check(m));
    if (!func_find(m, STR("main")))
        return error_new(CODE_INVALID, "the program has no function main");
    TRY(pass_refine(m));
    TRY(check_calls(m));
    Params params = params_whole(m, module_main(m));
    return link_evaluation(&params, m, out);
}

Error *compile_program(Source *s, Program **out)
{
    return source_compile(s, steps, out);
}

Error *compile_object(Source *s, ObjectFile *out)
{
    (void)s, (void)out;
    return error_new(CODE_UNIMPLEMENTED, NO_COMPILER);
}

Error *compile_until(Source *s, const char *pass)
{
    (void)s, (void)pass;
    return error_new(CODE_UNIMPLEMENTED, NO_COMPILER);
}

Error *compile_to_show(Source *s)
{
    return compile_until(s, NULL);
}

Work node_work(const Module *m, NodeId n)
{
    (void)m, (void)n;
    return (Work){ 0 }; /* what a call does is not known */
}

void code_free(Code *code)
{
    require(!code);
}

void llvm_end(void)
{
}
