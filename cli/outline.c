/* outline.c - a dumped program, line by line: a line is an operation, one of main's own is a step */
#include "outline.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct Step {
    int64_t bytes; /* of its results */
    int last_use;  /* the step that uses them last */
    bool is_constant;
} Step;

/* What is known of the text so far. */
typedef struct Reading {
    int operations, nsteps;
    Step *steps;
    int *step_of; /* by the number of a result: %5 */
    int nresults;
} Reading;

static int indent_of(Str line)
{
    size_t n = 0;
    while (n < line.n && line.at[n] == ' ')
        n++;
    return (int)n;
}

static bool begins(Str line, const char *with)
{
    size_t n = strlen(with), at = (size_t)indent_of(line);
    return line.n >= at + n && memcmp(line.at + at, with, n) == 0;
}

static bool is_operation(Str line)
{
    return begins(line, "%") || begins(line, "\"") ||
           (begins(line, "stablehlo.") && !begins(line, "stablehlo.return"));
}

/* The bytes of tensor<2x3xf32>; `at` stands behind the <. */
static int64_t tensor_bytes(const char *at)
{
    int64_t count = 1;
    char *end;
    for (long n = strtol(at, &end, 10); end != at && *end == 'x'; n = strtol(at, &end, 10)) {
        count *= n;
        at = end + 1;
    }
    if (strncmp(at, "complex<", 8) == 0)
        count *= 2;
    while (*at && (*at < '0' || *at > '9') && *at != '>')
        at++;
    long bits = strtol(at, NULL, 10);
    return count * ((bits + 7) / 8);
}

/* Of the types that a line ends with: those behind its last "->", or its last ":". */
static int64_t result_bytes(Str line)
{
    size_t from = line.n;
    for (size_t i = 0; i + 2 < line.n && from == line.n; i++) {
        size_t at = line.n - 3 - i;
        if (memcmp(line.at + at, "-> ", 3) == 0 || memcmp(line.at + at, " : ", 3) == 0)
            from = at;
    }
    int64_t bytes = 0;
    for (size_t i = from; i + 7 < line.n; i++)
        if (memcmp(line.at + i, "tensor<", 7) == 0)
            bytes += tensor_bytes(line.at + i + 7);
    return bytes;
}

/* Every result that the line names is used by this step; numbers inside regions are higher. */
static void note_uses(Reading *o, Str line, int step)
{
    for (size_t i = 0; i + 1 < line.n; i++) {
        if (line.at[i] != '%')
            continue;
        char *end;
        long number = strtol(line.at + i + 1, &end, 10);
        if (end != line.at + i + 1 && number >= 0 && number < o->nresults)
            o->steps[o->step_of[number]].last_use = step;
    }
}

static void add_step(Reading *o, Str line, size_t room)
{
    int step = o->nsteps++;
    o->steps[step] = (Step){ .last_use = step };
    const char *op = memchr(line.at, '=', line.n);
    o->steps[step].is_constant = op && strncmp(op + 2, "stablehlo.constant", 18) == 0;
    if (!begins(line, "%"))
        return;
    long number = strtol(line.at + indent_of(line) + 1, NULL, 10);
    if (number >= 0 && (size_t)number < room) {
        o->step_of[number] = step;
        o->nresults = (int)number + 1;
    }
}

void outline_free(Outline *o)
{
    free(o->live);
    *o = (Outline){ 0 };
}

/* Of the lines of text; false: no memory. */
static bool read_lines(const char *text, Reading *o)
{
    enum { STEP_INDENT = 4 };
    size_t room = strlen(text) / 8 + 2; /* no line is shorter */
    o->steps = calloc(room, sizeof *o->steps);
    o->step_of = calloc(room, sizeof *o->step_of);
    bool is_main = false;
    for (const char *at = text; o->steps && o->step_of && *at;) {
        const char *end = strchr(at, '\n');
        Str line = { at, end ? (size_t)(end - at) : strlen(at) };
        at = end ? end + 1 : at + line.n;
        if (begins(line, "func.func"))
            is_main = strstr(line.at, "@main(") && strstr(line.at, "@main(") < line.at + line.n;
        o->operations += is_operation(line);
        bool is_own = is_main && indent_of(line) == STEP_INDENT;
        if (is_own)
            note_uses(o, line, o->nsteps);
        else if (is_main && o->nsteps)
            note_uses(o, line, o->nsteps - 1);
        if (is_own && is_operation(line))
            add_step(o, line, room);
        if (is_own && o->nsteps && !begins(line, "return"))
            o->steps[o->nsteps - 1].bytes = result_bytes(line);
    }
    return o->steps && o->step_of;
}

/* A value is alive from its step to its last use: it is added at the one, taken off behind the other,
 * and the sums along the steps are what is alive.  A use may be the return, which is no step. */
static void sum_live(const Reading *r, Outline *o)
{
    for (int i = 0; i < r->nsteps; i++) {
        const Step *s = &r->steps[i];
        if (s->is_constant)
            continue;
        o->live[i] += s->bytes;
        o->live[s->last_use + 1] -= s->bytes;
    }
    int64_t bytes = 0;
    for (int i = 0; i < r->nsteps; i++) {
        bytes += o->live[i];
        o->live[i] = bytes;
        o->peak = bytes > o->peak ? bytes : o->peak;
    }
}

bool outline_read(const char *text, Outline *o)
{
    Reading r = { 0 };
    bool ok = read_lines(text, &r);
    *o = (Outline){ .operations = r.operations, .nsteps = r.nsteps };
    o->live = ok ? calloc((size_t)r.nsteps + 2, sizeof *o->live) : NULL;
    if (o->live)
        sum_live(&r, o);
    free(r.steps);
    free(r.step_of);
    return o->live;
}
