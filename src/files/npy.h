/* npy.h - NumPy's file of one array, in and out. */
#ifndef TUTTI_FILES_NPY_H
#define TUTTI_FILES_NPY_H
#include "base/error.h"
#include "ops/type.h"

/* A header that has been read.  Which element it is about is for the reader to say, since NumPy
 * has one name, raw bytes, for all that it does not know. */
typedef struct Npy {
    const char *path; /* for messages; the caller's */
    char descr[24];   /* what NumPy calls the elements: "<f4"; long ones are cut short */
    bool is_fortran;  /* first index fastest */
    int rank;
    int64_t dims[MAX_RANK];
    size_t data; /* where in the file they begin */
} Npy;

/* The file, or as much of its beginning as holds the header. */
MUST_USE Error *npy_parse(Str file, const char *path, Npy *out);
bool npy_holds(const Npy *npy, Element e);
Type npy_type(const Npy *npy, Element e); /* its dims are the header's */
/* May its data be asked for: can memory hold as much? */
MUST_USE Error *npy_check(const Npy *npy, Element e);
/* Into type_bytes of npy_type: last index fastest, least significant byte first. */
MUST_USE Error *npy_read(const Npy *npy, Element e, Str file, void *data);

void npy_header(Text *out, Type type); /* all that comes before the data */
MUST_USE Error *npy_write(const char *path, Type type, const void *data);
#endif
