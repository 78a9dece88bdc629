/* sharding_svg.c - which device holds what of an array, and where on the mesh it stands, as SVG: first
 * the array, its last axis to the right and all others down, then the mesh in the same way. */
#include "base/svg.h"
#include "front/value/array.h"
#include "front/value/report.h"
#include "front/value/show_sharding.h"

#include <string.h>

enum { TITLE_TALL = 24, LETTER_WIDE = 7 };

/* The tile of device d in a plane. */
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
    const Tiling *t = &l->tiling;
    const int64_t *tile = t->tile_of + (int64_t)d * t->rank;
    for (int e = 0; e < d; e++)
        if (memcmp(t->tile_of + (int64_t)e * t->rank, tile, sizeof *tile * (size_t)t->rank) == 0)
            return;
    Text holders = { 0 };
    int64_t row, column;
    sharding_holders(&holders, l, t->rank, tile);
    place_in_plane(t, d, &row, &column);
    bool is_alone = !strchr(text_cstr(&holders), ',');
    svg_cell(out, column * SVG_CELL_WIDE, row * SVG_CELL_TALL + TITLE_TALL,
             svg_color(is_alone ? l->devices[d] : -1), text_cstr(&holders));
    text_printf(out, "\n");
    text_free(&holders);
}

/* Words at a place; they are freed. */
static void put_words(Text *out, int64_t x, int64_t y, Text *words)
{
    text_printf(out, "<text x=\"%lld\" y=\"%lld\">", (long long)x, (long long)y);
    svg_escape(out, text_cstr(words));
    text_printf(out, "</text>\n");
    text_free(words);
}

/* Below y. */
static void draw_mesh(Text *out, const MeshPlane *p, int64_t y, int64_t left)
{
    Text words = { 0 };
    mesh_plane_words(&words, p);
    put_words(out, 0, y + 14, &words);
    for (int c = 0; c < p->columns; c++) {
        Text label = { 0 };
        mesh_plane_column(&label, p, c);
        put_words(out, left + c * SVG_CELL_WIDE + 8, y + 36, &label);
    }
    for (int r = 0; r < p->rows; r++) {
        int64_t top = y + 44 + r * SVG_CELL_TALL;
        Text label = { 0 };
        mesh_plane_row(&label, p, r);
        put_words(out, 0, top + SVG_CELL_TALL / 2 + 4, &label);
        for (int c = 0; c < p->columns; c++) {
            int device = p->mesh->devices[r * p->columns + c];
            Text name = { 0 };
            text_printf(&name, "%d", device);
            svg_cell(out, left + c * SVG_CELL_WIDE, top, svg_color(device), text_cstr(&name));
            text_printf(out, "\n");
            text_free(&name);
        }
    }
}

void sharding_svg(Text *out, const Held *held)
{
    const ArrayLayout *l = held->array->layout;
    int64_t rows = 1, columns = l->tiling.rank ? l->tiling.tiles[l->tiling.rank - 1] : 1;
    int64_t dims[TT_MAX_RANK], left = 0;
    MeshPlane plane;
    Text label = { 0 };
    for (int i = 0; i + 1 < l->tiling.rank; i++)
        rows *= l->tiling.tiles[i];
    int64_t wide = columns * SVG_CELL_WIDE, tall = rows * SVG_CELL_TALL + TITLE_TALL, end = tall;
    if (mesh_plane(held, &plane)) {
        mesh_plane_row(&label, &plane, plane.rows - 1);
        left = (int64_t)label.n * LETTER_WIDE + (label.n ? 10 : 0);
        wide = left + plane.columns * SVG_CELL_WIDE > wide ? left + plane.columns * SVG_CELL_WIDE
                                                           : wide;
        end += 58 + plane.rows * SVG_CELL_TALL;
    }
    text_free(&label);
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n<text y=\"14\">%s",
                (long long)wide + 260, (long long)end + 6, type_text(held->type));
    text_printf(out, ", on each device %s</text>\n", type_text(sharding_part(held, dims)));
    for (int d = 0; d < l->ndevices; d++)
        draw_cell(out, l, d);
    if (plane.mesh)
        draw_mesh(out, &plane, tall + 14, left);
    text_printf(out, "</svg>\n");
}
