/* arrays.h - what the files of the interface share of reading and saving arrays. */
#ifndef TUTTI_FRONT_API_ARRAYS_H
#define TUTTI_FRONT_API_ARRAYS_H
#include "front/value/array.h"

/* The array of a concrete value in the type its user sees, held for the caller.  NULL: reported. */
Array *settled_array(tt x, const char *who);

enum { NAME_ROOM = 24 };
/* The name of array i of a tree in a file: the caller's, or its number, in room[NAME_ROOM]. */
const char *array_name(const char *const *names, int i, char *room);
/* Is there one for each of n arrays, and none twice?  False: reported.  NULL are no names. */
bool names_fit(const char *who, const char *const *names, int n);

/* Called by all processes.  Did the first do it?  Did all?  The second names who did not, unless this
 * process has said so itself. */
bool first_says(bool is_done);
bool all_say(const char *who, bool is_done);
#endif
