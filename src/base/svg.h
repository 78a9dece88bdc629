/* svg.h - what pictures as SVG, and pages that hold them, are made of. */
#ifndef TUTTI_BASE_SVG_H
#define TUTTI_BASE_SVG_H
#include "base/text.h"

enum { SVG_CELL_WIDE = 64, SVG_CELL_TALL = 26 };

/* Text as XML and HTML have it. */
void svg_escape(Text *out, const char *text);
/* A device's color; -1: of what several hold. */
const char *svg_color(int device);
/* A box with words in its middle. */
void svg_cell(Text *out, int64_t x, int64_t y, const char *color, const char *words);
#endif
