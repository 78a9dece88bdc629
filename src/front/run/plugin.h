/* plugin.h - the plugin that client.c talks to; for plugin.c and client.c only. */
#ifndef TUTTI_FRONT_RUN_PLUGIN_H
#define TUTTI_FRONT_RUN_PLUGIN_H
#include "base/error.h"
#include "pjrt/extension.h"

/* Filled in by client_need, and never changed after. */
typedef struct Plugin {
    const char *path;
    const PJRT_Api *api;
    PJRT_Client *client;
    const TuttiExtension *extension; /* of our own engine; NULL: another's */
    int ndevices;
    PJRT_Device *const *devices;
    int *ids; /* PJRT's, for device assignments */
    const char **names;
} Plugin;

extern Plugin plugin;

#define ARGS(name, ...)                                                                            \
    (PJRT_##name##_Args)                                                                           \
    {                                                                                              \
        .struct_size = PJRT_##name##_Args_SIZE, __VA_ARGS__                                        \
    }

/* Calls a function of the table, if the plugin is young enough to have it. */
#define CALL(name, args)                                                                           \
    (plugin.api->struct_size >= offsetof(PJRT_Api, PJRT_##name) + sizeof(void *) &&                \
             plugin.api->PJRT_##name                                                               \
         ? plugin_error(plugin.api, plugin.api->PJRT_##name(args))                                 \
         : error_new(CODE_UNIMPLEMENTED, "%s has no PJRT_" #name, plugin.path))

/* Turns an error of the other side into one of ours: NULL stays NULL. */
MUST_USE Error *plugin_error(const PJRT_Api *api, PJRT_Error *theirs);
#endif
