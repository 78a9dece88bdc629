/* inflate.h - bytes that were deflated (RFC 1951), made whole again. */
#ifndef TUTTI_FILES_INFLATE_H
#define TUTTI_FILES_INFLATE_H
#include "base/text.h"

/* Into out until it is full or the bytes end; *made: how many.  False: those are no deflated
 * bytes. */
bool inflate_into(Str deflated, void *out, size_t room, size_t *made);
#endif
