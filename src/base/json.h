/* json.h - what of JSON needs care when it is written: strings. */
#ifndef TUTTI_BASE_JSON_H
#define TUTTI_BASE_JSON_H
#include "base/text.h"

/* The string with its quotes.  Bytes that are not UTF-8 become U+FFFD; '<' is written as \u003c, so
 * that the text may stand inside HTML. */
void json_put_string(Text *out, Str s);
#endif
