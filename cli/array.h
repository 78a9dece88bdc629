/* array.h - arrays on the host: from files, filled, printed. */
#ifndef TUTTI_CLI_ARRAY_H
#define TUTTI_CLI_ARRAY_H
#include "base/error.h"
#include "files/arrays.h"
#include "ops/type.h"

/* Row-major; strides are in bytes. */
typedef struct Array {
    Type type;                                          /* dims point into dims_ */
    int64_t dims_[MAX_RANK + 1], strides[MAX_RANK + 1]; /* one more for devices: execute.h */
    char *data;
    void *memory; /* what to free */
} Array;

/* Zeroed. */
MUST_USE Error *array_new(Type type, Array *out);
void array_free(Array *array);
void array_fill_random(Array *array, uint64_t seed); /* floats in [0, 1), small integers */

/* The array's type must be one that `wanted` can be stored as; shapes are compared, but for extents
 * that `wanted` leaves open. */
MUST_USE Error *array_take(const ArrayFile *file, const FileArray *a, Type wanted, Array *out);
/* Is the input a whole number, for an argument of that type, an integer without dimensions? */
bool array_is_number(const char *input, Type wanted, int64_t *out);
/* Of a file with one array, or "file:name". */
MUST_USE Error *array_load(const char *path, Type wanted, Array *out);
MUST_USE Error *array_save(const char *path, const Array *array);

/* Nested lists; long dimensions are cut short in the middle. */
void array_print(Text *out, const Array *array);
#endif
