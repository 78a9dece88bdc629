/* show_sharding.c - which device holds what of an array, and where on the mesh it stands, drawn in text:
 *
 *     f32[8,4], on each device f32[4,4]
 *     +-------+
 *     | 0,1   |
 *     +-------+
 *     | 2,3   |
 *     +-------+
 *     mesh x = 2, y = 2; spec ("x", NULL)
 *            y = 0  y = 1
 *     x = 0  0      1
 *     x = 1  2      3 */
#include "front/value/show_sharding.h"

#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sharding_holders(Text *out, const ArrayLayout *l, int rank, const int64_t *tile)
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
static void print_colored(Text *out, const char *holders, const char *padded)
{
    static const int colors[] = { 25, 166, 28, 90, 124, 30, 136, 94 }; /* of 256 */
    if (has_colors() && !strchr(holders, ','))
        text_printf(out, "\033[48;5;%d;97m%s\033[0m", colors[atoi(holders) % 8], padded);
    else
        text_printf(out, "%s", padded);
}

static void print_cell(Text *out, const char *holders, int width)
{
    Text padded = { 0 };
    text_printf(&padded, " %-*s ", width, holders);
    text_printf(out, "|");
    print_colored(out, holders, text_cstr(&padded));
    text_free(&padded);
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
                sharding_holders(&cell, l, rank, tile);
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

Type sharding_part(const Held *held, int64_t *dims)
{
    const Tiling *t = &held->array->layout->tiling;
    for (int i = 0; i < held->type.rank; i++)
        dims[i] = held->type.dims[i] / (i < t->rank ? t->tiles[i] : 1);
    return (Type){ held->type.element, held->type.rank, dims };
}

/* ---- the mesh ---- */

bool mesh_plane(const Held *held, MeshPlane *p)
{
    p->mesh = layout_mesh(held->array->layout, p->cuts);
    p->rank = held->type.rank;
    p->ncuts = held->array->layout->tiling.rank;
    p->columns = p->mesh ? p->mesh->axes[p->mesh->naxes - 1].size : 0;
    p->rows = p->mesh ? p->mesh->ndevices / p->columns : 0;
    return p->mesh;
}

void mesh_plane_words(Text *out, const MeshPlane *p)
{
    for (int a = 0; a < p->mesh->naxes; a++)
        text_printf(out, "%s%s = %d", a ? ", " : "mesh ", p->mesh->axes[a].name,
                    p->mesh->axes[a].size);
    text_printf(out, "; spec (");
    for (int i = 0; i < p->rank; i++) {
        int n = i < p->ncuts ? p->cuts[i].n : 0;
        text_printf(out, "%s%s", i ? ", " : "", n ? "\"" : "NULL");
        for (int k = 0; k < n; k++)
            text_printf(out, "%s%s", k ? "," : "", p->mesh->axes[p->cuts[i].axis[k]].name);
        text_printf(out, n ? "\"" : "");
    }
    text_printf(out, ")");
}

void mesh_plane_row(Text *out, const MeshPlane *p, int row)
{
    for (int a = 0; a + 1 < p->mesh->naxes; a++)
        text_printf(out, "%s%s = %d", a ? ", " : "", p->mesh->axes[a].name,
                    row * p->columns / mesh_stride(p->mesh, a) % p->mesh->axes[a].size);
}

void mesh_plane_column(Text *out, const MeshPlane *p, int column)
{
    text_printf(out, "%s = %d", p->mesh->axes[p->mesh->naxes - 1].name, column);
}

/* The device in that row and column, padded to `width` unless it is the last. */
static void print_device(Text *out, const MeshPlane *p, int row, int column, int width)
{
    Text name = { 0 };
    text_printf(&name, "%d", p->mesh->devices[row * p->columns + column]);
    print_colored(out, text_cstr(&name), text_cstr(&name));
    if (column + 1 < p->columns)
        text_printf(out, "%*s", width + 2 - (int)name.n, "");
    text_free(&name);
}

static void draw_mesh(Text *out, const Held *held)
{
    MeshPlane p;
    if (!mesh_plane(held, &p))
        return;
    mesh_plane_words(out, &p);
    Text widest = { 0 }, label = { 0 };
    mesh_plane_row(&widest, &p, p.rows - 1);
    int indent = (int)widest.n + (widest.n ? 2 : 0);
    text_free(&widest);
    mesh_plane_column(&widest, &p, p.columns - 1);
    text_printf(out, "\n%*s", indent, "");
    for (int c = 0; c < p.columns; c++, text_free(&label)) {
        mesh_plane_column(&label, &p, c);
        text_printf(out, "%-*s", c + 1 < p.columns ? (int)widest.n + 2 : 0, text_cstr(&label));
    }
    text_printf(out, "\n");
    for (int r = 0; r < p.rows; r++, text_free(&label)) {
        mesh_plane_row(&label, &p, r);
        text_printf(out, "%-*s", indent, text_cstr(&label));
        for (int c = 0; c < p.columns; c++)
            print_device(out, &p, r, c, (int)widest.n);
        text_printf(out, "\n");
    }
    text_free(&widest);
}

static void show_layout(void *user)
{
    const Held *held = user;
    Text out = { 0 };
    int64_t dims[TT_MAX_RANK];
    text_printf(&out, "%s", type_text(held->type));
    text_printf(&out, ", on each device %s\n", type_text(sharding_part(held, dims)));
    if (held->type.rank == 1 || held->type.rank == 2)
        draw_tiles(&out, held->array->layout, held->type.rank);
    else
        list_tiles(&out, held->array->layout, held->type);
    draw_mesh(&out, held);
    list_processes(&out);
    fputs(text_cstr(&out), stdout);
    text_free(&out);
}

/* ---- the interface ---- */

/* An SVG of an array, which lies in `out` then. */
typedef struct Drawing {
    const Held *held;
    Text out;
} Drawing;

static void draw_svg(void *user)
{
    Drawing *w = user;
    sharding_svg(&w->out, w->held);
}

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
