/* programs.h - the programs that are linked into play.c; tests/ahead/play.sh writes the list. */
#ifndef TUTTI_TESTS_AHEAD_PROGRAMS_H
#define TUTTI_TESTS_AHEAD_PROGRAMS_H
#include <stdbool.h>
#include <tutti_rt.h>

typedef struct Linked {
    const char *name;
    const tutti_rt_program *program;
    bool is_random; /* no two runs give the same */
} Linked;

extern const Linked linked[]; /* NULL at the end */
#endif
