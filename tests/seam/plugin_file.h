/* plugin_file.h - play.h on the plugin's file, loaded when a client starts: not on the engine that other
 * tests link. */
#ifndef TUTTI_TESTS_SEAM_PLUGIN_FILE_H
#define TUTTI_TESTS_SEAM_PLUGIN_FILE_H
#include "tests/seam/play.h"

#include <dlfcn.h>

static void *library;

const PJRT_Api *GetPjrtApi(void)
{
    const char *path = getenv("TUTTI_PLUGIN");
    library = dlopen(path ? path : "build/pjrt_plugin_tutti.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
    PJRT_GetPjrtApi *get;
    *(void **)&get = dlsym(library, "GetPjrtApi");
    return get();
}
#endif
