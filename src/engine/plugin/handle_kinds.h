/* handle_kinds.h - the kinds of handles that calls of the table name (inputs.def); tests/fuzz/abi_fuzz.c has some
 * of each. */
#ifndef TUTTI_ENGINE_PLUGIN_HANDLE_KINDS_H
#define TUTTI_ENGINE_PLUGIN_HANDLE_KINDS_H
typedef enum Kind {
    POINTER,
    ERROR,
    EVENT,
    BUFFER,
    PLACED,
    EXECUTABLE,
    LOADED,
    CONTEXT,
    LAYOUT,
    CLIENT,
    DEVICE,
    MEMORY,
    DESCRIPTION,
    TOPOLOGY,
    KINDS
} Kind;
#endif
