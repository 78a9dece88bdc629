/* dump_to.c - XLA_FLAGS=--xla_dump_to=FOLDER: every program that is compiled, as text, as it came and as
 * it is after the passes.
 *
 *     FOLDER/module_0001.jit_step.before_optimizations.txt
 *     FOLDER/module_0001.jit_step.tutti_after_optimizations.txt
 *
 * A file that cannot be written is told once on standard error: the program runs all the same. */
#include "engine/plugin/plugin.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static _Atomic int ndumped;   /* programs */
static _Atomic bool has_said; /* that a file cannot be written */

/* The folder, of the last flag that names one; its length is 0: none is asked for. */
static Str folder(void)
{
    static const char flag[] = "--xla_dump_to=";
    Str found = { "", 0 };
    const char *at = getenv("XLA_FLAGS");
    while (at && (at = strstr(at, flag))) {
        at += sizeof flag - 1;
        found = (Str){ at, strcspn(at, " \t\n") };
    }
    return found;
}

/* Letters that a file's name may have; others become '_'. */
static void put_name(Text *out, Str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';
        text_add(out, is_plain ? &c : "_", 1);
    }
}

static void write_file(const char *path, const Text *text)
{
    FILE *file = fopen(path, "w");
    bool is_written = file && fwrite(text->at, 1, text->n, file) == text->n;
    int trouble = errno;
    if (file && fclose(file) != 0)
        is_written = false;
    /* relaxed: one of those that fail says so */
    if (!is_written && !atomic_exchange_explicit(&has_said, true, memory_order_relaxed))
        fprintf(stderr, "tutti: --xla_dump_to: %s cannot be written: %s\n", path,
                strerror(trouble));
}

int dump_before(const Module *m)
{
    if (!folder().n)
        return 0;
    /* relaxed: a number */
    int number = atomic_fetch_add_explicit(&ndumped, 1, memory_order_relaxed) + 1;
    dump_module(number, m, "before_optimizations");
    return number;
}

void dump_module(int number, const Module *m, const char *stage)
{
    Str where = folder();
    if (!number || !where.n)
        return;
    Text path = { 0 }, text = { 0 };
    text_printf(&path, "%.*s", STR_ARG(where));
    mkdir(text_cstr(&path), 0777); /* where it fails, so does the file */
    text_printf(&path, "/module_%04d.", number);
    put_name(&path, m->name.n ? m->name : STR("main"));
    text_printf(&path, ".%s.txt", stage);
    module_print(&text, m, true);
    write_file(text_cstr(&path), &text);
    text_free(&path);
    text_free(&text);
}
