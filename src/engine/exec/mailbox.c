/* mailbox.c - send and recv: what one device hands to another without all of them meeting.
 *
 *     send: the operands become a letter; the sender goes on at once
 *     recv: takes the oldest letter of its channel from its source, or waits for one
 *
 * The pairs (source, target) number partitions, or replicas where there is one partition.  Who is
 * nobody's source sends nothing; who is nobody's target receives zeros. */
#include "engine/collectives/group.h"
#include "engine/exec/executor.h"
#include "engine/exec/stats.h"

#include <stdlib.h>
#include <string.h>

typedef struct Letter {
    struct Letter *next;
    const Meeting *send;
    int64_t channel;
    const Task *from, *to;
    Memory *memory; /* that `data` was taken from */
    char *data;     /* the operands, one behind the other */
    size_t bytes;
} Letter;

static const SendAttrs *attrs_of(const Meeting *m)
{
    return m->attrs;
}

/* Who sends to t, or whom t sends to; NULL: nobody. */
static Task *partner(const Task *t, const Meeting *m, bool is_sender)
{
    const Program *p = t->run->program;
    bool by_partition = p->npartitions > 1;
    int me = by_partition ? t->frame.partition : t->frame.replica;
    Matrix pairs = attrs_of(m)->source_target_pairs;
    for (int i = 0; i < pairs.rows; i++) {
        const int64_t *pair = pairs.at + 2 * i;
        if (pair[is_sender ? 0 : 1] != me)
            continue;
        int other = (int)pair[is_sender ? 1 : 0];
        return &t->run->tasks[by_partition ? t->frame.replica * p->npartitions + other : other];
    }
    return NULL;
}

/* All but the token, which comes last. */
static size_t bytes_of(int n, const Type *types)
{
    size_t bytes = 0;
    for (int i = 0; i + 1 < n; i++)
        bytes += type_bytes(types[i]);
    return bytes;
}

static void letter_free(Letter *letter)
{
    if (letter->data)
        memory_give(letter->memory, letter->data, letter->bytes);
    free(letter);
}

static Error *letter_write(Task *t, const Meeting *m, Letter **out)
{
    Letter *letter = calloc(1, sizeof *letter);
    if (!letter)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for a letter", m->name, meeting_where(m));
    *letter = (Letter){ .send = m, .channel = attrs_of(m)->channel_id, .from = t,
                        .to = partner(t, m, true), .memory = t->device->memory,
                        .bytes = bytes_of(m->nin, m->in_types) };
    void *data = NULL;
    Error *error = letter->bytes ? memory_take(letter->memory, letter->bytes, &data) : NULL;
    letter->data = data;
    if (error) {
        letter_free(letter);
        return error;
    }
    char *to = letter->data;
    for (int i = 0; i + 1 < m->nin; i++) {
        size_t bytes = type_bytes(m->in_types[i]);
        if (bytes)
            memcpy(to, frame_at(&t->frame, m->in[i]), bytes);
        to += bytes;
    }
    *out = letter;
    return NULL;
}

static Error *misfit(const Letter *letter, const Meeting *m)
{
    Text text = { .is_message = true };
    for (int k = 0; k < 2; k++) {
        const Meeting *side = k ? m : letter->send;
        int n = k ? m->nout : letter->send->nin;
        text_printf(&text, k ? " and recv (%s) takes" : "send (%s) gives", meeting_where(side));
        for (int i = 0; i + 1 < n; i++)
            text_printf(&text, "%s %s", i ? "," : "",
                        type_name(k ? m->out_types[i] : letter->send->in_types[i]));
    }
    Error *error = error_new(CODE_PRECONDITION, "channel %lld from device %d to device %d: %s",
                             (long long)letter->channel, letter->from->device->id,
                             letter->to->device->id, text_cstr(&text));
    text_free(&text);
    return error;
}

/* Into the results of the letter's addressee, who stands at recv m. */
static Error *letter_read(const Letter *letter, const Meeting *m)
{
    bool fits = letter->send->nin == m->nout;
    for (int i = 0; fits && i + 1 < m->nout; i++)
        fits = type_equal(letter->send->in_types[i], m->out_types[i]);
    if (!fits)
        return misfit(letter, m);
    const char *from = letter->data;
    for (int i = 0; i + 1 < m->nout; i++) {
        size_t bytes = type_bytes(m->out_types[i]);
        if (bytes)
            memcpy(frame_at(&letter->to->frame, m->out[i]), from, bytes);
        from += bytes;
    }
    stat_add(STAT_MEETINGS, 1);
    return NULL;
}

static const Meeting *meeting_of(const Task *t)
{
    return &t->run->program->meetings[t->meeting];
}

static bool awaits(const Task *t, const Letter *letter)
{
    if (!t->waits || meeting_of(t)->op != OP_RECV)
        return false;
    const Meeting *m = meeting_of(t);
    return attrs_of(m)->channel_id == letter->channel && partner(t, m, false) == letter->from;
}

/* Into the box, or if the addressee waits for it, to be handed over: then it is listed. */
static void drop_in(Run *run, Letter *letter, TaskList *waiting)
{
    Task *to = (Task *)letter->to;
    run_lock(run);
    if (awaits(to, letter)) {
        to->waits = false;
        run->nmoving++;
        list_add(waiting, to);
    } else {
        Letter **end = &run->letters;
        while (*end)
            end = &(*end)->next;
        *end = letter;
    }
    run_unlock(run);
}

bool post_send(Task *t, int k)
{
    Run *run = t->run;
    const Meeting *m = &run->program->meetings[k];
    Letter *letter = NULL;
    t->next_stretch = m->next;
    if (!partner(t, m, true))
        return true;
    Error *error = letter_write(t, m, &letter);
    if (error) {
        run_fail(run, error);
        return true;
    }
    TaskList waiting;
    list_start(&waiting);
    yield_at_random();
    drop_in(run, letter, &waiting);
    if (!waiting.first)
        return true;
    error = letter_read(letter, meeting_of(waiting.first));
    letter_free(letter);
    if (error)
        run_fail(run, error);
    tasks_ready(run, &waiting);
    return true;
}

static Letter *take_out(Run *run, const Task *to, const Task *from, int64_t channel)
{
    for (Letter **link = &run->letters; *link; link = &(*link)->next) {
        Letter *letter = *link;
        if (letter->to != to || letter->from != from || letter->channel != channel)
            continue;
        *link = letter->next;
        return letter;
    }
    return NULL;
}

bool post_take(Task *t, int k)
{
    Run *run = t->run;
    const Meeting *m = &run->program->meetings[k];
    const Task *from = partner(t, m, false);
    if (!from) {
        meeting_skip(m, &t->frame);
        t->next_stretch = m->next;
        return true;
    }
    TaskList released;
    list_start(&released);
    yield_at_random();
    run_lock(run);
    Letter *letter = take_out(run, t, from, attrs_of(m)->channel_id);
    bool has_failed = run->error != NULL;
    if (letter)
        t->next_stretch = m->next;
    else if (!has_failed)
        task_wait_locked(t, k, &released);
    run_unlock(run);
    tasks_ready(run, &released);
    if (!letter)
        return has_failed;
    Error *error = letter_read(letter, m);
    letter_free(letter);
    if (error)
        run_fail(run, error);
    return true;
}

void post_describe(const Run *run, Text *out)
{
    for (int d = 0; d < run->program->ndevices; d++) {
        const Task *t = &run->tasks[d];
        if (!t->waits || meeting_of(t)->op != OP_RECV)
            continue;
        const Meeting *m = meeting_of(t);
        const Task *from = partner(t, m, false);
        text_printf(out, "%s%s (%s): device %d waits for device %d, which ", out->n ? "\n" : "",
                    m->name, meeting_where(m), t->device->id, from->device->id);
        if (from->waits)
            text_printf(out, "waits in %s (%s)", meeting_of(from)->name, meeting_where(meeting_of(from)));
        else
            text_printf(out, "has finished");
    }
}

void post_end(Run *run)
{
    for (Letter *letter = run->letters, *next; letter; letter = next) {
        next = letter->next;
        if (!run->error)
            run->error = error_new(CODE_PRECONDITION,
                                   "%s (%s): device %d sent on channel %lld to device %d, which "
                                   "has finished without taking it",
                                   letter->send->name, meeting_where(letter->send),
                                   letter->from->device->id, (long long)letter->channel,
                                   letter->to->device->id);
        letter_free(letter);
    }
    run->letters = NULL;
}
