/* mailbox.c - send and recv: messages from one task of a run to another.
 *
 *     send: the operands become a message; the sending task goes on at once
 *     recv: the task takes the oldest message of its channel from its source, or waits for one
 *
 * The pairs (source, target) number partitions, or replicas where there is one partition.  A task
 * that is no pair's source sends nothing; one that is no pair's target receives zeros. */
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"
#include "engine/stats.h"

#include <stdlib.h>
#include <string.h>

typedef struct Message {
    struct Message *next;
    const Collective *send;
    int64_t channel;
    const Task *from, *to;
    Memory *memory; /* that `data` was taken from */
    char *data;     /* the operands, one after the other */
    size_t bytes;
} Message;

static const SendAttrs *attrs_of(const Collective *c)
{
    return c->attrs;
}

/* The number of the device that t sends to (is_sender), or that sends to t; -1: none. */
static int partner_number(const Task *t, const Collective *c, bool is_sender)
{
    const Program *p = t->run->program;
    bool by_partition = p->npartitions > 1;
    int me = by_partition ? t->frame.partition : t->frame.replica;
    Matrix pairs = attrs_of(c)->source_target_pairs;
    for (int i = 0; i < pairs.rows; i++) {
        const int64_t *pair = pairs.at + 2 * i;
        if (pair[is_sender ? 0 : 1] != me)
            continue;
        int other = (int)pair[is_sender ? 1 : 0];
        return by_partition ? t->frame.replica * p->npartitions + other : other;
    }
    return -1;
}

/* The task itself; NULL: there is none, or it is in another process. */
static Task *partner(const Task *t, const Collective *c, bool is_sender)
{
    int number = partner_number(t, c, is_sender);
    return number < 0 ? NULL : run_task(t->run, number);
}

/* The number of the partner, if it is in another process; else -1. */
static int partner_elsewhere(const Task *t, const Collective *c, bool is_sender)
{
    int number = partner_number(t, c, is_sender);
    return number < 0 || run_task(t->run, number) ? -1 : number;
}

/* All but the token, which comes last. */
static size_t payload_bytes(int n, const Type *types)
{
    size_t bytes = 0;
    for (int i = 0; i + 1 < n; i++)
        bytes += type_bytes(types[i]);
    return bytes;
}

static void message_free(Message *message)
{
    if (message->data)
        memory_give(message->memory, message->data, message->bytes);
    free(message);
}

static Error *message_new(Task *t, const Collective *c, Message **out)
{
    Message *message = calloc(1, sizeof *message);
    if (!message)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for a message", c->name,
                         collective_where(c));
    *message = (Message){ .send = c,
                          .channel = attrs_of(c)->channel_id,
                          .from = t,
                          .to = partner(t, c, true),
                          .memory = t->device->memory,
                          .bytes = payload_bytes(c->nin, c->in_types) };
    void *data = NULL;
    Error *error = message->bytes ? memory_take(message->memory, message->bytes, &data) : NULL;
    message->data = data;
    if (error) {
        message_free(message);
        return error;
    }
    char *to = message->data;
    for (int i = 0; i + 1 < c->nin; i++) {
        size_t bytes = type_bytes(c->in_types[i]);
        if (bytes)
            memcpy(to, frame_at(&t->frame, c->in[i]), bytes);
        to += bytes;
    }
    *out = message;
    return NULL;
}

static Error *misfit(const Message *message, const Collective *c)
{
    Text text = { .is_message = true };
    for (int k = 0; k < 2; k++) {
        const Collective *side = k ? c : message->send;
        int n = k ? c->nout : message->send->nin;
        text_printf(&text, k ? " and recv (%s) takes" : "send (%s) gives", collective_where(side));
        for (int i = 0; i + 1 < n; i++)
            text_printf(&text, "%s %s", i ? "," : "",
                        type_name(k ? c->out_types[i] : message->send->in_types[i]));
    }
    Error *error = error_new(CODE_PRECONDITION, "channel %lld from device %d to device %d: %s",
                             (long long)message->channel, message->from->device->id,
                             message->to->device->id, text_cstr(&text));
    text_free(&text);
    return error;
}

/* Copies a message into the results of its addressee, which stands at recv c. */
static Error *message_deliver(const Message *message, const Collective *c)
{
    bool fits = message->send->nin == c->nout;
    for (int i = 0; fits && i + 1 < c->nout; i++)
        fits = type_equal(message->send->in_types[i], c->out_types[i]);
    if (!fits)
        return misfit(message, c);
    const char *from = message->data;
    for (int i = 0; i + 1 < c->nout; i++) {
        size_t bytes = type_bytes(c->out_types[i]);
        if (bytes)
            memcpy(frame_at(&message->to->frame, c->out[i]), from, bytes);
        from += bytes;
    }
    stat_add(STAT_COLLECTIVES, 1);
    return NULL;
}

static bool awaits(const Task *t, const Message *message)
{
    if (!t->is_waiting || task_collective(t)->op != OP_RECV)
        return false;
    const Collective *c = task_collective(t);
    return attrs_of(c)->channel_id == message->channel && partner(t, c, false) == message->from;
}

/* Puts a message into the mailbox; or, if its addressee waits for it, lists the addressee in
 * `waiting`: then the caller is to deliver the message, and to make the addressee ready. */
static void put(Run *run, Message *message, TaskList *waiting)
{
    Task *to = (Task *)message->to;
    run_lock(run);
    if (awaits(to, message)) {
        to->is_waiting = false;
        run->nrunnable++;
        task_list_add(waiting, to);
    } else {
        Message **end = &run->messages;
        while (*end)
            end = &(*end)->next;
        *end = message;
    }
    run_unlock(run);
}

bool mailbox_send(Task *t, int k)
{
    Run *run = t->run;
    const Collective *c = &run->program->collectives[k];
    Message *message = NULL;
    t->next_segment = c->next;
    int elsewhere = partner_elsewhere(t, c, true);
    if (elsewhere < 0 && !partner(t, c, true))
        return true;
    Error *error = elsewhere < 0 ? message_new(t, c, &message) : crossing_send(t, k, elsewhere);
    if (error) {
        run_fail(run, error);
        return true;
    }
    if (elsewhere >= 0)
        return true;
    TaskList waiting;
    task_list_start(&waiting);
    yield_at_random();
    put(run, message, &waiting);
    if (!waiting.first)
        return true;
    error = message_deliver(message, task_collective(waiting.first));
    message_free(message);
    if (error)
        run_fail(run, error);
    executor_push_released(run, &waiting);
    return true;
}

/* NULL: there is none.  The run's lock is held. */
static Message *take(Run *run, const Task *to, const Task *from, int64_t channel)
{
    for (Message **link = &run->messages; *link; link = &(*link)->next) {
        Message *message = *link;
        if (message->to != to || message->from != from || message->channel != channel)
            continue;
        *link = message->next;
        return message;
    }
    return NULL;
}

bool mailbox_receive(Task *t, int k)
{
    Run *run = t->run;
    const Collective *c = &run->program->collectives[k];
    int elsewhere = partner_elsewhere(t, c, false);
    if (elsewhere >= 0)
        return crossing_receive(t, k, elsewhere);
    const Task *from = partner(t, c, false);
    if (!from) {
        collective_skip(c, &t->frame);
        t->next_segment = c->next;
        return true;
    }
    TaskList released;
    task_list_start(&released);
    yield_at_random();
    run_lock(run);
    Message *message = take(run, t, from, attrs_of(c)->channel_id);
    bool has_failed = run->error != NULL;
    if (message)
        t->next_segment = c->next;
    else if (!has_failed)
        task_wait_locked(t, k, &released);
    run_unlock(run);
    executor_push_released(run, &released);
    if (!message)
        return has_failed;
    Error *error = message_deliver(message, c);
    message_free(message);
    if (error)
        run_fail(run, error);
    return true;
}

void mailbox_describe(const Run *run, Text *out)
{
    for (int d = 0; d < run->ntasks; d++) {
        const Task *t = &run->tasks[d];
        if (!t->is_waiting || task_collective(t)->op != OP_RECV)
            continue;
        const Collective *c = task_collective(t);
        const Task *from = partner(t, c, false);
        if (!from)
            continue; /* it is in another process, and no deadlock is known here */
        text_printf(out, "%s%s (%s): device %d waits for device %d, which ", out->n ? "\n" : "",
                    c->name, collective_where(c), t->device->id, from->device->id);
        if (from->is_waiting)
            text_printf(out, "waits in %s (%s)", task_collective(from)->name,
                        collective_where(task_collective(from)));
        else
            text_printf(out, "has finished");
    }
}

void mailbox_end(Run *run)
{
    for (Message *message = run->messages, *next; message; message = next) {
        next = message->next;
        if (!run->error)
            run->error = error_new(CODE_PRECONDITION,
                                   "%s (%s): device %d sent on channel %lld to device %d, which "
                                   "has finished without taking it",
                                   message->send->name, collective_where(message->send),
                                   message->from->device->id, (long long)message->channel,
                                   message->to->device->id);
        message_free(message);
    }
    run->messages = NULL;
    if (run->lanes)
        crossing_free_lanes(run);
}
