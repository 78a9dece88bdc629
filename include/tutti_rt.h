/* tutti_rt.h - programs that were compiled ahead: the library that plays them.
 *
 *     tutti compile model.mlir -o model.o --header model.h
 *     cc main.c model.o -ltutti_rt -lm -pthread
 *
 * model.h names the program's arguments and results; its functions call those below.  There is no
 * compiler and no reader of programs in the library, and nothing of it that the programs do not use
 * comes into yours.  No function ends the process or prints; each that can fail returns NULL, or a
 * message that belongs to the calling thread until its next call.  Any thread may call any function,
 * also at the same time. */
#ifndef TUTTI_RT_H
#define TUTTI_RT_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_RT_VERSION "0.1.0"

/* A program in an object file.  What it is made for stands in a symbol that only the right library
 * has: with another one, the linker says that tutti_rt_abi_... is missing. */
typedef struct tutti_rt_program {
    const void *abi, *program, *otherwise;
    int64_t level;
    const void *weights;
} tutti_rt_program;

/* Devices, the threads that play them, and the memory of what they compute between. */
typedef struct tutti_rt tutti_rt;

/* Zeros are the defaults. */
typedef struct tutti_rt_options {
    int workers;   /* threads beside the caller's: 0: one per core that the process may use, started
                      when a call first has use for them; TUTTI_RT_ALONE: none */
    size_t memory; /* the most bytes that each device takes for itself; 0: no limit */
    double seconds; /* the most that a call may take before it fails; 0: no limit.  A thread watches
                       the clock */
    /* The caller's own memory for what programs compute between, instead of the system's: take gives
     * bytes at a multiple of 64, or NULL, and give gets the same back, by the runtime's end at the
     * latest.  Any thread may call them, also several at once; they call nothing of this library. */
    void *(*take)(void *user, size_t bytes);
    void (*give)(void *user, void *at, size_t bytes);
    void *user;
    /* The caller's own threads instead of workers.  submit has a thread of the pool's call job(at), once,
     * sooner or later, and need not wait for it; it may also call it itself.  A job works while calls
     * have something to do that no other thread does, then it returns; at most `workers` of them are
     * under way.  A thread in tutti_rt_call works too, also for the calls of others, so that a call ends
     * even when no job is ever called.  Jobs that are called after tutti_rt_end do nothing; each is to be
     * called, for it holds memory. */
    void (*submit)(void *pool, void (*job)(void *at), void *at);
    void *pool;
} tutti_rt_options;
enum { TUTTI_RT_ALONE = -1 };

#pragma GCC visibility push(default)
/* tutti_rt_start, told how large the caller's options are: later versions have more, and what is not
 * there is 0. */
const char *tutti_rt_start_sized(const tutti_rt_options *options, size_t size, tutti_rt **out);
static inline const char *tutti_rt_start(const tutti_rt_options *options, tutti_rt **out)
{
    return tutti_rt_start_sized(options, sizeof *options, out);
}
void tutti_rt_end(tutti_rt *rt); /* no call may be under way; NULL is fine */

/* A call, with a list of pointers to arguments and one to results, row-major and dense.  rt NULL: one
 * with default options, which all such calls share and which is never ended.
 *
 * Whole arrays: cut into the devices' pieces and joined again as the program says, without a copy
 * where a piece lies in one stretch. */
const char *tutti_rt_call(tutti_rt *rt, const tutti_rt_program *program, const void *const *in,
                          void *const *out);
/* Each device's pieces where they are: in[d * arguments + i], out[d * results + i].  A result may be
 * where an argument is that the program was told it may reuse (donated in JAX, of the same piece's
 * shape and type), and nowhere else. */
const char *tutti_rt_call_pieces(tutti_rt *rt, const tutti_rt_program *program,
                                 const void *const *in, void *const *out);

/* Weights: arguments that are arrays of a safetensors file (tutti compile --weights).  in[i] of each of
 * them is pointed to its array, in place: the file is mapped, and a process that is killed leaves
 * nothing behind.  The file must be the one that the program was compiled with, by its size and CRC-32,
 * and each array of the argument's type and shape; what is not so is named.
 *
 * A mapped file must not be cut short or written to while it is open: reading it would then end the
 * process, or give other numbers.  Replace it by renaming another over it, and open that. */
typedef struct tutti_rt_weights tutti_rt_weights;
enum {
    TUTTI_RT_OTHER = 1, /* any file of such arrays will do; nothing but its header is read */
    TUTTI_RT_COPIED = 2 /* arrays are read into memory at once, and the file is let go of */
};
const char *tutti_rt_open(const tutti_rt_program *program, const char *path, int flags,
                          const void **in, tutti_rt_weights **out);
void tutti_rt_close(tutti_rt_weights *weights); /* NULL is fine; no call may use them any more */

/* Custom calls: what a program names that it does not contain.  From now on f answers calls of that
 * name, in all programs of the process: NULL: well; else why not.  It may be called for several devices
 * at once, by any thread, and must not wait for another. */
typedef struct tutti_rt_operand {
    const char *type; /* of an element: "f32" */
    int rank;
    const int64_t *dims;
    void *data; /* row-major and dense */
} tutti_rt_operand;
typedef const char *tutti_rt_function(void *user, const tutti_rt_operand *in, int nin,
                                      const tutti_rt_operand *out, int nout);
const char *tutti_rt_define_call(const char *name, tutti_rt_function *f, void *user);

/* What a program takes and gives, for callers that have no header of it. */
typedef struct tutti_rt_array {
    const char *type; /* of an element, as StableHLO writes it: "f32", "ui8", "complex<f64>" */
    int rank;
    const int64_t *dims, *piece; /* of the whole array, and of what one device holds of it */
    size_t bytes, piece_bytes;
} tutti_rt_array;
int tutti_rt_devices(const tutti_rt_program *program);
int tutti_rt_arguments(const tutti_rt_program *program); /* how many */
int tutti_rt_results(const tutti_rt_program *program);
tutti_rt_array tutti_rt_argument(const tutti_rt_program *program, int i);
tutti_rt_array tutti_rt_result(const tutti_rt_program *program, int i);
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
