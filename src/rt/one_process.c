/* one_process.c - the crossings of the executor, where no program has devices in another process: in the
 * place of engine/exec/crossing.c, so that no word of messages is linked.  No run has a span, so none of
 * these is called. */
#include "base/fail.h"
#include "engine/exec/executor.h"

static const char no_span[] = "a run of a program compiled ahead spans processes";

void crossing_run_begin(Run *run, struct HostSpan *span)
{
    (void)run, (void)span;
    fail("%s", no_span);
}

void crossing_run_end(Run *run, const Error *error)
{
    (void)run, (void)error;
    fail("%s", no_span);
}

bool crossing_begin(Task *t, int k)
{
    (void)t, (void)k;
    fail("%s", no_span);
}

Error *crossing_send(Task *t, int k, int to)
{
    (void)t, (void)k, (void)to;
    fail("%s", no_span);
}

bool crossing_receive(Task *t, int k, int from)
{
    (void)t, (void)k, (void)from;
    fail("%s", no_span);
}

void crossing_free_lanes(Run *run)
{
    (void)run;
    fail("%s", no_span);
}

bool crossing_go_on(Task *t)
{
    (void)t;
    fail("%s", no_span);
}

bool crossing_wait(Run *run)
{
    (void)run;
    fail("%s", no_span);
}
