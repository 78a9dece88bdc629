/* flat.h - FlatBuffers, read where they lie: tables, vectors, strings.
 *
 * Every position is checked before it is followed.  What does not lie in the bytes is as if it were not
 * there, and is_broken says so in the end.
 *
 *     u32 at 0: the root table.  A table begins with an i32: its vtable lies so far before it.  A vtable is
 *     its size, the table's, and for each field its offset in the table, all u16; 0: not there.
 *     What is no number is a u32 in the field: so far behind the field lies a table, or a vector: u32
 *     count, elements. */
#ifndef TUTTI_FILES_FLAT_H
#define TUTTI_FILES_FLAT_H
#include "base/text.h"

typedef struct Flat {
    Str bytes;
    bool is_broken;
} Flat;

/* Elements of a vector: numbers, or the fields that lead to tables and strings. */
typedef struct FlatVector {
    size_t at, n;
} FlatVector;

/* Tables are their positions; 0: not there. */
size_t flat_root(Flat *f);
uint64_t flat_number(Flat *f, size_t table, int field, int bytes); /* 0: not there */
size_t flat_table(Flat *f, size_t table, int field);
Str flat_string(Flat *f, size_t table, int field);
FlatVector flat_vector(Flat *f, size_t table, int field, int bytes);
uint64_t flat_element(const Flat *f, FlatVector v, size_t i, int bytes);
size_t flat_element_table(Flat *f, FlatVector v, size_t i);
Str flat_element_string(Flat *f, FlatVector v, size_t i);
#endif
