/* main.c - the command line of Tutti: a table of commands, and what they share.
 *
 * The tool is a client of the engine like any other: it loads the plugin and speaks PJRT to it
 * (execute.h).  Exit codes: 0 well, 1 a program failed, 2 the command line was wrong. */
#include "command.h"

#include "base/guard.h"
#include "base/version.h"
#include "files/exported.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Command *const commands[] = {
    &command_devices, &command_run,  &command_check,   &command_compile,
    &command_dump,    &command_show, &command_version,
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("Tutti plays StableHLO programs on the devices of this machine.\n\nusage:\n");
    for (int i = 0; i < NCOMMANDS; i++)
        printf("  tutti %s%s%s\n      %s\n", commands[i]->name, *commands[i]->usage ? " " : "",
               commands[i]->usage, commands[i]->summary);
    printf(
        "  tutti COMMAND --help\n      more about a command\n\n"
        "environment:\n"
        "  TUTTI_DEVICES=N    how many devices there are (or XLA_FLAGS="
        "--xla_force_host_platform_device_count=N); else 1\n"
        "  TUTTI_WORKERS=N    how many threads play them; else one per core\n"
        "  TUTTI_DEVICE_MEMORY=N  how many bytes each may use, such as 512M; else no limit\n"
        "  TUTTI_LAPACK=FILE  whose linear algebra, or 'own'; else the system's, where there is "
        "one\n"
        "  TUTTI_CPU_LEVEL=L  dots, avx512, avx2 or sse: code as for an older machine\n"
        "  TUTTI_TRACE=FILE   the whole process as a timeline, written at its end (.html, .json)\n"
        "  TUTTI_PROFILE=1    the same as a table on standard error\n"
        "  TUTTI_CHECK=bounds  code checks that each access stays in its array\n"
        "  TUTTI_CHECK=nans   the operation that makes the first NaN ends the run, and is named\n"
        "  TUTTI_PLUGIN=FILE  the engine to load; else pjrt_plugin_tutti.so beside this tool\n\n"
        "exit code: 0 well, 1 a program failed, 2 the command line was wrong\n");
}

static int print_command_help(const Command *command)
{
    printf("usage: tutti %s%s%s\n\n%s\n", command->name, *command->usage ? " " : "", command->usage,
           command->summary);
    if (command->details)
        printf("\n%s", command->details);
    return EXIT_OK;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* NULL, and said: there is none. */
static const Command *find_command(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    fprintf(stderr, "tutti: there is no command '%s'; see tutti --help\n", name);
    return NULL;
}

static int command_line(int argc, char **argv)
{
    bool asks_help = argc >= 2 && (is_help(argv[1]) || strcmp(argv[1], "help") == 0);
    if (argc < 2 || (asks_help && argc == 2)) {
        print_help();
        return argc < 2 ? EXIT_USAGE : EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tutti %s\n", TUTTI_VERSION);
        return EXIT_OK;
    }
    const Command *command = find_command(argv[asks_help ? 2 : 1]);
    if (!command)
        return EXIT_USAGE;
    for (int a = 2; a < argc; a++)
        asks_help |= is_help(argv[a]);
    return asks_help ? print_command_help(command) : command->run(argc - 1, argv + 1);
}

/* What was said is there once standard output has taken it. */
static int well_said(int code)
{
    bool had_trouble = ferror(stdout);
    if (fflush(stdout) == 0 && !had_trouble)
        return code;
    fprintf(stderr, "tutti: standard output cannot be written: %s\n",
            had_trouble ? "a part is missing" : strerror(errno));
    return code == EXIT_OK ? EXIT_FAILED : code;
}

typedef struct Words {
    int argc;
    char **argv;
    int code;
} Words;

static void obey(void *user)
{
    Words *w = user;
    w->code = command_line(w->argc, w->argv);
}

/* Without memory a command is left where it stands: with the process all it held is given back. */
int main(int argc, char **argv)
{
    Words words = { argc, argv, EXIT_FAILED };
    Error *error = guard_run(argc > 1 ? argv[1] : "help", obey, &words);
    return well_said(error ? failed(error) : words.code);
}

int usage_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "tutti %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "; see tutti %s --help\n", command);
    va_end(args);
    return EXIT_USAGE;
}

int failed(Error *error)
{
    fprintf(stderr, "tutti: %s\n", error_text(error));
    error_free(error);
    return EXIT_FAILED;
}

bool option_value(int argc, char **argv, int *at, const char *name, const char **value)
{
    const char *word = argv[*at];
    size_t n = strlen(name);
    if (strncmp(word, name, n) != 0 || (word[n] != 0 && word[n] != '='))
        return false;
    if (word[n] == '=')
        *value = word[n + 1] ? word + n + 1 : NULL;
    else
        *value = *at + 1 < argc && strncmp(argv[*at + 1], "--", 2) ? argv[++*at] : NULL;
    return true;
}

bool parse_positive(const char *text, int *out)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    if (value < 1 || value > MOST_POSITIVE || *end)
        return false;
    *out = (int)value;
    return true;
}

static void close_file(void *user)
{
    FILE **file = user;
    if (*file)
        fclose(*file);
}

Error *file_read(const char *path, Text *out)
{
    FILE *file = NULL;
    guard_defer(close_file, &file);
    file = fopen(path, "rb");
    int refused = errno;
    Text text = { 0 };
    char chunk[65536];
    for (size_t n; file && (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        text_add(&text, chunk, n);
    guard_forget(close_file, &file);
    if (!file)
        return error_new(CODE_NOT_FOUND, "%s: %s", path, strerror(refused));
    int trouble = ferror(file) ? errno : 0;
    fclose(file);
    if (trouble) {
        text_free(&text);
        return error_new(CODE_INVALID, "%s cannot be read: %s", path, strerror(trouble));
    }
    *out = text;
    return NULL;
}

Error *program_read(const char *path, Text *out)
{
    TRY(file_read(path, out));
    Str file = { text_cstr(out), out->n };
    if (!exported_is(file))
        return NULL;
    Arena *arena = arena_new();
    Exported *e;
    Text program = { 0 };
    Error *error = exported_read(file, path, arena, &e);
    if (!error)
        text_add(&program, e->module.at, e->module.n);
    arena_free(arena);
    text_free(out);
    *out = program;
    return error;
}
