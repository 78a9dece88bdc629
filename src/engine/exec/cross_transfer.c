/* cross_transfer.c - an array goes to a device of another process, or comes from one, outside of any
 * program.
 *
 *     sender     waits until the contents are there, then exchanges them from where they lie
 *     receiver   exchanges at once, into the memory of a new array
 *
 * A transfer is a run of its own for the wire: from the call on, whoever is asked knows that it will come,
 * and the other process is told when it cannot. */
#include "engine/exec/cross_transfer.h"

#include "engine/exec/launch.h"
#include "engine/hosts/wire_runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRANSFERS = 0x78666572 }; /* the program that all of them are runs of */

typedef struct Transfer {
    Exchange exchange;
    WirePart part;
    WireRun run;       /* of the sender */
    Callback callback; /* the contents of the sender are there */
    Wire *wire;
    Storage *storage; /* held: what is sent, or received into */
    Event *done;      /* held */
    char where[160];
} Transfer;

static WirePlace place_of(const TransferName *name)
{
    return (WirePlace){
        .program = TRANSFERS, .run = name->key, .count = name->to, .group = (int32_t)name->from
    };
}

static void transfer_end(Transfer *t, Error *error)
{
    /* a message with a process that is lost may still name the memory, which then stays for ever */
    if (!t->exchange.is_left_behind)
        storage_release(t->storage);
    event_set(t->done, error);
    event_release(t->done);
    free(t);
}

/* Takes the hold on storage; NULL: no memory. */
static Transfer *transfer_new(Wire *wire, Type type, Storage *storage, const TransferName *name,
                              bool is_sent)
{
    Transfer *t = calloc(1, sizeof *t);
    Event *done = t ? event_new() : NULL;
    if (!done) {
        free(t);
        storage_release(storage);
        return NULL;
    }
    snprintf(t->where, sizeof t->where, "%s from device %d to device %d", type_name(type),
             name->from, name->to);
    t->wire = wire;
    t->storage = storage;
    t->done = done;
    t->part = (WirePart){ name->peer, is_sent, storage->data, type_bytes(type) };
    t->exchange = (Exchange){ .place = place_of(name),
                              .nparts = 1,
                              .parts = &t->part,
                              .user = t,
                              .name = "transfer",
                              .where = t->where };
    return t;
}

static Error *no_memory(Type type, const TransferName *name)
{
    return error_new(CODE_EXHAUSTED,
                     "no memory for the books of a transfer of %s from device %d to device %d",
                     type_name(type), name->from, name->to);
}

/* ---- sending ---- */

static void sent(Exchange *x, Error *error)
{
    Transfer *t = x->user;
    wire_run_drop(t->wire, &t->run, NULL, 0);
    transfer_end(t, error);
}

static void send_when_ready(Error *error, void *user)
{
    Transfer *t = user;
    if (error) {
        wire_run_drop(t->wire, &t->run, error_text(error), t->part.peer);
        transfer_end(t, error);
        return;
    }
    Wire *wire = t->wire;
    exchange_begin(wire, &t->exchange);
    wire_attend(wire);
}

/* The other process, which may be waiting already, is told why nothing comes.  Takes the error. */
static Event *refuse(Wire *wire, const TransferName *name, Error *error)
{
    WireRun run = { .program = TRANSFERS, .run = name->key };
    wire_run_add(wire, &run);
    wire_run_drop(wire, &run, error_text(error), name->peer);
    return event_ready(error);
}

/* The contents in row-major order, which is what the receiver's array has: *storage and *pending as of
 * buffer_hold. */
static Error *hold_row_major(Buffer *b, Storage **storage, Event **pending)
{
    if (!b->order)
        return buffer_hold(b, storage, pending);
    TRY(storage_new(b->device->memory, b->type, storage));
    Error *error = buffer_to_host_in_order(b, 0, (*storage)->data, type_bytes(b->type), pending);
    if (error)
        storage_release(*storage);
    return error;
}

void transfer_send(Wire *wire, Buffer *buffer, const TransferName *name, Event **done)
{
    Storage *storage = NULL;
    Event *pending = NULL;
    Error *error = hold_row_major(buffer, &storage, &pending);
    if (!error && !type_bytes(buffer->type)) { /* nothing crosses: the receiver waits for nothing */
        storage_release(storage);
        *done = pending ? pending : event_ready(NULL);
        return;
    }
    Transfer *t = error ? NULL : transfer_new(wire, buffer->type, storage, name, true);
    if (!t) {
        event_release(pending);
        *done = refuse(wire, name, error ? error : no_memory(buffer->type, name));
        return;
    }
    *done = event_hold(t->done);
    t->exchange.over = sent;
    t->run = (WireRun){ .program = TRANSFERS, .run = name->key };
    wire_run_add(wire, &t->run);
    t->callback = (Callback){ NULL, send_when_ready, t };
    if (pending)
        event_then(pending, &t->callback);
    else
        send_when_ready(NULL, t);
    event_release(pending);
}

/* ---- receiving ---- */

static void received(Exchange *x, Error *error)
{
    transfer_end(x->user, error);
}

Error *transfer_receive(Wire *wire, Device *device, Type type, const TransferName *name,
                        Buffer **out)
{
    TRY(executor_check(device->executor));
    Storage *storage;
    TRY(storage_new(device->memory, type, &storage));
    if (!type_bytes(type))
        return buffer_new(device, type, storage, NULL, out);
    Transfer *t = transfer_new(wire, type, storage_hold(storage), name, false);
    if (!t) {
        storage_release(storage);
        return no_memory(type, name);
    }
    Error *error = buffer_new(device, type, storage, t->done, out);
    if (error) {
        transfer_end(t, NULL);
        return error;
    }
    t->exchange.over = received;
    exchange_begin(wire, &t->exchange);
    wire_attend(wire);
    return NULL;
}
