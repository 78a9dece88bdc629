/* find.c - which MPI there is: the one that is in the process already, the one that TUTTI_MPI names,
 * that of the launcher, or one that is installed; and the shim that fits its binary interface.
 *
 *     Open MPI       libmpi.so.40                      tutti_mpi_openmpi.so
 *     MPICH          libmpi.so.12, libmpich.so.12      tutti_mpi_mpich.so
 *     MPI's own      libmpi_abi.so.1, libmpi_abi.so.0  tutti_mpi_abi.so
 *
 * The shims lie beside the engine. */
#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#include "engine/hosts/find.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Family {
    const char *name, *shim;
    const char *says;         /* MPI_Get_library_version begins so; NULL: it is told by its file */
    const char *libraries[3]; /* names to try; NULL at the end */
} Family;

static const Family families[] = {
    { "Open MPI", "tutti_mpi_openmpi.so", "Open MPI", { "libmpi.so.40", NULL } },
    { "MPICH", "tutti_mpi_mpich.so", "MPICH", { "libmpich.so.12", "libmpi.so.12", NULL } },
    { "MPI's standard ABI",
      "tutti_mpi_abi.so",
      NULL,
      { "libmpi_abi.so.1", "libmpi_abi.so.0", NULL } },
};
enum { OPEN_MPI, MPICH, STANDARD, FAMILIES };

static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : -1;
}

Launcher launcher_find(void)
{
    static const struct {
        const char *name, *rank, *size;
    } known[] = {
        { "Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
        { "hydra (mpiexec of MPICH), or srun by PMI", "PMI_RANK", "PMI_SIZE" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int rank = number_in(known[i].rank), size = number_in(known[i].size);
        if (size > 0 && rank >= 0 && rank < size)
            return (Launcher){ known[i].name, rank, size };
    }
    return (Launcher){ 0 };
}

/* What the MPI in the process, or in `library`, calls itself; NULL: there is none.  All have this
 * function with this type, and it may be called before MPI is initialised. */
static const char *version_in(void *library)
{
    static char text[8192]; /* as large as any MPI's MPI_MAX_LIBRARY_VERSION_STRING */
    int (*get)(char *, int *) = (int (*)(char *, int *))dlsym(library, "MPI_Get_library_version");
    int n = 0;
    if (!get || get(text, &n))
        return NULL;
    text[strcspn(text, ",\n")] = 0;
    return text;
}

static const Family *family_of(void *library)
{
    const char *version = version_in(library);
    Dl_info info = { 0 };
    void *symbol = dlsym(library, "MPI_Get_library_version");
    if (symbol && dladdr(symbol, &info) && info.dli_fname && strstr(info.dli_fname, "libmpi_abi"))
        return &families[STANDARD];
    for (int f = 0; version && f < STANDARD; f++)
        if (!strncmp(version, families[f].says, strlen(families[f].says)))
            return &families[f];
    return NULL;
}

/* UCX, on which an MPI may stand, would take over everybody's SIGSEGV; it reads this when it is
 * loaded.  Large sums go in pieces that must not wait for an answer from the other side.  Nothing is read
 * straight from another process's memory (cma): whose peer is killed meanwhile would die with it.  So pieces go
 * through shared memory, each in one segment of it, and there are about as many bytes of segments as by default.
 * UCX counts a segment's bytes in 16 bits, so that one of 64 KB would be read as empty. */
static void set_environment(void)
{
    static const char *const settings[][2] = {
        { "UCX_ERROR_SIGNALS", "" },
        { "UCX_HANDLE_ERRORS", "none" },
        { "UCX_WARN_UNUSED_ENV_VARS", "n" },
        { "UCX_RNDV_THRESH", "1m" },
        { "UCX_TLS", "^cma" },
        { "UCX_POSIX_SEG_SIZE", "56k" },
        { "UCX_POSIX_RX_BUFS_GROW", "64" },
        { "UCX_SYSV_SEG_SIZE", "56k" },
        { "UCX_SYSV_RX_BUFS_GROW", "64" },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setenv(settings[i][0], settings[i][1], 0);
}

static void *open_family(const Family *f)
{
    for (const char *const *name = f->libraries; *name; name++) {
        void *library = dlopen(*name, RTLD_NOW | RTLD_GLOBAL);
        if (library && family_of(library) == f)
            return library;
        if (library)
            dlclose(library);
    }
    return NULL;
}

static Error *open_mpi(const Launcher *launcher, const Family **family)
{
    const char *named = getenv("TUTTI_MPI");
    *family = family_of(RTLD_DEFAULT);
    if (*family)
        return NULL;
    set_environment();
    if (named && *named) {
        void *library = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
        *family = library ? family_of(library) : NULL;
        return *family ? NULL
                       : error_new(CODE_NOT_FOUND, "TUTTI_MPI names %s, which is no MPI: %s", named,
                                   library ? "it is of no kind that is known" : dlerror());
    }
    int first = getenv("OMPI_COMM_WORLD_SIZE") ? OPEN_MPI : MPICH;
    for (int i = 0; i < FAMILIES; i++) {
        const Family *f = &families[i == 0 ? first : i == 1 ? STANDARD : 1 - first];
        if (i == 2) /* the other launcher's: it would start alone */
            break;
        if (open_family(f)) {
            *family = f;
            return NULL;
        }
    }
    return error_new(CODE_NOT_FOUND,
                     "several processes need an MPI%s%s, and none is found: install Open MPI or "
                     "MPICH (pip install mpich), or name its libmpi by TUTTI_MPI",
                     launcher->name ? " that fits " : "", launcher->name ? launcher->name : "");
}

Error *shim_find(const Launcher *launcher, Shim **out, const char **library)
{
    const Family *family = NULL;
    TRY(open_mpi(launcher, &family));
    Dl_info self = { 0 };
    dladdr((void *)shim_find, &self);
    const char *slash = self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - self.dli_fname) : 1,
             slash ? self.dli_fname : ".", family->shim);
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ShimFn *get = opened ? (ShimFn *)dlsym(opened, SHIM_SYMBOL) : NULL;
    if (!get)
        return error_new(CODE_NOT_FOUND, "the shim for %s cannot be loaded: %s", family->name,
                         dlerror());
    *out = get();
    *library = version_in(RTLD_DEFAULT);
    if ((*out)->version != SHIM_VERSION)
        return error_new(CODE_INVALID, "%s is of another version than the engine", path);
    return NULL;
}
