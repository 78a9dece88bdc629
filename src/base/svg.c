/* svg.c - cells in the colors of devices, and text that is no markup */
#include "base/svg.h"

#include <inttypes.h>

void svg_escape(Text *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': text_add(out, "&lt;", 4); break;
        case '>': text_add(out, "&gt;", 4); break;
        case '&': text_add(out, "&amp;", 5); break;
        case '"': text_add(out, "&quot;", 6); break;
        default: text_add(out, text, 1);
        }
}

const char *svg_color(int device)
{
    static const char *const colors[] = { "#4c78a8", "#f58518", "#54a24b", "#b279a2",
                                          "#e45756", "#72b7b2", "#eeca3b", "#9d755d" };
    return device < 0 ? "#cccccc" : colors[device % 8];
}

void svg_cell(Text *out, int64_t x, int64_t y, const char *color, const char *words)
{
    text_printf(out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%d\" height=\"%d\" "
                "fill=\"%s\" stroke=\"white\"/><text x=\"%" PRId64 "\" y=\"%" PRId64
                "\" text-anchor=\"middle\">%s</text>",
                x, y, SVG_CELL_WIDE, SVG_CELL_TALL, color, x + SVG_CELL_WIDE / 2,
                y + SVG_CELL_TALL / 2 + 4, words);
}
