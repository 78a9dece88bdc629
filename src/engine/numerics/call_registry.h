/* call_registry.h - custom calls that the embedding process answers: C functions by name. */
#ifndef TUTTI_ENGINE_NUMERICS_CALL_REGISTRY_H
#define TUTTI_ENGINE_NUMERICS_CALL_REGISTRY_H
#include "base/error.h"
#include "base/text.h"
#include "pjrt/extension.h"

#include <stdbool.h>

/* One registry for the process; any thread.  A name that is registered gets the new function.
 * False: no memory for it. */
MUST_USE bool call_registry_add(Str name, TuttiFunction *f, void *user);
bool call_registry_find(Str name, TuttiFunction **f, void **user);
void call_registry_end(void); /* frees all entries; no program may call one after it */
#endif
