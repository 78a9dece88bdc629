/* bounds.h - code that looks before it touches memory: TUTTI_CHECK=bounds.
 *
 * Whoever makes a pointer to an array tells how large the array is; bounds_write then puts a check
 * before every access of the module, whoever made it.  Without TUTTI_CHECK=bounds nothing is noted
 * and nothing is written. */
#ifndef TUTTI_ENGINE_CODEGEN_BOUNDS_H
#define TUTTI_ENGINE_CODEGEN_BOUNDS_H
#include "engine/link/emit.h"

void bounds_begin(Emit *e); /* emit_begin and emit_end call these */
void bounds_end(Emit *e);

/* From this pointer on lie so many bytes.  `what` names the array, in a message. */
void bounds_array(Emit *e, LLVMValueRef pointer, int64_t bytes, const char *what);
/* The same where only code knows how many (an i64 that is made before the pointer). */
void bounds_array_of(Emit *e, LLVMValueRef pointer, LLVMValueRef bytes, const char *what);
/* The same as is known of another pointer. */
void bounds_array_like(Emit *e, LLVMValueRef pointer, LLVMValueRef known);

/* Who a function is, in a message, and where in it the frame is found; NULL: it has none, and a
 * violation ends the process.  Every function of the module has one. */
void bounds_function(Emit *e, LLVMValueRef function, LLVMValueRef frame, const char *who);

/* Before this call of the runtime the bytes from `first` on, counted from the pointer, must lie in
 * its array; else it is not made. */
void bounds_touch(Emit *e, LLVMValueRef call, LLVMValueRef pointer, int64_t first, int64_t bytes);

/* For tests: so many bytes at the end of each array of a kernel seem not to be there. */
extern int64_t bounds_withheld;

/* Writes all checks.  It is an error if a pointer leads to an array that nobody has noted. */
MUST_USE Error *bounds_write(Emit *e);

/* What a check calls when it fails: the frame's run ends with an error. */
void tutti_out_of_bounds(Frame *frame, const char *who, const char *how, const char *what,
                         int64_t offset, int64_t bytes, int64_t size);
#endif
