/* command.h - what the commands share: their table, the exit codes, words of the command line. */
#ifndef TUTTI_CLI_COMMAND_H
#define TUTTI_CLI_COMMAND_H
#include "base/error.h"
#include "base/text.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct Command {
    const char *name;
    const char *usage;                 /* what follows the name */
    const char *summary;               /* one line */
    const char *details;               /* the rest of its help, or NULL */
    int (*run)(int argc, char **argv); /* argv[0] is its name */
} Command;

extern const Command command_check, command_compile, command_devices, command_dump, command_run,
    command_show, command_version;

/* Says what was wrong with the command line and where help is; gives EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says why it failed, ends the error; gives EXIT_FAILED. */
int failed(Error *error);

/* Is argv[*at] this option?  "--name value" and "--name=value" both give the value; NULL: it has
 * none, being last, or before another option. */
bool option_value(int argc, char **argv, int *at, const char *name, const char **value);
/* A whole number from 1 to MOST_POSITIVE. */
enum { MOST_POSITIVE = 1000000 };
bool parse_positive(const char *text, int *out);

/* The bytes of a file; the caller frees out->at. */
MUST_USE Error *file_read(const char *path, Text *out);
/* The same of a program; of what jax.export wrote, the program inside. */
MUST_USE Error *program_read(const char *path, Text *out);
#endif
