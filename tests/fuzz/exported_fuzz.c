/* exported_fuzz.c - whatever bytes come in, the reader of jax.export's files returns: a function or an
 * error; a function's names can be read, and its program lies in the bytes. */
#include "files/exported.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static size_t look(const Exported *e, Str bytes)
{
    size_t sum = 0;
    for (; e; e = e->vjp) {
        for (int i = 0; i < e->nargs; i++)
            sum += strlen(e->args[i].name.at) + strlen(e->args[i].type.at);
        for (int i = 0; i < e->nresults; i++)
            sum += strlen(e->results[i].name.at);
        if (e->module.at < bytes.at || e->module.at + e->module.n > bytes.at + bytes.n)
            abort();
        sum += (size_t)exported_platform(e, STR("cpu"));
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Str all = { (const char *)bytes, n };
    Arena *arena = arena_new();
    Exported *e = NULL;
    Error *error = exported_is(all) ? exported_read(all, "fuzz", arena, &e) : NULL;
    if (!error && e)
        look(e, all);
    error_free(error);
    arena_free(arena);
    return 0;
}
