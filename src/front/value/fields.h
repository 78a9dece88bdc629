/* fields.h - the names of a tree's arrays. */
#ifndef TUTTI_FRONT_VALUE_FIELDS_H
#define TUTTI_FRONT_VALUE_FIELDS_H
#include <stdio.h>
#include <tutti.h>

/* What TT_STRUCT said of the type of that name, of n characters; NULL: nothing. */
const tt_fields *fields_of(const char *type, size_t n);
int fields_leaves(const tt_fields *fields);
/* "block[3].qkv.w", cut off where there is no room; its length. */
size_t fields_path(const tt_fields *fields, int leaf, char *at, size_t room);
#endif
