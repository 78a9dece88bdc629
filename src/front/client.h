/* client.h - PJRT from the caller's side: load a plugin, compile, transfer, execute, await.
 *
 * Works with any vendor's plugin: every struct is zeroed and sized, late functions are asked for
 * by the table's size, every error is read and destroyed. */
#ifndef TUTTI_CLIENT_H
#define TUTTI_CLIENT_H
#include "base/error.h"
#include "base/text.h"
#include "ops/type.h"
#include "pjrt/pjrt.h"

/* The process's one client, made at first use from tt_init's options, TUTTI_PLUGIN and
 * TUTTI_DEVICES.  Errors name the path tried and what would be right. */
MUST_USE Error *client_need(void);
void client_options(const char *plugin, int devices); /* before first use */
int client_device_count(void);
const char *client_device_name(int device);
bool client_is_tutti(void); /* our own engine behind it */

typedef struct Executable Executable; /* compiled for an ordered list of devices; never freed */
MUST_USE Error *client_compile(Str stablehlo_text, int ndevices, const int *devices, int nargs,
                               int nresults, Executable **out);
/* args[device][argument], results[device][result]; donated: bit per argument. */
MUST_USE Error *client_execute(Executable *e, PJRT_Buffer *const *const *args,
                               PJRT_Buffer **const *results);
MUST_USE Error *client_upload(Type type, const void *data, int device, PJRT_Buffer **out);
MUST_USE Error *client_download(PJRT_Buffer *b, void *data, size_t bytes);
MUST_USE Error *client_copy(PJRT_Buffer *b, int to_device, PJRT_Buffer **out);
MUST_USE Error *client_await(PJRT_Buffer *b);
void client_free(PJRT_Buffer *b);
#endif
