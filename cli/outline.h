/* outline.h - what the text of a program says of its size: operations, steps, and memory from step to
 * step. */
#ifndef TUTTI_CLI_OUTLINE_H
#define TUTTI_CLI_OUTLINE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct Outline {
    int operations, nsteps; /* of all functions; of main */
    /* [nsteps]: bytes alive while the step is done, if every value had memory of its own; constants do
     * not count. */
    int64_t *live;
    int64_t peak; /* the most of them */
} Outline;

bool outline_read(const char *text, Outline *o); /* false: no memory */
void outline_free(Outline *o);
#endif
