/* ffi.h - the ABI of XLA's typed foreign functions (jax.ffi), version 0.3, in our own words.
 *
 * A handler is C++ or C that somebody compiled for XLA's CPU backend.  It is called with one struct,
 * the call frame: operands, results and attributes, and a table of functions that it may call back.
 * Every struct begins with its size and a chain of extensions, as PJRT's do.  Lists are given as two
 * arrays of the same length: what kind each is, and a pointer to it. */
#ifndef TUTTI_PJRT_FFI_H
#define TUTTI_PJRT_FFI_H
#include <stddef.h>
#include <stdint.h>

enum { FFI_MAJOR = 0, FFI_MINOR = 3 };
enum { FFI_EXTENSION_METADATA = 1 };
enum { FFI_BUFFER = 1 }; /* of operands and results */
enum { FFI_ARRAY = 1, FFI_DICTIONARY = 2, FFI_SCALAR = 3, FFI_STRING = 4 }; /* of attributes */
typedef enum FfiStage {
    FFI_INSTANTIATE,
    FFI_PREPARE,
    FFI_INITIALIZE,
    FFI_EXECUTE,
    FFI_STAGES
} FfiStage;

typedef struct FfiError FfiError;     /* of whoever made it; destroyed by whom it was given to */
typedef struct FfiFuture FfiFuture;   /* the end of what a handler still does when it returns */
typedef struct FfiContext FfiContext; /* of one call */

typedef struct FfiExtension {
    size_t struct_size;
    int type;
    struct FfiExtension *next;
} FfiExtension;

#define FFI_HEAD                                                                                   \
    size_t struct_size;                                                                            \
    FfiExtension *extension

typedef struct FfiVersion {
    FFI_HEAD;
    int major, minor;
} FfiVersion;

typedef struct FfiBuffer {
    FFI_HEAD;
    int type; /* XLA's number for the element type */
    void *data;
    int64_t rank;
    int64_t *dims;
} FfiBuffer;

typedef struct FfiSpan {
    const char *at;
    size_t n;
} FfiSpan;

typedef struct FfiScalar {
    int type;
    void *value;
} FfiScalar;

typedef struct FfiArray {
    int type;
    size_t n;
    void *data;
} FfiArray;

typedef struct FfiList { /* of operands, of results */
    FFI_HEAD;
    int64_t n;
    int *kinds;
    void **at;
} FfiList;

typedef struct FfiAttributes { /* in the order of their names */
    FFI_HEAD;
    int64_t n;
    int *kinds;
    FfiSpan **names;
    void **at;
} FfiAttributes;

typedef struct FfiFrame {
    FFI_HEAD;
    const struct FfiTable *table;
    FfiContext *context;
    FfiStage stage;
    FfiList args, results;
    FfiAttributes attributes;
    FfiFuture *future; /* out */
} FfiFrame;

typedef FfiError *FfiHandler(FfiFrame *frame);

/* What a handler says of itself when its frame has this extension; it does nothing else then. */
typedef struct FfiMetadata {
    size_t struct_size;
    FfiVersion version;
    uint32_t traits;
    int64_t state_type;
} FfiMetadata;

typedef struct FfiMetadataExtension {
    FfiExtension base;
    FfiMetadata *metadata;
} FfiMetadataExtension;

typedef struct FfiTypeInfo {
    FFI_HEAD;
    void (*destroy)(void *object);
} FfiTypeInfo;

/* The arguments of the table's functions. */
typedef struct FfiErrorCreate {
    FFI_HEAD;
    const char *message;
    int code; /* as PJRT_Error_Code */
} FfiErrorCreate;

typedef struct FfiErrorMessage {
    FFI_HEAD;
    FfiError *error;
    const char *message; /* out */
} FfiErrorMessage;

typedef struct FfiErrorDestroy {
    FFI_HEAD;
    FfiError *error;
} FfiErrorDestroy;

typedef struct FfiRegister {
    FFI_HEAD;
    FfiSpan name, platform;
    FfiHandler *stages[FFI_STAGES];
    uint32_t traits;
} FfiRegister;

typedef struct FfiStream {
    FFI_HEAD;
    FfiContext *context;
    void *stream; /* out */
} FfiStream;

typedef struct FfiTypeRegister {
    FFI_HEAD;
    FfiSpan name;
    int64_t *id; /* in and out; 0: not known yet */
    const FfiTypeInfo *info;
} FfiTypeRegister;

typedef struct FfiContextGet {
    FFI_HEAD;
    FfiContext *context;
    int64_t *type;
    void *data; /* out */
} FfiContextGet;

typedef struct FfiState {
    FFI_HEAD;
    FfiContext *context;
    FfiStage stage;
    int64_t *type;
    void *state; /* in, or out */
} FfiState;

typedef struct FfiAllocate {
    FFI_HEAD;
    FfiContext *context;
    size_t bytes, alignment;
    void *data; /* out */
} FfiAllocate;

typedef struct FfiFree {
    FFI_HEAD;
    FfiContext *context;
    size_t bytes;
    void *data;
} FfiFree;

typedef struct FfiSchedule {
    FFI_HEAD;
    FfiContext *context;
    void (*task)(void *data);
    void *data;
} FfiSchedule;

typedef struct FfiThreads {
    FFI_HEAD;
    FfiContext *context;
    int64_t *n; /* out */
} FfiThreads;

typedef struct FfiFutureCall {
    FFI_HEAD;
    FfiFuture *future; /* in, or out */
    FfiError *error;   /* of future_fail alone, which takes it */
} FfiFutureCall;

typedef struct FfiRun {
    FFI_HEAD;
    FfiContext *context;
    int64_t run; /* out */
} FfiRun;

typedef struct FfiDevice {
    FFI_HEAD;
    FfiContext *context;
    int32_t device; /* out */
} FfiDevice;

typedef struct FfiTable {
    FFI_HEAD;
    FfiVersion version;
    const void *internal; /* what XLA keeps for itself */
    FfiError *(*error_create)(FfiErrorCreate *);
    void (*error_message)(FfiErrorMessage *);
    void (*error_destroy)(FfiErrorDestroy *);
    FfiError *(*handler_register)(FfiRegister *);
    FfiError *(*stream)(FfiStream *);
    FfiError *(*type_register)(FfiTypeRegister *);
    FfiError *(*context_get)(FfiContextGet *);
    FfiError *(*state_set)(FfiState *);
    FfiError *(*state_get)(FfiState *);
    FfiError *(*allocate)(FfiAllocate *);
    FfiError *(*free)(FfiFree *);
    FfiError *(*schedule)(FfiSchedule *);
    FfiError *(*threads)(FfiThreads *);
    FfiError *(*future_create)(FfiFutureCall *);
    FfiError *(*future_end)(FfiFutureCall *);
    FfiError *(*future_fail)(FfiFutureCall *);
    FfiError *(*run)(FfiRun *);
    FfiError *(*device)(FfiDevice *);
} FfiTable;
#endif
