/* extension.h - what build/tutti and the front ask of the engine beyond PJRT: an extension of our
 * own. */
#ifndef TUTTI_PJRT_EXTENSION_H
#define TUTTI_PJRT_EXTENSION_H
#include "pjrt/pjrt.h"

#include <stdbool.h>

enum { TUTTI_EXTENSION = 0x7474 }; /* its type in the chain of extensions */

/* An argument or a result, and how it lies on devices: device d holds the box of extents `part`
 * that begins at starts[d * rank ...]; devices that begin alike hold the same. */
typedef struct TuttiArray {
    PJRT_Buffer_Type type;
    int rank;
    const int64_t *whole, *part, *starts;
} TuttiArray;

typedef struct TuttiProgram {
    int ndevices, nargs, nresults;
    const TuttiArray *args, *results;
} TuttiProgram;

/* A custom call under way: dense row-major arrays; tokens are left out.  Alive during the call. */
typedef struct TuttiOperand {
    PJRT_Buffer_Type type;
    int rank;
    const int64_t *dims;
    void *data;
} TuttiOperand;

typedef struct TuttiCall {
    int nargs, nresults;
    const TuttiOperand *args, *results;
    char *message; /* why it failed: NUL-terminated */
    size_t room;   /* for it */
    int device;    /* its number, in a program for several; -1: the call is for all of them */
    bool is_first; /* of the program's devices, or it is for all of them */
    int launch;    /* the number that the run was launched with, PJRT_ExecuteOptions.launch_id */
} TuttiCall;

/* What such a function returns: well; failed, and the message goes behind the call's name and place;
 * failed, and the message says where. */
enum { TUTTI_CALL_WELL, TUTTI_CALL_FAILED, TUTTI_CALL_FAILED_THERE };

/* Called by any thread, also by several at once; it must not wait for the device that
 * calls.  `call` is NULL once, after the last call, for a name that drop_call ended. */
typedef int32_t TuttiFunction(void *user, const TuttiCall *call);

/* Names that begin so are of functions that only this process has: a program that calls one is not
 * stored (PJRT_Executable_Serialize). */
#define TUTTI_LOCAL_CALL "tutti.local."
/* And these are called by every device, outside of manual computations too, with its own pieces of
 * the operands, however they lie.  They give nothing but tokens. */
#define TUTTI_EACH_CALL TUTTI_LOCAL_CALL "each."

/* And these are called while a program is compiled, once for each that it has, with bytes instead of
 * their operand: how that lies on the devices, as a serialized OpSharding (empty: whole on each).  They
 * give nothing, and compiled code does not have them. */
#define TUTTI_INSPECT_CALL TUTTI_LOCAL_CALL "inspect."

/* A routine of LAPACK or BLAS by Fortran's name without its underscore (dgetrf): what C calls, with
 * integers of 32 bits; NULL: there is none.  Called while a program is compiled, by any thread. */
typedef void *TuttiFindRoutine(const char *name);

/* A program as an object file that C programs link, and the header that they call it by. */
typedef struct TuttiObject {
    const char *code; /* the program */
    size_t size;
    const char *file; /* for messages */
    const char *name; /* a word of C, after which its functions are called */
    /* NULL: this machine; or x86-64-v4, -v3, -v2, aarch64.  `otherwise` names what is played on a
     * machine that has less, another object's program; NULL: nothing is. */
    const char *cpu, *otherwise;
    /* Words of C for its arguments and results; NULL: arg0, result0 and so on. */
    const char *const *args, *const *results;
    /* For each argument the array that it is in a file of weights, which is read when the program is
     * played, or NULL; NULL: there is none.  And that file: its name, size and CRC-32. */
    const char *const *weights, *weights_file;
    int64_t weights_bytes, weights_crc;
    /* Made by the call; both are given back by release. */
    char *object;
    size_t object_size;
    char *header;
} TuttiObject;

/* Bytes that one process has and all others get. */
typedef struct TuttiPiece {
    int process; /* whose they are */
    void *data;
    size_t bytes;
} TuttiPiece;

/* Texts are new; the caller gives them back by release. */
typedef struct TuttiExtension {
    PJRT_Extension_Base base;
    /* What a program takes and gives; alive as long as the executable. */
    PJRT_Error *(*describe)(PJRT_LoadedExecutable *executable, const TuttiProgram **out);
    /* Lines "name value": of the compilation (unless NULL), and of all runs of the process. */
    PJRT_Error *(*stats)(PJRT_LoadedExecutable *executable, char **text);
    /* The program as text after a pass; after NULL: as it was read. */
    PJRT_Error *(*dump)(const char *code, size_t size, const char *name, const char *after,
                        char **text);
    void (*release)(char *text);
    const char *const *passes; /* after which there is something to show; NULL at the end */
    /* From now on f answers custom calls of that name, unless the engine knows it itself.  False:
     * there is no memory for the name, and nothing has changed. */
    bool (*add_call)(const char *name, size_t size, TuttiFunction *f, void *user);
    /* Whose LAPACK computes linear algebra, unless TUTTI_LAPACK names another; before the first
     * program that has a use for it. */
    void (*offer_lapack)(TuttiFindRoutine *find);
    /* Looks for it, and gives its file's name, or "own" for the engine's routines. */
    PJRT_Error *(*lapack)(const char **name);
    /* The caller has no more use for a name it added: it goes when no program that calls it is left,
     * and its function hears of it. */
    void (*drop_call)(const char *name, size_t size);
    /* From now on what the process does is recorded; what was recorded before is forgotten. */
    PJRT_Error *(*record)(void);
    /* Recording ends.  What was recorded goes to a file, whose name's end says as what: .html,
     * .json, .pftrace, .txt; NULL: *text becomes the table. */
    PJRT_Error *(*record_end)(const char *path, char **text);
    /* A stretch of the calling thread's time that gets a name: what range_begin gave goes to
     * range_end, 0 too. */
    uint64_t (*range_begin)(void);
    void (*range_end)(uint64_t begin, const char *name);
    PJRT_Error *(*compile_object)(TuttiObject *object);
    /* Called by all processes of a client with the same list: each piece comes to all of them.  The
     * n-th calls of all belong together.  pieces NULL: this process cannot take part: all calls
     * fail. */
    PJRT_Error *(*exchange)(PJRT_Client *client, int n, const TuttiPiece *pieces);
    const char *llvm;   /* its version; empty: there is no compiler */
    const char *rt_abi; /* the symbol that objects of compile_object want of libtutti_rt */
    /* From now on these answer custom calls of that name as XLA calls its foreign functions
     * (pjrt/ffi.h): for the stages instantiate, prepare, initialize, execute; NULL: there is none.
     * NULL, or why not: a text. */
    char *(*add_handler)(const char *name, size_t size, void *const *stages);
    /* A type of their states.  *id: its number; 0 becomes a new one.  info: a FfiTypeInfo, or NULL. */
    char *(*add_type)(const char *name, size_t size, int64_t *id, const void *info);
    /* This process will execute nothing more: processes that wait for it are told so now, and not when it
     * ends.  If it has not failed, what is under way may still end before. */
    void (*leaving)(bool has_failed);
} TuttiExtension;
#endif
