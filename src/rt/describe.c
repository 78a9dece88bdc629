/* describe.c - what a program that was compiled ahead takes and gives. */
#include "engine/program.h"

#include "tutti_rt.h"

/* All forms of a program are alike in this. */
static const Program *program_of(const tutti_rt_program *program)
{
    return ((const LinkedProgram *)(const void *)program)->program;
}

static tutti_rt_array describe(const Param *p)
{
    return (tutti_rt_array){ .type = element_info[p->whole.element].name,
                             .rank = p->whole.rank,
                             .dims = p->whole.dims,
                             .piece = p->local.dims,
                             .bytes = type_bytes(p->whole),
                             .piece_bytes = type_bytes(p->local) };
}

int tutti_rt_devices(const tutti_rt_program *program)
{
    return program_of(program)->ndevices;
}

int tutti_rt_arguments(const tutti_rt_program *program)
{
    return program_of(program)->nargs;
}

int tutti_rt_results(const tutti_rt_program *program)
{
    return program_of(program)->nresults;
}

tutti_rt_array tutti_rt_argument(const tutti_rt_program *program, int i)
{
    return describe(&program_of(program)->args[i]);
}

tutti_rt_array tutti_rt_result(const tutti_rt_program *program, int i)
{
    return describe(&program_of(program)->results[i]);
}
