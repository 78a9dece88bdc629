/* plugin_file.h - execute.h on the plugin's file, loaded when a client starts: not on the engine that other
 * tests link. */
#ifndef TUTTI_TESTS_SEAM_PLUGIN_FILE_H
#define TUTTI_TESTS_SEAM_PLUGIN_FILE_H
#include "tests/seam/execute.h"

#include <dlfcn.h>

const PJRT_Api *GetPjrtApi(void)
{
    char *path = getenv("TUTTI_PLUGIN");
    engine.path = path ? path : "build/pjrt_plugin_tutti.so";
    CHECK_STR(words_of(pjrt_load(&engine)), "");
    return engine.api ? engine.api : (exit(1), NULL);
}
#endif
