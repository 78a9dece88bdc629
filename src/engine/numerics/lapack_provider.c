/* lapack_provider.c - whose LAPACK: finding a library, and how many threads it may use.
 *
 * Looking takes no memory of ours: it is done under the guard of a compilation, which may be left
 * wherever there is none, and what is found outlives it. */
#define _GNU_SOURCE
#include "engine/numerics/matrices.h"

#include "base/sync.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *real, *complex; /* complex NULL: there is none */
} names[LAPACK_NAMES] = {
    [LAPACK_GETRF] = { "getrf", "getrf" }, [LAPACK_POTRF] = { "potrf", "potrf" },
    [LAPACK_TRSM] = { "trsm", "trsm" },    [LAPACK_ORMQR] = { "ormqr", "unmqr" },
    [LAPACK_GEQP3] = { "geqp3", "geqp3" }, [LAPACK_GESDD] = { "gesdd", "gesdd" },
    [LAPACK_GESVD] = { "gesvd", "gesvd" }, [LAPACK_SYEVD] = { "syevd", "heevd" },
    [LAPACK_GEEV] = { "geev", "geev" },    [LAPACK_GEES] = { "gees", "gees" },
    [LAPACK_GEHRD] = { "gehrd", "gehrd" }, [LAPACK_SYTRD] = { "sytrd", "hetrd" },
    [LAPACK_GTSV] = { "gtsv", "gtsv" },    [LAPACK_STEDC] = { "stedc", "stedc" },
    [LAPACK_GEBRD] = { "gebrd", "gebrd" }, [LAPACK_BDSDC] = { "bdsdc", NULL },
};
static const char letters[] = "sdcz";

typedef struct Provider {
    LapackFn *routines[LAPACK_NAMES][sizeof letters - 1];
    int (*get_threads)(void); /* NULL: the library has no such call */
    void (*set_threads)(int);
    const char *file; /* NULL: there is none */
} Provider;

static TuttiFindRoutine *offered; /* by the host; NULL: nothing */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Provider provider;
static char refused[500];    /* why TUTTI_LAPACK cannot be followed; empty: it can */
static _Atomic int is_known; /* the three above are what they will be */

/* ---- finding ---- */

/* Where symbols come from: a library, or else the host. */
typedef struct Source {
    void *library;
    TuttiFindRoutine *find;
} Source;

/* In libraries the names are Fortran's; those that are packed for Python put a word before them. */
static void *symbol(const Source *from, const char *name)
{
    static const char *const forms[] = { "%s_", "scipy_%s_" };
    void *found = from->library ? NULL : from->find(name);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && from->library && !found; i++) {
        char spelled[32];
        snprintf(spelled, sizeof spelled, forms[i], name);
        found = dlsym(from->library, spelled);
    }
    return found;
}

/* OpenBLAS lets itself be told; its names too have another word before them in Python's packages. */
static void find_threads(void *library, Provider *p)
{
    static const char *const names_of[][2] = {
        { "openblas_get_num_threads", "openblas_set_num_threads" },
        { "scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads" },
    };
    for (size_t i = 0; i < sizeof names_of / sizeof *names_of && !p->set_threads; i++) {
        p->get_threads = (int (*)(void))dlsym(library, names_of[i][0]);
        p->set_threads = (void (*)(int))dlsym(library, names_of[i][1]);
        if (!p->get_threads)
            p->set_threads = NULL;
    }
}

/* All routines, or false and the name of one that is not there. */
static bool take_routines(const Source *from, Provider *p, char missing[16])
{
    for (int n = 0; n < LAPACK_NAMES; n++)
        for (int t = 0; letters[t]; t++) {
            const char *name = t < 2 ? names[n].real : names[n].complex;
            if (!name)
                continue;
            snprintf(missing, 16, "%c%s", letters[t], name);
            void *found = symbol(from, missing);
            if (!found)
                return false;
            p->routines[n][t] = (LapackFn *)found;
        }
    return true;
}

/* False: `refused` says why not. */
static bool take_provider(const Source *from, const char *what, Provider *out)
{
    Provider p = { 0 };
    char missing[16];
    if (!take_routines(from, &p, missing)) {
        snprintf(refused, sizeof refused, "%s has no routine %s", what, missing);
        return false;
    }
    Dl_info at;
    bool is_placed = dladdr((void *)p.routines[LAPACK_GETRF][0], &at) && at.dli_fname;
    void *library = from->library;
    if (!library && is_placed)
        library = dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* what it stands on, too */
    if (library)
        find_threads(library, &p);
    p.file = is_placed ? at.dli_fname : what;
    *out = p;
    return true;
}

/* A library by its file or its soname; it stays open. */
static bool take_library(const char *file, Provider *out)
{
    Source from = { .library = dlopen(file, RTLD_NOW | RTLD_LOCAL) };
    if (from.library)
        return take_provider(&from, file, out);
    snprintf(refused, sizeof refused, "%s", dlerror());
    return false;
}

static void look(void)
{
    static const char *const sonames[] = { "libopenblas.so.0", "liblapack.so.3" };
    const char *named = getenv("TUTTI_LAPACK");
    bool is_free = !named || !*named, is_own = !is_free && !strcmp(named, "own");
    if (!is_free && !is_own)
        take_library(named, &provider);
    if (is_free && offered)
        take_provider(&(Source){ .find = offered }, "the host's", &provider);
    for (size_t i = 0; i < sizeof sonames / sizeof *sonames && is_free && !provider.file; i++)
        take_library(sonames[i], &provider);
    if (is_free || is_own)
        *refused = 0;
    /* release: pairs with the acquire in seen */
    atomic_store_explicit(&is_known, 1, memory_order_release);
}

static bool seen(void)
{
    /* acquire: pairs with the release in look */
    return atomic_load_explicit(&is_known, memory_order_acquire);
}

void lapack_offer(TuttiFindRoutine *find)
{
    offered = find;
}

Error *lapack_find(void)
{
    pthread_once(&once, look);
    if (!*refused)
        return NULL;
    return error_new(CODE_INVALID,
                     "TUTTI_LAPACK=%s: %s; it should be the file of a library with all of LAPACK, "
                     "BLAS and 32-bit integers, or 'own' for the engine's own routines",
                     getenv("TUTTI_LAPACK"), refused);
}

LapackFn *lapack_routine(LapackName name, Element e)
{
    if (!seen())
        return NULL;
    return provider.routines[name][e == F32 ? 0 : e == F64 ? 1 : e == C64 ? 2 : 3];
}

const char *lapack_provider(void)
{
    return !seen() ? "none wanted yet" : provider.file ? provider.file : "own";
}

/* ---- threads ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int inside, allowed, before; /* threads that call; with how many each; the number found */
static int waiting;                 /* for the others to leave: no thread joins them meanwhile */

void lapack_begin(int nthreads)
{
    if (!provider.set_threads)
        return;
    pthread_mutex_lock(&gate);
    waiting += nthreads > 1;
    while (inside && (nthreads > 1 || allowed > 1 || waiting))
        pthread_cond_wait(&opened, &gate);
    waiting -= nthreads > 1;
    if (!inside++) {
        before = provider.get_threads();
        allowed = nthreads < before ? nthreads : before;
        if (allowed != before)
            provider.set_threads(allowed);
    }
    pthread_mutex_unlock(&gate);
}

void lapack_end(void)
{
    if (!provider.set_threads)
        return;
    pthread_mutex_lock(&gate);
    if (!--inside) {
        if (allowed != before)
            provider.set_threads(before);
        pthread_cond_broadcast(&opened);
    }
    pthread_mutex_unlock(&gate);
}
