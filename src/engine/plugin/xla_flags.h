/* xla_flags.h - which compile options are XLA's, and what values they take. */
#ifndef TUTTI_ENGINE_PLUGIN_XLA_FLAGS_H
#define TUTTI_ENGINE_PLUGIN_XLA_FLAGS_H
#include "base/text.h"

typedef enum SwitchType { SWITCH_UNKNOWN, SWITCH_BOOL, SWITCH_NUMBER, SWITCH_ANY } SwitchType;

SwitchType switch_type(Str name);
#endif
