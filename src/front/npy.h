/* npy.h - arrays in NumPy's files. */
#ifndef TUTTI_NPY_H
#define TUTTI_NPY_H
#include "front/array.h"

Array *npy_read(const char *path);          /* on device 0.  NULL: said */
bool npy_write(const char *path, Array *a); /* false: said */
#endif
