/* arrays.h - files of named arrays: safetensors, NumPy's .npz and .npy, told apart by their first
 * bytes.
 *
 * Opening takes memory as all work under a guard does (base/guard.h); reading an array checks its own. */
#ifndef TUTTI_FILES_ARRAYS_H
#define TUTTI_FILES_ARRAYS_H
#include "base/arena.h"
#include "base/table.h"
#include "files/aside.h"
#include "files/mapped.h"
#include "files/npy.h"

typedef struct FileArray {
    Str name;         /* NUL-terminated; of a .npy: empty */
    const char *path; /* of the file, and the name, for messages */
    bool is_npy;      /* then the bytes are those of an .npy file, and npy says what they hold */
    Npy npy;
    Type type;        /* else this does */
    Str bytes;        /* in the file */
    bool is_deflated; /* then they become so many: */
    size_t size;
    bool has_crc;
    uint32_t crc; /* of the size bytes */
} FileArray;

typedef struct FileNote {
    Str key, value;
    size_t at; /* of the value, from the beginning of the file; a value without escapes */
} FileNote;

typedef struct ArrayFile {
    const char *path; /* a copy */
    Arena *arena;
    Mapped mapped;
    Str bytes;
    int n, nnotes, room, notes_room;
    FileArray *at;
    FileNote *notes; /* safetensors' __metadata__ */
    Table names;
} ArrayFile;

MUST_USE Error *arrays_open(const char *path, ArrayFile **out);
/* The same of bytes in memory, which must outlive it. */
MUST_USE Error *arrays_of(Str bytes, const char *name, ArrayFile **out);
void arrays_close(ArrayFile *f); /* NULL is fine */

const FileArray *arrays_find(const ArrayFile *f, Str name); /* NULL: there is none */
const FileNote *arrays_note(const ArrayFile *f, const char *key);

/* May the elements be read as e?  NumPy has one name for all that it does not know. */
bool file_array_holds(const FileArray *a, Element e);
Type file_array_type(const FileArray *a, Element e); /* dims are the file's */
const char *file_array_elements(const FileArray *a); /* as the file calls them */
/* May its data be asked for: can memory hold as much? */
MUST_USE Error *file_array_check(const FileArray *a, Element e);
/* Into type_bytes of its type: last index fastest, least significant byte first. */
MUST_USE Error *file_array_read(const ArrayFile *f, const FileArray *a, Element e, void *data);
/* The same where it lies, for as long as the file is open; NULL: it must be read. */
const void *file_array_view(const FileArray *a);

/* For the formats: one more, named; fails if there is one of that name. */
MUST_USE Error *arrays_add(ArrayFile *f, Str name, FileArray **out);
MUST_USE Error *safetensors_read(ArrayFile *f);
MUST_USE Error *npz_read(ArrayFile *f);

/* ---- writing: both aside (aside.h), under a guard if memory may fail ---- */

typedef struct NamedType {
    const char *name;
    Type type;
} NamedType;

/* Array i's elements into data. */
typedef Error *ArrayGet(void *user, int i, void *data);

enum { NO_STEP = -1 };
/* With a checksum of the whole file among its notes (crc32), and the step if there is one. */
MUST_USE Error *safetensors_write(const char *path, int n, const NamedType *arrays, int64_t step,
                                  ArrayGet *get, void *user);
/* Is the file what was written?  NULL too if it has no checksum. */
MUST_USE Error *safetensors_check(const ArrayFile *f);
/* The same by several, each of which looks at a part of the bytes: their shares, joined by ^, are
 * compared. */
MUST_USE Error *safetensors_share(const ArrayFile *f, int part, int nparts, uint32_t *out);
MUST_USE Error *safetensors_compare(const ArrayFile *f, uint32_t shares);

/* A safetensors file that several processes write, each some of its bytes: all make the same plan. */
typedef struct SafetensorsPlan {
    Text header;   /* how the file begins, with zeros for the checksum's digits, */
    size_t crc_at; /* which are there */
    size_t size;   /* of the file */
    size_t *at;    /* [n]: where array i begins */
    int *order;    /* [n]: the arrays as they follow one another */
} SafetensorsPlan;
MUST_USE Error *safetensors_plan(int n, const NamedType *arrays, int64_t step,
                                 SafetensorsPlan *out);
void safetensors_plan_free(SafetensorsPlan *plan);
MUST_USE Error *safetensors_seal(const SafetensorsPlan *plan, Aside *aside, uint32_t crc);

MUST_USE Error *npz_write(const char *path, int n, const NamedType *arrays, ArrayGet *get,
                          void *user);
#endif
