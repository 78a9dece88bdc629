/* report.h - how the front fails: the first message is kept, with its line and the tracing stack.
 *
 *   train.c:4: in loss: tt_matmul: f32[32,3] by f32[4,1]: the last axis of the first must ...
 *       while tracing grad(loss), train.c:8
 *       while tracing pmap(step), train.c:14, axis "batch" of size 4
 */
#ifndef TUTTI_FRONT_VALUE_REPORT_H
#define TUTTI_FRONT_VALUE_REPORT_H
#include "base/error.h"
#include "ops/type.h"

#include <stdbool.h>
#include <tutti.h>

/* The line of the user's program that called: set by tt_at, per thread. */
typedef struct CallSite {
    const char *file, *function;
    int line;
} CallSite;
extern _Thread_local CallSite call_site;

/* Keeps the message unless this thread keeps one already, and returns a broken value.  The user's
 * handler is called when the public function at work ends (library.h). */
tt report_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
tt report_error(Error *error); /* an engine's or a reader's; taken */
bool report_is_kept(void);     /* does this thread keep a message? */
bool report_is_pending(void);  /* one that the handler has not been called with yet? */
void report_to_handler(void);  /* calls the handler with it */
unsigned report_count(void);   /* failures of this thread so far, kept or not */

/* f32[4,2], bool[3], u32[2]: a type in the interface's words, in a ring of buffers of this
 * thread. */
const char *type_text(Type t);
#endif
