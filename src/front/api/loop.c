/* loop.c - what the loop around a training step needs: rows in a random order, and a line that says how
 * far it is. */
#include "base/sync.h"
#include "front/api/numpy.h"
#include "front/api/progress.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

tt tt_minibatches(tt key, int64_t rows, int64_t size)
{
    PUBLIC;
    if (size < 1 || rows < size || rows > INT32_MAX)
        return report_broken("tt_minibatches: batches of %lld of %lld rows: there must be at least "
                             "one whole batch",
                             (long long)size, (long long)rows);
    int64_t n = rows / size;
    tt order = tt_permutation(key, tt_arange(TT_I32, rows), 0);
    return tt_reshape(tt_slice(order, 0, 0, n * size), &(tt_dims){ 2, { n, size } });
}

/* ---- progress ---- */

static double now(void)
{
    return (double)clock_now_ns() * 1e-9;
}

/* 1:02:03, 2:03, 3 s. */
static void print_time(char *out, size_t room, double seconds)
{
    long s = lround(fmax(0, fmin(seconds, 1e9)));
    if (s >= 3600)
        snprintf(out, room, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else if (s >= 60)
        snprintf(out, room, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(out, room, "%ld s", s);
}

/* Steps in a second since it began, and the time left at that pace. */
static void print_pace(const Progress *p, char *out, size_t room, int64_t step, int64_t total)
{
    double seconds = p->said - p->began;
    double pace = seconds > 0 ? (double)(step - p->first) / seconds : 0;
    char left[32] = "";
    *out = 0;
    if (pace <= 0)
        return;
    if (total > step)
        print_time(left, sizeof left, (double)(total - step) / pace);
    snprintf(out, room, "  %.3g/s%s%s%s", pace, *left ? ", " : "", left, *left ? " left" : "");
}

static bool is_last(int64_t step, int64_t total)
{
    return total && step >= total;
}

bool progress_is_due(Progress *p, int64_t step, int64_t total)
{
    bool is_terminal = isatty(STDERR_FILENO);
    double t = now(), pause = is_terminal ? 0.1 : 10;
    if (!p->began || step < p->first)
        *p = (Progress){ t, t - (is_terminal ? pause : 0), step };
    if (t - p->said < pause && !is_last(step, total))
        return false;
    p->said = t;
    return true;
}

void progress_say(Progress *p, int64_t step, int64_t total, const char *text)
{
    bool is_terminal = isatty(STDERR_FILENO), ends = is_last(step, total);
    char pace[64], of[32] = "";
    print_pace(p, pace, sizeof pace, step, total);
    if (total)
        snprintf(of, sizeof of, "/%lld", (long long)total);
    fprintf(stderr, "%s%lld%s%s  %s%s", is_terminal ? "\r\033[K" : "", (long long)step, of, pace,
            text, is_terminal && !ends ? "" : "\n");
    fflush(stderr);
    if (ends)
        *p = (Progress){ 0 };
}

void tt_progress(int64_t step, int64_t total, const char *format, ...)
{
    static _Thread_local Progress progress; /* of this thread's loop */
    char said[256];
    if (!progress_is_due(&progress, step, total))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    progress_say(&progress, step, total, said);
}
