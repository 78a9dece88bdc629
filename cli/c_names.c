/* c_names.c - words of C for what a function of JAX takes and gives. */
#include "c_names.h"

#include <ctype.h>
#include <string.h>

/* Of C, and of C++, which headers may be read by. */
static bool is_keyword(const char *word)
{
    static const char words[] =
        " auto bool break case catch char class const continue default delete do double else enum "
        "extern false float for goto if inline int long new operator private public register "
        "restrict return short signed sizeof static struct switch template this throw true try "
        "typedef union unsigned using virtual void volatile while ";
    const char *at = strstr(words, word);
    return at && at[-1] == ' ' && at[strlen(word)] == ' ';
}

static bool is_taken(const char *const *names, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (names[i] && strcmp(names[i], word) == 0)
            return true;
    return false;
}

/* "0.dense.w" becomes arg0_dense_w, with `_` behind it while there is one of that name. */
static const char *word_of(Arena *arena, Str name, const char *kind, const char *const *names,
                           int n)
{
    Text word = { 0 };
    if (!name.n || isdigit((unsigned char)*name.at))
        text_printf(&word, "%s", kind);
    for (size_t i = 0; i < name.n; i++)
        text_add(&word, isalnum((unsigned char)name.at[i]) ? &name.at[i] : "_", 1);
    while (is_keyword(text_cstr(&word)) || is_taken(names, n, text_cstr(&word)))
        text_add(&word, "_", 1);
    const char *copy = str_copy(arena, (Str){ word.at, word.n }).at;
    text_free(&word);
    return copy;
}

const char *const *argument_names(Arena *arena, const Exported *e)
{
    const char **names = ARENA_ARRAY(arena, const char *, e->nparams + 1);
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i].param >= 0)
            names[e->args[i].param] = word_of(arena, e->args[i].name, "arg", names, e->nparams);
    for (int i = 0; i < e->nparams; i++)
        if (!names[i]) /* the index of the platform, tokens */
            names[i] = word_of(arena, i == e->platform_param ? STR("platform_index") : STR("token"),
                               "arg", names, e->nparams);
    return names;
}

const char *const *result_names(Arena *arena, const Exported *e)
{
    const char **names = ARENA_ARRAY(arena, const char *, e->nresults + 1);
    for (int i = 0; i < e->nresults; i++)
        names[i] = word_of(arena, e->results[i].name, "result", names, i);
    return names;
}
