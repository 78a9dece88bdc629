/* pieces.h - whole arrays and the pieces that devices hold of them. */
#ifndef TUTTI_RT_PIECES_H
#define TUTTI_RT_PIECES_H
#include "engine/program.h"

/* Where the piece of device d begins in the whole. */
char *piece_at(const Param *p, int d, const void *whole);
/* Does it lie there in one stretch, as a device wants it? */
bool piece_is_dense(const Param *p);
/* Is d the first device that holds this piece? */
bool piece_is_first(const Param *p, int d);
void piece_cut(const Param *p, int d, const void *whole, void *piece);
void piece_join(const Param *p, int d, void *whole, const void *piece);
#endif
