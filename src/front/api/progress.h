/* progress.h - one line on standard error that says how far a loop is (loop.c). */
#ifndef TUTTI_FRONT_API_PROGRESS_H
#define TUTTI_FRONT_API_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>

/* Of one loop; begins as { 0 }, and is so again behind the last step. */
typedef struct Progress {
    double began, said; /* seconds */
    int64_t first;      /* the step it began at */
} Progress;

/* Has it been quiet for long enough, or is this the last step?  Then progress_say follows. */
bool progress_is_due(Progress *p, int64_t step, int64_t total);
void progress_say(Progress *p, int64_t step, int64_t total, const char *text);
#endif
