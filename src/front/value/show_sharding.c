/* show_sharding.c - pictures of which device holds what of an array: in text, and as SVG. */
#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The devices that hold a tile: "0,2". */
static void print_holders(Text *out, const ArrayLayout *l, int rank, const int64_t *tile)
{
    const char *comma = "";
    for (int d = 0; d < l->ndevices; d++) {
        bool holds = true;
        for (int i = 0; i < l->tiling.rank; i++)
            holds &= l->tiling.tile_of[d * rank + i] == tile[i];
        if (holds) {
            text_printf(out, "%s%d", comma, l->devices[d]);
            comma = ",";
        }
    }
}

static void print_rule(Text *out, int64_t cols, int width)
{
    for (int64_t c = 0; c < cols; c++) {
        text_printf(out, "+");
        for (int i = 0; i < width + 2; i++)
            text_printf(out, "-");
    }
    text_printf(out, "+\n");
}

/* A color for each device, where a terminal shows it, or $TUTTI_COLOR is "always".  With several processes
 * the terminal is their launcher's, who may write into a file. */
static bool has_colors(void)
{
    const char *color = getenv("TUTTI_COLOR");
    return color ? strcmp(color, "always") == 0 : client_processes() == 1 && isatty(STDOUT_FILENO);
}

/* What one device alone holds has its color. */
static void print_cell(Text *out, const char *holders, int width)
{
    static const int colors[] = { 25, 166, 28, 90, 124, 30, 136, 94 }; /* of 256 */
    bool is_colored = has_colors() && !strchr(holders, ',');
    text_printf(out, "|");
    if (is_colored)
        text_printf(out, "\033[48;5;%d;97m", colors[atoi(holders) % 8]);
    text_printf(out, " %-*s ", width, holders);
    text_printf(out, is_colored ? "\033[0m" : "");
}

/* A picture of up to two axes; a vector is one row. */
static void draw_tiles(Text *out, const ArrayLayout *l, int rank)
{
    int64_t one = 1;
    bool cut = l->tiling.rank > 0;
    int64_t rows = cut && rank == 2 ? l->tiling.tiles[0] : one;
    int64_t cols = cut ? l->tiling.tiles[rank - 1] : one;
    int width = 5;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t r = 0; r < rows; r++) {
            if (pass)
                print_rule(out, cols, width);
            for (int64_t c = 0; c < cols; c++) {
                Text cell = { 0 };
                int64_t tile[] = { rank == 2 ? r : c, c };
                print_holders(&cell, l, rank, tile);
                width = (int)cell.n > width ? (int)cell.n : width;
                if (pass)
                    print_cell(out, text_cstr(&cell), width);
                text_free(&cell);
            }
            text_printf(out, pass ? "|\n" : "");
        }
        if (pass)
            print_rule(out, cols, width);
    }
}

static void list_tiles(Text *out, const ArrayLayout *l, Type type)
{
    for (int d = 0; d < l->ndevices; d++) {
        text_printf(out, "device %d: [", l->devices[d]);
        for (int i = 0; i < type.rank; i++) {
            int64_t n = type.dims[i], t = 0;
            if (i < l->tiling.rank) {
                n /= l->tiling.tiles[i];
                t = l->tiling.tile_of[d * type.rank + i];
            }
            text_printf(out, "%s%lld:%lld", i ? ", " : "", (long long)(t * n),
                        (long long)((t + 1) * n));
        }
        text_printf(out, "]\n");
    }
}

/* Which process has which devices.  What process 0 prints is what one process prints, so this is for
 * when all print ($TUTTI_PRINT). */
static void list_processes(Text *out)
{
    const char *print = getenv("TUTTI_PRINT");
    int n = client_processes(), each = client_device_count() / n;
    if (n == 1 || !print || strcmp(print, "all") != 0)
        return;
    for (int p = 0; p < n; p++)
        text_printf(out, "process %d: devices %d to %d%s\n", p, p * each, (p + 1) * each - 1,
                    p == client_process() ? " (here)" : "");
}

/* The type of a device's piece; its extents go to dims. */
static Type part_of(const Held *held, int64_t *dims)
{
    const Tiling *t = &held->array->layout->tiling;
    for (int i = 0; i < held->type.rank; i++)
        dims[i] = held->type.dims[i] / (i < t->rank ? t->tiles[i] : 1);
    return (Type){ held->type.element, held->type.rank, dims };
}

static void show_layout(void *user)
{
    const Held *held = user;
    Text out = { 0 };
    int64_t dims[TT_MAX_RANK];
    text_printf(&out, "%s", type_text(held->type));
    text_printf(&out, ", on each device %s\n", type_text(part_of(held, dims)));
    if (held->type.rank == 1 || held->type.rank == 2)
        draw_tiles(&out, held->array->layout, held->type.rank);
    else
        list_tiles(&out, held->array->layout, held->type);
    list_processes(&out);
    fputs(text_cstr(&out), stdout);
    text_free(&out);
}

/* ---- as SVG ---- */

enum { CELL_WIDE = 64, CELL_TALL = 26 };

/* The tile of device d in a plane: the last axis goes right, all others down. */
static void place_in_plane(const Tiling *t, int d, int64_t *row, int64_t *column)
{
    *row = *column = 0;
    for (int i = 0; i < t->rank; i++)
        if (i == t->rank - 1)
            *column = t->tile_of[d * t->rank + i];
        else
            *row = *row * t->tiles[i] + t->tile_of[d * t->rank + i];
}

/* The cell of device d, unless a device before it has the same. */
static void draw_cell(Text *out, const ArrayLayout *l, int d)
{
    static const char *const colors[] = { "#4c78a8", "#f58518", "#54a24b", "#b279a2",
                                          "#e45756", "#72b7b2", "#eeca3b", "#9d755d" };
    const Tiling *t = &l->tiling;
    const int64_t *tile = t->tile_of + (int64_t)d * t->rank;
    for (int e = 0; e < d; e++)
        if (memcmp(t->tile_of + (int64_t)e * t->rank, tile, sizeof *tile * (size_t)t->rank) == 0)
            return;
    Text holders = { 0 };
    int64_t row, column;
    print_holders(&holders, l, t->rank, tile);
    place_in_plane(t, d, &row, &column);
    bool is_alone = !strchr(text_cstr(&holders), ',');
    text_printf(out,
                "<rect x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\" fill=\"%s\" "
                "stroke=\"white\"/><text x=\"%lld\" y=\"%lld\" text-anchor=\"middle\">%s</text>\n",
                (long long)column * CELL_WIDE, (long long)row * CELL_TALL + 24, CELL_WIDE,
                CELL_TALL, is_alone ? colors[l->devices[d] % 8] : "#cccccc",
                (long long)column * CELL_WIDE + CELL_WIDE / 2, (long long)row * CELL_TALL + 41,
                text_cstr(&holders));
    text_free(&holders);
}

/* An SVG of an array, which lies in `out` then. */
typedef struct Drawing {
    const Held *held;
    Text out;
} Drawing;

static void draw_svg(void *user)
{
    Drawing *w = user;
    const ArrayLayout *l = w->held->array->layout;
    int64_t rows = 1, columns = l->tiling.rank ? l->tiling.tiles[l->tiling.rank - 1] : 1;
    int64_t dims[TT_MAX_RANK];
    for (int i = 0; i + 1 < l->tiling.rank; i++)
        rows *= l->tiling.tiles[i];
    Text *out = &w->out;
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n<text y=\"14\">%s",
                (long long)columns * CELL_WIDE + 260, (long long)rows * CELL_TALL + 30,
                type_text(w->held->type));
    text_printf(out, ", on each device %s</text>\n", type_text(part_of(w->held, dims)));
    for (int d = 0; d < l->ndevices; d++)
        draw_cell(out, l, d);
    text_printf(out, "</svg>\n");
}

/* ---- the interface ---- */

/* What x holds, pinned; false: reported. */
static bool pin_concrete(tt x, const char *who, Held *held)
{
    if (!value_pin(x, who, held))
        return false;
    if (held->array)
        return true;
    report_broken("%s: %s is traced: where it will lie is not known yet", who,
                  type_text(held->type));
    value_unpin(x);
    return false;
}

void tt_show_sharding(tt x)
{
    PUBLIC;
    Held held;
    if (!pin_concrete(x, "tt_show_sharding", &held))
        return;
    library_guard("tt_show_sharding", show_layout, &held);
    value_unpin(x);
}

bool tt_save_sharding(const char *path, tt x)
{
    PUBLIC;
    Held held;
    if (!pin_concrete(x, "tt_save_sharding", &held))
        return false;
    Drawing w = { .held = &held };
    bool ok = library_guard("tt_save_sharding", draw_svg, &w);
    value_unpin(x);
    if (!ok)
        return false;
    FILE *file = fopen(path, "w");
    ok = file && fwrite(w.out.at, 1, w.out.n, file) == w.out.n;
    ok = file && fclose(file) == 0 && ok;
    text_free(&w.out);
    if (!ok)
        report_broken("tt_save_sharding: %s cannot be written: %s", path, strerror(errno));
    return ok;
}
