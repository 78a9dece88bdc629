/* check.h - what a test program says: CHECK what must hold, then `return check_done();`. */
#ifndef TUTTI_TESTS_CHECK_H
#define TUTTI_TESTS_CHECK_H
#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: this must hold: %s\n", __FILE__, __LINE__, #condition);                 \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)

#define CHECK_STR(actual, expected)                                                                \
    do {                                                                                           \
        const char *actual_ = (actual), *expected_ = (expected);                                   \
        if (strcmp(actual_, expected_) != 0) {                                                     \
            printf("%s:%d:\n  expected: %s\n  got:      %s\n", __FILE__, __LINE__, expected_,      \
                   actual_);                                                                       \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)

static inline int check_done(void)
{
    if (check_failures)
        printf("%d checks failed\n", check_failures);
    return check_failures ? 1 : 0;
}
#endif
