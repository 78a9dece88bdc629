/* names.h - included before anything else in every file of the hostile build: the C library's headers
 * then declare memory.c's functions in place of their own. */
#define malloc hostile_malloc
#define calloc hostile_calloc
#define realloc hostile_realloc
#define aligned_alloc hostile_aligned_alloc
#define strdup hostile_strdup
#define strndup hostile_strndup
#define free hostile_free
#define getline hostile_getline
#define mmap hostile_mmap
#define pthread_create hostile_pthread_create
