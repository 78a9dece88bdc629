/* call_registry.h - custom calls that somebody else answers: functions registered by name. */
#ifndef TUTTI_ENGINE_NUMERICS_CALL_REGISTRY_H
#define TUTTI_ENGINE_NUMERICS_CALL_REGISTRY_H
#include "base/error.h"
#include "base/text.h"
#include "pjrt/extension.h"

#include <stdbool.h>

/* For the whole process; any thread.  A name that is there gets the new function.  False: no
 * memory for it. */
MUST_USE bool call_registry_add(Str name, TuttiFunction *f, void *user);
bool call_registry_find(Str name, TuttiFunction **f, void **user);
void call_registry_end(void); /* all go; nobody calls any more */
#endif
