/* axis_names.h - lists of axis names: "i", or "x,y" for several at once, the first changing slowest. */
#ifndef TUTTI_FRONT_VALUE_AXIS_NAMES_H
#define TUTTI_FRONT_VALUE_AXIS_NAMES_H
#include "base/arena.h"
#include "base/text.h"

/* Takes the first name off the list; false: it is at its end. */
bool axis_names_next(Str *list, Str *name);
bool axis_names_has(Str list, Str name);
/* The list without that name, and with a name or list behind it. */
Str axis_names_without(Arena *arena, Str list, Str name);
Str axis_names_join(Arena *arena, Str list, Str more);
#endif
