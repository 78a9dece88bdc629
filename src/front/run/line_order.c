/* line_order.c - a queue of lines for each device, and whose turn it is */
#include "front/run/line_order.h"

#include "base/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct HeldLine {
    struct HeldLine *next;
    size_t n;
    char text[];
} HeldLine;

typedef struct LineQueue {
    HeldLine *first, *last; /* first is NULL: it is empty */
} LineQueue;

static Lock lock; /* of all below, and of the orders in the list */
static LineOrder *orders;
static int last_id;

void line_say(Str line)
{
    fwrite(line.at, 1, line.n, stdout);
    fflush(stdout);
}

/* Says the oldest line that a device has; false: it has none. */
static bool say_oldest(LineOrder *o, int device)
{
    HeldLine *line = o->held[device].first;
    if (!line)
        return false;
    o->held[device].first = line->next;
    line_say((Str){ line->text, line->n });
    free(line);
    return true;
}

/* All that is held, in order, whoever has said less than the others. */
static void say_rest(LineOrder *o)
{
    for (int nsilent = 0; o->held && nsilent < o->n; o->turn = (o->turn + 1) % o->n)
        nsilent = say_oldest(o, o->turn) ? 0 : nsilent + 1;
    o->turn = 0;
}

/* False: no memory to hold it. */
static bool hold(LineOrder *o, int device, Str line)
{
    if (!o->held)
        o->held = calloc((size_t)o->n, sizeof *o->held);
    HeldLine *held = o->held ? malloc(sizeof *held + line.n) : NULL;
    if (!held)
        return false;
    *held = (HeldLine){ .n = line.n };
    memcpy(held->text, line.at, line.n);
    LineQueue *queue = &o->held[device];
    *(queue->first ? &queue->last->next : &queue->first) = held;
    queue->last = held;
    return true;
}

void line_order_begin(LineOrder *o, int first, int n)
{
    lock_take(&lock);
    last_id = last_id < INT32_MAX ? last_id + 1 : 1;
    *o = (LineOrder){ .id = last_id, .first = first, .n = n, .next = orders };
    orders = o;
    lock_give(&lock);
}

void line_order_end(LineOrder *o)
{
    lock_take(&lock);
    say_rest(o);
    LineOrder **at = &orders;
    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    lock_give(&lock);
    free(o->held);
}

void line_order_say(int id, int device, Str line)
{
    lock_take(&lock);
    LineOrder *o = orders;
    while (o && o->id != id)
        o = o->next;
    int k = o ? device - o->first : -1;
    if (o && device < 0)
        say_rest(o); /* all devices have come to where this is said */
    if (k < 0 || k >= o->n || !hold(o, k, line)) {
        line_say(line);
    } else {
        while (say_oldest(o, o->turn))
            o->turn = (o->turn + 1) % o->n;
    }
    lock_give(&lock);
}
