/* statics.c - when the destructors of C++ objects in static memory run: at dlclose, never at exit().
 *
 * LLVM has hundreds of them, and registers each where it is made, many at their first use.  exit()
 * would run them while other threads compile; the memory goes with the process anyway.  So the plugin
 * is linked with --wrap=__cxa_atexit, and what the libraries in it register is kept here. */
#include "engine/plugin/statics.h"
#include "base/sync.h"

#include <stdlib.h>

typedef struct Static {
    void (*destroy)(void *object);
    void *object;
    struct Static *older;
} Static;

static Lock lock;
static Static *newest;

int __wrap___cxa_atexit(void (*destroy)(void *object), void *object, void *library);
/* NULL where the engine is linked without --wrap, into tests. */
__attribute__((weak)) int __real___cxa_atexit(void (*f)(void *), void *user, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

int __wrap___cxa_atexit(void (*destroy)(void *object), void *object, void *library)
{
    (void)library; /* this one */
    Static *s = malloc(sizeof *s);
    if (!s)
        return -1; /* it is then never destroyed */
    lock_take(&lock);
    *s = (Static){ destroy, object, newest };
    newest = s;
    lock_give(&lock);
    return 0;
}

static void call(void *f)
{
    ((void (*)(void))f)();
}

bool at_exit(void (*f)(void))
{
    return __real___cxa_atexit ? __real___cxa_atexit(call, (void *)f, &__dso_handle) == 0
                               : atexit(f) == 0;
}

/* A destructor may make another object. */
void statics_destroy(void)
{
    for (Static *s; (s = newest);) {
        newest = s->older;
        s->destroy(s->object);
        free(s);
    }
}
