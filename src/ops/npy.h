/* npy.h - NumPy's file of one array, in and out. */
#ifndef TUTTI_OPS_NPY_H
#define TUTTI_OPS_NPY_H
#include "base/error.h"
#include "ops/type.h"

#include <stdio.h>

/* A file whose header has been read.  Which element it holds is for the reader to say, since NumPy
 * has one name, raw bytes, for all that it does not know. */
typedef struct Npy {
    FILE *file;
    const char *path;
    char descr[24];  /* what NumPy calls the elements: "<f4"; long ones are cut short */
    bool is_fortran; /* first index fastest */
    int rank;
    int64_t dims[MAX_RANK];
} Npy;

MUST_USE Error *npy_open(const char *path, Npy *out); /* path stays the caller's, until the close */
void npy_close(Npy *npy);
bool npy_holds(const Npy *npy, Element e);
Type npy_type(const Npy *npy, Element e); /* its dims are the file's */
/* May its data be asked for: can memory hold as much? */
MUST_USE Error *npy_check(const Npy *npy, Element e);
/* Once, into type_bytes of npy_type: last index fastest, least significant byte first. */
MUST_USE Error *npy_read(Npy *npy, Element e, void *data);

MUST_USE Error *npy_write(const char *path, Type type, const void *data);
#endif
