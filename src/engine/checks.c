/* checks.c - what code checks while it runs: the words of TUTTI_CHECK. */
#include "engine/checks.h"

#include <stdlib.h>
#include <string.h>

bool checks_bounds(void)
{
    const char *word = getenv("TUTTI_CHECK");
    return word && !strcmp(word, "bounds");
}

Error *checks_validate(void)
{
    const char *word = getenv("TUTTI_CHECK");
    if (!word || !*word || checks_bounds())
        return NULL;
    return error_new(CODE_INVALID,
                     "TUTTI_CHECK: there is no check '%s'; there is bounds, and without it code "
                     "checks nothing",
                     word);
}
