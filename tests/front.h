/* front.h - for tests of the front: the engine that was built, and messages kept for looking at. */
#ifndef TUTTI_TESTS_FRONT_H
#define TUTTI_TESTS_FRONT_H
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <tutti.h>
#include <unistd.h>

static inline void front_start(int devices)
{
    setenv("TUTTI_PLUGIN", "build/pjrt_plugin_tutti.so", 0);
    tt_on_error(NULL, NULL);
    tt_init_with(&(const tt_options){ .size = sizeof(tt_options), .devices = devices });
}

/* What was said since the last look; "" if nothing. */
static inline char *front_said(void)
{
    static char said[4096];
    snprintf(said, sizeof said, "%s", tt_error() ? tt_error() : "");
    tt_clear_error();
    return said;
}
/* A program in text as a function, by a file that no other process has. */
static inline tt_fn front_load(const char *text)
{
    char path[] = "/tmp/tutti_XXXXXX";
    int file = mkstemp(path);
    bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    CHECK(is_written);
    close(file);
    tt_fn f = tt_load(path);
    unlink(path);
    return f;
}
#define CHECK_SAID(expected) CHECK_STR(front_said(), expected)
#endif
