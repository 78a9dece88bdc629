/* error.h - how a step fails.
 *
 * A function that can fail returns an Error, or NULL.  It is the PJRT_Error that
 * crosses the seam, so nothing is translated on the way out.  The function that finds the
 * fault makes the error and says everything: what, where, which shapes, what
 * would be right.  Callers pass it up with TRY.  An Error is owned by the caller that
 * holds the pointer: it frees it, passes it up or hands it over the seam. */
#ifndef TUTTI_BASE_ERROR_H
#define TUTTI_BASE_ERROR_H

struct Guard;
typedef struct PJRT_Error Error;

/* PJRT's numbers. */
typedef enum ErrorCode {
    CODE_CANCELLED = 1,
    CODE_INVALID = 3,
    CODE_NOT_FOUND = 5,
    CODE_EXHAUSTED = 8,
    CODE_PRECONDITION = 9,
    CODE_ABORTED = 10,
    CODE_UNIMPLEMENTED = 12,
    CODE_INTERNAL = 13,
    CODE_UNAVAILABLE = 14,
} ErrorCode;

#define MUST_USE __attribute__((warn_unused_result))

/* Never NULL: without memory it returns an error that says so, CODE_EXHAUSTED. */
MUST_USE Error *error_new(ErrorCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
MUST_USE Error *error_copy(const Error *error);
/* Puts context before the message; takes the error and returns it, perhaps at another address. */
MUST_USE Error *error_in(Error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void error_note(Error *error, struct Guard *owner); /* as heap_note; for guard.c */
void error_free(Error *error);                      /* NULL is fine */
ErrorCode error_code(const Error *error);
const char *error_text(const Error *error);

/* The first word of every error; the plugin points it at its PJRT_Error_FunctionTable. */
extern const void *error_vtable;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        Error *error_ = (call);                                                                    \
        if (error_)                                                                                \
            return error_;                                                                         \
    } while (0)
#endif
