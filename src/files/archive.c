/* archive.c - archives of object files, as linkers read them: a head for each file, and before the
 * first an index of symbols.
 *
 *     "!<arch>\n"   head "/"   number of symbols, where the member of each begins, their names
 *                   head "a.o/"   bytes      (all members begin at even places)
 */
#include "files/archive.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = 60, MAGIC = 8 };

static void add_head(Text *out, const char *name, size_t bytes)
{
    char head[HEAD + 1];
    snprintf(head, sizeof head, "%-16.16s%-12d%-6d%-6d%-8o%-10zu`\n", name, 0, 0, 0, 0644, bytes);
    text_add(out, head, HEAD);
}

static size_t even(size_t n)
{
    return n + n % 2;
}

static void add_even(Text *out, const void *bytes, size_t n)
{
    text_add(out, bytes, n);
    if (n % 2)
        text_add(out, "\n", 1);
}

/* Most significant byte first. */
static void add_number(Text *out, size_t n)
{
    unsigned char bytes[] = { (unsigned char)(n >> 24), (unsigned char)(n >> 16),
                              (unsigned char)(n >> 8), (unsigned char)n };
    text_add(out, bytes, sizeof bytes);
}

static void add_index(Text *out, int n, const Member *members)
{
    Text index = { 0 };
    size_t names = 0;
    for (int i = 0; i < n; i++)
        names += strlen(members[i].symbol) + 1;
    size_t at = MAGIC + HEAD + even(4 + 4 * (size_t)n + names);
    add_number(&index, (size_t)n);
    for (int i = 0; i < n; i++) {
        add_number(&index, at);
        at += HEAD + even(members[i].bytes.n);
    }
    for (int i = 0; i < n; i++)
        text_add(&index, members[i].symbol, strlen(members[i].symbol) + 1);
    add_head(out, "/", index.n);
    add_even(out, index.at, index.n);
    text_free(&index);
}

void archive_write(Text *out, int n, const Member *members)
{
    text_add(out, "!<arch>\n", MAGIC);
    add_index(out, n, members);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s/", members[i].name);
        add_head(out, name, members[i].bytes.n);
        add_even(out, members[i].bytes.at, members[i].bytes.n);
    }
}
