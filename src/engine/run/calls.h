/* calls.h - custom calls that somebody else answers: functions registered by name. */
#ifndef TUTTI_CALLS_H
#define TUTTI_CALLS_H
#include "base/text.h"
#include "pjrt/extension.h"

#include <stdbool.h>

/* For the whole process; any thread.  A name that is there gets the new function. */
void calls_add(Str name, TuttiFunction *f, void *user);
bool calls_find(Str name, TuttiFunction **f, void **user);
#endif
