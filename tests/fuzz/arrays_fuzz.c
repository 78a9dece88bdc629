/* arrays_fuzz.c - whatever bytes come in, the readers of array files return: arrays or an error; and
 * what was read can be read again. */
#include "files/arrays.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_all(const ArrayFile *file)
{
    enum { MOST = 1 << 20 };
    for (int i = 0; i < file->n; i++) {
        const FileArray *a = &file->at[i];
        for (Element e = 0; e < TOKEN; e++) {
            if (!file_array_holds(a, e))
                continue;
            Error *error = file_array_check(a, e);
            size_t size = error ? 0 : type_bytes(file_array_type(a, e));
            void *data = !error && size < MOST ? malloc(size + 1) : NULL;
            if (data)
                error = file_array_read(file, a, e, data);
            error_free(error);
            free(data);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    ArrayFile *file = NULL;
    Error *error = arrays_of((Str){ (const char *)bytes, n }, "fuzz", &file);
    if (!error) {
        read_all(file);
        error = safetensors_check(file);
    }
    error_free(error);
    arrays_close(file);
    return 0;
}
