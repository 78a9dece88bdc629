/* cross_transfer.h - an array goes to a device of another process, or comes from one, outside of any
 * program. */
#ifndef TUTTI_ENGINE_EXEC_CROSS_TRANSFER_H
#define TUTTI_ENGINE_EXEC_CROSS_TRANSFER_H
#include "engine/exec/buffer.h"
#include "engine/hosts/wire.h"

/* Which transfer it is: both processes name it alike. */
typedef struct TransferName {
    int64_t key;
    int from, to; /* devices */
    int peer;     /* the other process */
} TransferName;

/* Sends what the buffer holds, once it is there.  Never waits, and never fails at once: *done, a new hold,
 * says how it ended, and so does the array on the other side. */
void transfer_send(Wire *wire, Buffer *buffer, const TransferName *name, Event **done);
/* A new array on the device, which is ready when all of it has come. */
MUST_USE Error *transfer_receive(Wire *wire, struct Device *device, Type type,
                                 const TransferName *name, Buffer **out);
#endif
