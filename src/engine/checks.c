/* checks.c - what code checks while it runs: the words of TUTTI_CHECK. */
#include "engine/checks.h"

#include <stdlib.h>
#include <string.h>

static bool has_word(const char *wanted)
{
    const char *word = getenv("TUTTI_CHECK");
    return word && !strcmp(word, wanted);
}

bool checks_bounds(void)
{
    return has_word("bounds");
}

bool checks_nans(void)
{
    return has_word("nans");
}

Error *checks_validate(void)
{
    const char *word = getenv("TUTTI_CHECK");
    if (!word || !*word || checks_bounds() || checks_nans())
        return NULL;
    return error_new(CODE_INVALID,
                     "TUTTI_CHECK: there is no check '%s'; there are bounds and nans, and without "
                     "one code checks nothing",
                     word);
}
