/* statics.h - the end of C++ objects in static memory, which the libraries in the plugin have. */
#ifndef TUTTI_ENGINE_PLUGIN_STATICS_H
#define TUTTI_ENGINE_PLUGIN_STATICS_H
#include <stdbool.h>

bool at_exit(void (*f)(void)); /* as atexit, which is not for us here; false: no memory */
void statics_destroy(void);    /* newest first; nothing of the libraries is used any more */
#endif
