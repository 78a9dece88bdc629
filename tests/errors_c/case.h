/* case.h - one mistake each: a program in a process of its own, and exactly what it is told.
 *
 *     CASE(more_rows_than_devices)
 *     {
 *         tt_call(tt_pmap(square), tt_zeros(TT_F32, 5, 2));
 *         SAYS("+2: in more_rows_than_devices: pmap(square): ...");
 *     }
 *
 * In messages a line of the case is written +n, counted from its CASE, and a line before that is
 * "above": functions there are one line long and the message has their names.  A case has four
 * devices, unless it is START_CASE, which calls for the engine itself.  A process that dies or
 * stays silent fails the test; main is in each file: CASES_MAIN. */
#ifndef TUTTI_TESTS_ERRORS_C_CASE_H
#define TUTTI_TESTS_ERRORS_C_CASE_H
#include "tests/front.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Case {
    const char *name, *file;
    int line;
    bool starts;
    void (*run)(void);
} Case;

enum { MOST_CASES = 128 };
static Case cases[MOST_CASES];
static int ncases;
static const Case *current;

#define CASE(name) CASE_(name, false)
#define START_CASE(name) CASE_(name, true)
#define CASE_(name, starts)                                                                        \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        cases[ncases++] = (Case){ #name, __FILE__, __LINE__, starts, name };                       \
    }                                                                                              \
    static void name(void)

/* The kept message, with lines of this file counted from the case. */
static inline char *case_said(void)
{
    static char out[4096];
    const char *text = front_said();
    size_t n = strlen(current->file), at = 0;
    while (*text && at < sizeof out - 32) {
        bool is_file = strncmp(text, current->file, n) == 0 && text[n] == ':';
        if (is_file) {
            char *end;
            long line = strtol(text + n + 1, &end, 10);
            at += (size_t)(line < current->line ? sprintf(out + at, "above")
                                                : sprintf(out + at, "+%ld", line - current->line));
            text = end;
        } else {
            out[at++] = *text++;
        }
    }
    out[at] = 0;
    return out;
}

#define SAYS(message) CHECK_STR(case_said(), message)

static inline int run_case(const Case *c)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        current = c;
        if (c->starts)
            tt_on_error(NULL, NULL);
        else
            front_start(4);
        c->run();
        fflush(NULL);
        _exit(check_done());
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s: %s died of signal %d\n", c->file, c->name, WTERMSIG(status));
    else if (status)
        printf("%s: in %s\n", c->file, c->name);
    return status != 0;
}

#define CASES_MAIN                                                                                 \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        int wrong = 0;                                                                             \
        for (int i = 0; i < ncases; i++)                                                           \
            if (argc < 2 || strcmp(argv[1], cases[i].name) == 0)                                   \
                wrong += run_case(&cases[i]);                                                      \
        printf("%d cases, %d wrong\n", ncases, wrong);                                             \
        return wrong != 0;                                                                         \
    }
#endif
