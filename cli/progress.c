/* progress.c - one line that overwrites itself.  A timer's thread shows it first; from then on who
 * says something shows it. */
#include "progress.h"

#include "base/sync.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static Lock lock;
static bool is_due, is_shown; /* under lock, like the line */
static char line[80];

static void show(void)
{
    if (!is_due || !*line)
        return;
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    is_shown = true;
}

static void clear(void)
{
    if (is_shown)
        fprintf(stderr, "\r\033[K");
    is_shown = false;
}

static void a_second_on(__attribute__((unused)) union sigval none)
{
    lock_take(&lock);
    is_due = *line;
    show();
    lock_give(&lock);
}

void progress_start(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = a_second_on };
    struct itimerspec second = { .it_value = { .tv_sec = 1 } };
    timer_t timer;
    if (isatty(STDERR_FILENO) && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &second, NULL);
}

void progress_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lock_take(&lock);
    vsnprintf(line, sizeof line, format, args);
    show();
    lock_give(&lock);
    va_end(args);
}

void progress_clear(void)
{
    lock_take(&lock);
    clear();
    lock_give(&lock);
}

void progress_end(void)
{
    lock_take(&lock);
    clear();
    is_due = false;
    *line = 0;
    lock_give(&lock);
}
