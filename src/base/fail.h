/* fail.h - broken invariants of our own: say where, stop.
 * Never for what a user's program, file or call did; that is an Error. */
#ifndef TUTTI_BASE_FAIL_H
#define TUTTI_BASE_FAIL_H

#define fail(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define require(condition) ((condition) ? (void)0 : fail("this must hold: %s", #condition))

_Noreturn void fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
