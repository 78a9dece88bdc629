/* objects.h - objects that the engine has made become a file that linkers take. */
#ifndef TUTTI_FILES_OBJECTS_H
#define TUTTI_FILES_OBJECTS_H
#include "base/error.h"
#include "base/text.h"

/* An object, and the symbol by which it is found. */
typedef struct Made {
    const char *symbol;
    Str bytes;
} Made;

/* A word of C of a file's name, after which its program is called: my-model.o gives my_model. */
void object_name(const char *path, Text *out);
/* In a file.so also the first program is called so, whatever its name, for those that load the file. */
#define LOADED_SYMBOL "tutti_program"

MUST_USE Error *file_write(const char *path, Str bytes);
/* As path's end says: file.a, an archive of them; file.so, a library linked by the system's C compiler,
 * which finds libtutti_rt in `folder` too; file.o, an object, joined of several by the system's linker. */
MUST_USE Error *objects_write(const char *path, const char *folder, int n, const Made *objects);
#endif
