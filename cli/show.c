/* show.c - `tutti show`: a program as one page of HTML: how its arrays lie on devices, what each pass
 * made of it, and how much memory its values take from step to step.
 *
 * It is made of what the engine tells: the description of the arrays, counters, and the program as
 * text after each pass, in which a line is an operation, and one of main's is a step. */
#include "command.h"
#include "execute.h"
#include "outline.h"

#include "base/svg.h"
#include "files/objects.h"
#include "hlo/module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how arrays lie ---- */

/* Where device d's piece stands: column along the last axis, row by all others. */
static void place_of(const TuttiArray *a, int d, int64_t *row, int64_t *column)
{
    const int64_t *start = a->starts + (int64_t)d * a->rank;
    *row = *column = 0;
    for (int i = 0; i < a->rank; i++) {
        int64_t tile = a->part[i] ? start[i] / a->part[i] : 0;
        int64_t tiles = a->part[i] ? a->whole[i] / a->part[i] : 1;
        if (i == a->rank - 1)
            *column = tile;
        else
            *row = *row * tiles + tile;
    }
}

/* The devices whose piece stands where d's does; how many. */
static int find_holders(const TuttiArray *a, int ndevices, int d, Text *holders, bool *is_first)
{
    int64_t row, column, other_row, other_column;
    int count = 0;
    place_of(a, d, &row, &column);
    *is_first = true;
    for (int e = 0; e < ndevices; e++) {
        place_of(a, e, &other_row, &other_column);
        if (other_row != row || other_column != column)
            continue;
        *is_first = *is_first && e >= d;
        text_printf(holders, "%s%d", count++ ? " " : "", e);
    }
    return count;
}

/* A cell of the plane, and in it the devices that hold it; said once, by the first of them. */
static void draw_cell(Text *out, const TuttiArray *a, int ndevices, int d)
{
    int64_t row, column;
    Text holders = { 0 };
    bool is_first;
    int count = find_holders(a, ndevices, d, &holders, &is_first);
    if (is_first) {
        place_of(a, d, &row, &column);
        text_printf(out, "<g class=\"cell\"><title>device %s: [", text_cstr(&holders));
        for (int i = 0; i < a->rank; i++) {
            int64_t from = a->starts[(int64_t)d * a->rank + i];
            text_printf(out, "%s%" PRId64 ":%" PRId64, i ? ", " : "", from, from + a->part[i]);
        }
        text_printf(out, "]</title>");
        svg_cell(out, column * SVG_CELL_WIDE, row * SVG_CELL_TALL, svg_color(count > 1 ? -1 : d),
                 text_cstr(&holders));
        text_printf(out, "</g>");
    }
    text_free(&holders);
}

static void put_array(Text *out, const char *what, int i, const TuttiArray *a, int ndevices)
{
    int64_t row, column, rows = 1, columns = 1;
    for (int d = 0; d < ndevices; d++) {
        place_of(a, d, &row, &column);
        rows = row + 1 > rows ? row + 1 : rows;
        columns = column + 1 > columns ? column + 1 : columns;
    }
    text_printf(out, "<div class=\"array\"><p>%s %d: [", what, i);
    text_ints(out, a->whole, a->rank);
    text_printf(out, "], each device [");
    text_ints(out, a->part, a->rank);
    text_printf(out, "]</p><svg width=\"%" PRId64 "\" height=\"%" PRId64 "\">",
                columns * SVG_CELL_WIDE, rows * SVG_CELL_TALL);
    for (int d = 0; d < ndevices; d++)
        draw_cell(out, a, ndevices, d);
    text_printf(out, "</svg></div>\n");
}

static void put_arrays(Text *out, const TuttiProgram *p)
{
    text_printf(out, "<h2>What it takes and gives, on %d device%s</h2>\n", p->ndevices,
                p->ndevices == 1 ? "" : "s");
    for (int i = 0; i < p->nargs; i++)
        put_array(out, "argument", i, &p->args[i], p->ndevices);
    for (int i = 0; i < p->nresults; i++)
        put_array(out, "result", i, &p->results[i], p->ndevices);
}

/* ---- the page ---- */

static void put_memory(Text *out, const Outline *o)
{
    enum { WIDE = 640, TALL = 160 };
    text_printf(out,
                "<h2>Memory of its values, from step to step</h2><p>If each had its own; at most "
                "%" PRId64
                " bytes on a device.</p>\n<svg id=\"memory\" width=\"%d\" height=\"%d\">",
                o->peak, WIDE, TALL);
    double step = o->nsteps ? (double)WIDE / o->nsteps : WIDE;
    for (int i = 0; i < o->nsteps; i++) {
        double tall = o->peak ? (double)o->live[i] / (double)o->peak * TALL : 0;
        text_printf(out,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#4c78a8\">"
                    "<title>step %d: %" PRId64 " bytes</title></rect>",
                    i * step, TALL - tall, step, tall, i, o->live[i]);
    }
    text_printf(out, "</svg>\n");
}

/* The program after a pass as a row of the table; the last pass's steps are drawn. */
static Error *put_pass(Text *out, Pjrt *engine, Str program, const char *path, const char *after,
                       Outline *last)
{
    char *text = NULL;
    TRY(pjrt_error(engine->api, engine->tutti->dump(program.at, program.n, path, after, &text)));
    outline_free(last);
    bool ok = outline_read(text ? text : "", last);
    if (ok) {
        text_printf(out,
                    "<tr><td>%s</td><td>%d</td><td>%d</td><td>%" PRId64 "</td><td><details>"
                    "<summary>text</summary><pre>",
                    after ? after : "as it was read", last->operations, last->nsteps, last->peak);
        svg_escape(out, text ? text : "");
        text_printf(out, "</pre></details></td></tr>\n");
    }
    engine->tutti->release(text);
    return ok ? NULL : error_new(CODE_EXHAUSTED, "no memory for the outline of %s", path);
}

static Error *put_passes(Text *out, Pjrt *engine, Str program, const char *path, Outline *last)
{
    text_printf(out, "<h2>What each pass made of it</h2>\n<table id=\"passes\"><tr><th>after</th>"
                     "<th>operations</th><th>steps of main</th><th>bytes alive at most</th>"
                     "<th></th></tr>\n");
    TRY(put_pass(out, engine, program, path, NULL, last));
    for (const char *const *name = engine->tutti->passes; *name; name++)
        TRY(put_pass(out, engine, program, path, *name, last));
    text_printf(out, "</table>\n");
    return NULL;
}

static Error *put_compiled(Text *out, Pjrt *engine, PJRT_LoadedExecutable *executable)
{
    const TuttiProgram *p;
    char *stats;
    TRY(pjrt_error(engine->api, engine->tutti->describe(executable, &p)));
    put_arrays(out, p);
    TRY(pjrt_error(engine->api, engine->tutti->stats(executable, &stats)));
    text_printf(out, "<h2>What was compiled</h2><pre id=\"stats\">");
    svg_escape(out, stats);
    text_printf(out, "</pre>\n");
    engine->tutti->release(stats);
    return NULL;
}

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><style>\n"
    "body { font: 14px sans-serif; margin: 2em; } svg text { font: 12px sans-serif; }\n"
    ".array { display: inline-block; margin: 0 2em 1em 0; vertical-align: top; }\n"
    "table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2em .8em; }\n"
    "td { text-align: right; } pre { text-align: left; background: #f6f6f4; padding: .6em; }\n"
    "</style><title>";

static Error *page_write(Pjrt *engine, const char *path, Str code, Text *out)
{
    int ndevices;
    Module *module;
    Outline last = { 0 };
    PJRT_LoadedExecutable *executable;
    TRY(read_program(code.at, code.n, path, &module));
    Error *error = module_devices(module, &ndevices);
    module_free(module);
    TRY(error);
    TRY(engine_start(engine, ndevices));
    TRY(pjrt_compile(engine, code, (CompileOptions){ .name = path }, &executable));
    text_printf(out, "%s", head);
    svg_escape(out, path);
    text_printf(out, "</title></head><body><h1>");
    svg_escape(out, path);
    text_printf(out, "</h1>\n");
    error = put_compiled(out, engine, executable);
    if (!error)
        error = put_passes(out, engine, code, path, &last);
    if (!error)
        put_memory(out, &last);
    outline_free(&last);
    text_printf(out, "</body></html>\n");
    pjrt_release(engine, executable);
    return error;
}

static Error *show(Pjrt *engine, const char *path, const char *out)
{
    TRY(engine_load(engine));
    if (!engine->tutti)
        return error_new(CODE_UNIMPLEMENTED, "%s is not Tutti's engine", engine->path);
    Text program, page = { 0 };
    TRY(program_read(path, &program));
    Error *error = page_write(engine, path, (Str){ text_cstr(&program), program.n }, &page);
    if (!error)
        error = file_write(out, (Str){ page.at, page.n });
    text_free(&page);
    text_free(&program);
    return error;
}

static int run(int argc, char **argv)
{
    const char *path = NULL, *out = NULL;
    for (int i = 1; i < argc; i++) {
        if (option_value(argc, argv, &i, "--out", &out)) {
            if (!out)
                return usage_error("show", "--out needs a file, such as program.html");
        } else if (argv[i][0] == '-') {
            return usage_error("show", "'%s' is not known", argv[i]);
        } else if (path) {
            return usage_error("show", "'%s' is a second program; one is shown at a time", argv[i]);
        } else {
            path = argv[i];
        }
    }
    if (!path || !out)
        return usage_error("show",
                           path ? "--out is missing: the page to write" : "a program is missing");
    Pjrt engine = { 0 };
    Error *error = show(&engine, path, out);
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_show = {
    .name = "show",
    .usage = "PROGRAM --out PAGE.html",
    .summary = "a page for any browser: how arrays lie on devices, what each pass did, memory",
    .details = "  --out PAGE.html  where to write it; the page needs no network\n",
    .run = run,
};
