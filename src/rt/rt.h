/* rt.h - the insides of libtutti_rt.
 *
 *   rt.c           devices for programs: made when a program first needs so many
 *   call.c         one call: pointers become buffers, a launch, results
 *   pieces.c       whole arrays and the pieces of them
 *   custom_call.c  C functions that programs call by name
 *   describe.c     what a program takes and gives
 *   weights.c      arguments that are arrays of a file
 *   abi.c          the symbol that names what objects and this library agree on */
#ifndef TUTTI_RT_RT_H
#define TUTTI_RT_RT_H
#include "engine/exec/launch.h"

#include "tutti_rt.h"

/* An executor with at least so many devices; NULL: the shared runtime's. */
MUST_USE Error *rt_executor(tutti_rt *rt, int ndevices, Executor **out);
bool rt_is_alone(const tutti_rt *rt);
/* What the caller gets to read; takes the error. */
const char *rt_say(Error *error);
#endif
