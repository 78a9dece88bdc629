/* array.c - concrete arrays: from the host to devices, back, and from one layout to another.
 *
 *     host, row-major             tiling 2x2 on devices 0 1 2 3
 *     +-----------+               +-----+  +-----+
 *     | 0 0 1 1   |   cut  --->   |  0  |  |  1  |     each tile a buffer on its device
 *     | 0 0 1 1   |               +-----+  +-----+
 *     | 2 2 3 3   |   <--- join   +-----+  +-----+
 *     | 2 2 3 3   |               |  2  |  |  3  |
 *     +-----------+               +-----+  +-----+
 *
 * With several processes each has the buffers of its own devices, and NULL for the others'; an array
 * on layout_home lies whole in each of them.
 *
 * Arrays never change, so a buffer that two layouts have in common is lent rather than copied:
 * the borrower holds the lender. */
#include "front/value/array.h"

#include "base/fail.h"
#include "front/value/report.h"
#include "front/value/value.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void report_no_memory(Type type, int ndevices)
{
    report_broken("no memory on the host for %s on %d device%s", type_text(type), ndevices,
                  ndevices == 1 ? "" : "s");
}

/* Arrays that have ended, for those to come: a training step makes hundreds and ends as many.  Linked by
 * `lender`. */
enum { MOST_SPARE = 1024 };
static Lock spare_lock; /* guards the two below */
static Array *spare;
static int nspare;

static Array *take_spare(void)
{
    lock_take(&spare_lock);
    Array *a = spare;
    if (a) {
        spare = a->lender;
        nspare--;
    }
    lock_give(&spare_lock);
    return a ? a : malloc(sizeof *a);
}

static void give_spare(Array *a)
{
    lock_take(&spare_lock);
    bool is_kept = nspare < MOST_SPARE;
    if (is_kept) {
        a->lender = spare;
        spare = a;
        nspare++;
    }
    lock_give(&spare_lock);
    if (!is_kept)
        free(a);
}

/* NULL: reported. */
static Array *make(Type type, const ArrayLayout *layout)
{
    require(type.rank <= TT_MAX_RANK);
    Array *a = take_spare();
    if (!a)
        return report_no_memory(type, layout->ndevices), NULL;
    memset(a, 0, offsetof(Array, dims_));
    atomic_init(&a->holders, 1);
    a->type = (Type){ type.element, type.rank, a->dims_ };
    if (type.rank)
        memcpy(a->dims_, type.dims, sizeof *type.dims * (size_t)type.rank);
    a->layout = layout;
    return a;
}

static void free_buffers(PJRT_Buffer *const *buffers, int n)
{
    for (int d = 0; d < n; d++)
        client_free(buffers[d]);
}

Array *array_new(Type type, const ArrayLayout *layout, PJRT_Buffer *const *buffers)
{
    int n = layout->ndevices;
    Array *a = make(type, layout);
    bool is_own = a && n <= (int)(sizeof a->own_ / sizeof *a->own_);
    PJRT_Buffer **copy = is_own ? a->own_ : a ? malloc(sizeof *copy * (size_t)n) : NULL;
    if (a && !copy)
        report_no_memory(type, n);
    if (!copy) {
        free_buffers(buffers, n);
        if (a)
            give_spare(a);
        return NULL;
    }
    memcpy(copy, buffers, sizeof *copy * (size_t)n);
    atomic_init(&a->buffers_, copy);
    return a;
}

Array *array_hold(Array *a)
{
    /* relaxed: the caller has a hold already */
    atomic_fetch_add_explicit(&a->holders, 1, memory_order_relaxed);
    return a;
}

void array_release(Array *a)
{
    /* acq_rel: all use by others comes before the end */
    if (atomic_fetch_sub_explicit(&a->holders, 1, memory_order_acq_rel) > 1)
        return;
    PJRT_Buffer **buffers = atomic_load(&a->buffers_);
    for (int d = 0; buffers && d < a->layout->ndevices; d++)
        if (buffers[d] && !(a->is_lent && a->is_lent[d]))
            client_free(buffers[d]);
    if (buffers != a->own_)
        free(buffers);
    free(a->is_lent);
    if (a->lender)
        array_release(a->lender);
    if (a->resharded)
        array_release(a->resharded);
    give_spare(a);
}

bool array_is_sole(const Array *a)
{
    return atomic_load_explicit(&a->holders, memory_order_acquire) == 1 && !a->lender;
}

/* ---- Tiles. */

/* The box that device d of the layout holds. */
typedef struct Box {
    int64_t start[TT_MAX_RANK], extent[TT_MAX_RANK];
} Box;

static Box box_of(const ArrayLayout *l, Type whole, int d)
{
    Box box = { { 0 }, { 0 } };
    for (int i = 0; i < whole.rank; i++) {
        box.extent[i] = whole.dims[i];
        if (i < l->tiling.rank) {
            box.extent[i] /= l->tiling.tiles[i];
            box.start[i] = l->tiling.tile_of[d * l->tiling.rank + i] * box.extent[i];
        }
    }
    return box;
}

static bool box_equal(const Box *a, const Box *b, int rank)
{
    size_t bytes = sizeof *a->start * (size_t)rank;
    return memcmp(a->start, b->start, bytes) == 0 && memcmp(a->extent, b->extent, bytes) == 0;
}

/* The rows of a box, along the last axis, as they lie in the whole array. */
typedef struct Rows {
    const Box *box;
    int rank;
    int64_t strides[TT_MAX_RANK], index[TT_MAX_RANK];
    size_t element, bytes; /* of an element, of a row */
    int64_t n;
} Rows;

static Rows rows_of(Type whole, const Box *box)
{
    Rows rows = { .box = box, .rank = whole.rank, .n = 1 };
    rows.element = (size_t)element_info[whole.element].bytes;
    type_strides(whole, rows.strides);
    int last = whole.rank - 1;
    rows.bytes = rows.element * (size_t)(whole.rank ? box->extent[last] : 1);
    for (int i = 0; i < last; i++)
        rows.n *= box->extent[i];
    if (!rows.bytes)
        rows.n = 0;
    return rows;
}

/* Where the next begins, in bytes from the beginning of the whole. */
static size_t rows_next(Rows *rows)
{
    int64_t at = 0;
    for (int i = 0; i < rows->rank; i++)
        at += (rows->box->start[i] + rows->index[i]) * rows->strides[i];
    for (int i = rows->rank - 2; i >= 0 && ++rows->index[i] == rows->box->extent[i]; i--)
        rows->index[i] = 0;
    return (size_t)at * rows->element;
}

/* Copies between a box of the whole array and a dense tile. */
static void copy_box(Type whole, const Box *box, char *host, char *tile, bool to_tile)
{
    Rows rows = rows_of(whole, box);
    for (int64_t r = 0; r < rows.n; r++, tile += rows.bytes) {
        char *line = host + rows_next(&rows);
        memcpy(to_tile ? tile : line, to_tile ? line : tile, rows.bytes);
    }
}

/* Whether the box lies dense in the whole: only its first cut axis is not full. */
static bool is_dense(Type whole, const Box *box)
{
    int i = 0;
    while (i < whole.rank && box->extent[i] == 1)
        i++;
    for (i++; i < whole.rank; i++)
        if (box->extent[i] != whole.dims[i])
            return false;
    return true;
}

static size_t offset_of(Type whole, const Box *box)
{
    int64_t strides[TT_MAX_RANK], at = 0;
    type_strides(whole, strides);
    for (int i = 0; i < whole.rank; i++)
        at += box->start[i] * strides[i];
    return (size_t)at * (size_t)element_info[whole.element].bytes;
}

/* Room for a tile, unless it can be had in place; reported when there is none. */
static bool tile_room(Type tile, void **out)
{
    *out = malloc(type_bytes(tile) + 1);
    if (!*out)
        report_broken("no memory on the host for %s", type_text(tile));
    return *out != NULL;
}

/* ---- Several processes. */

static bool is_here(const ArrayLayout *l, int d)
{
    return client_process_of(l->devices[d]) == client_process();
}

/* Does a process have exactly this box of an array that lies so? */
static bool process_has(const ArrayLayout *l, Type whole, int process, const Box *box)
{
    for (int d = 0; d < l->ndevices; d++) {
        Box other = box_of(l, whole, d);
        if (client_process_of(l->devices[d]) == process && box_equal(box, &other, whole.rank))
            return true;
    }
    return false;
}

/* Does some process lack a tile?  Then all must take part in reading the array. */
static bool is_scattered(const Array *a)
{
    if (client_processes() == 1 || a->has_small || layout_is_everywhere(a->layout))
        return false;
    for (int d = 0; d < a->layout->ndevices; d++) {
        Box box = box_of(a->layout, a->type, d);
        for (int p = 0; p < client_processes(); p++)
            if (!process_has(a->layout, a->type, p, &box))
                return true;
    }
    return false;
}

/* Can every process make its tiles of another layout of tiles that it has?  All find the same
 * answer. */
static bool is_at_hand(const Array *a, const ArrayLayout *l)
{
    if (client_processes() == 1 || layout_is_everywhere(a->layout))
        return true;
    if (layout_is_everywhere(l))
        return !is_scattered(a);
    for (int d = 0; d < l->ndevices; d++) {
        Box box = box_of(l, a->type, d);
        if (!process_has(a->layout, a->type, client_process_of(l->devices[d]), &box))
            return false;
    }
    return true;
}

/* ---- Upload. */

static bool upload_box(Type whole, const char *data, const Box *box, int device, PJRT_Buffer **out)
{
    Type tile = { whole.element, whole.rank, box->extent };
    void *room = NULL;
    const char *from = data + offset_of(whole, box);
    if (!is_dense(whole, box)) {
        if (!tile_room(tile, &room))
            return false;
        copy_box(whole, box, (char *)data, room, true);
        from = room;
    }
    Error *error = client_upload(tile, from, device, out);
    free(room);
    if (error)
        report_error(error);
    return !error;
}

/* Of the boxes that a process holds, where along axis i the one that begins at `start` stands: its
 * data has them without the gaps between. */
static int64_t packed_start(const ArrayLayout *l, Type whole, int i, int64_t start)
{
    int64_t before = 0;
    for (int d = 0; d < l->ndevices; d++) {
        Box box = box_of(l, whole, d);
        bool counts = is_here(l, d) && box.start[i] < start;
        for (int e = 0; e < d && counts; e++) {
            Box other = box_of(l, whole, e);
            counts = !is_here(l, e) || other.start[i] != box.start[i];
        }
        before += counts ? box.extent[i] : 0;
    }
    return before;
}

/* Data is that of `type`, or, where `local` is another, of what this process holds of it.  All
 * buffers or, having said why, none: NULL. */
static PJRT_Buffer **upload(Type type, Type local, const void *data, const ArrayLayout *l)
{
    Error *error = client_need();
    if (error) {
        report_error(error);
        return NULL;
    }
    PJRT_Buffer **buffers = calloc((size_t)l->ndevices, sizeof *buffers);
    if (!buffers)
        return report_no_memory(type, l->ndevices), NULL;
    for (int d = 0; d < l->ndevices; d++) {
        Box box = box_of(l, type, d);
        if (!is_here(l, d))
            continue;
        for (int i = 0; i < type.rank; i++)
            if (local.dims[i] != type.dims[i])
                box.start[i] = packed_start(l, type, i, box.start[i]);
        if (!upload_box(local, data, &box, l->devices[d], &buffers[d])) {
            free_buffers(buffers, d);
            free(buffers);
            return NULL;
        }
    }
    return buffers;
}

static bool divides(Type type, const ArrayLayout *l)
{
    for (int i = 0; i < l->tiling.rank; i++)
        if (i >= type.rank || type.dims[i] % l->tiling.tiles[i] != 0) {
            report_broken("%s cannot be cut into %lld equal parts along axis %d", type_text(type),
                          (long long)l->tiling.tiles[i], i);
            return false;
        }
    return true;
}

Array *array_from_host(Type type, const void *data, const ArrayLayout *layout)
{
    if (!layout || !divides(type, layout))
        return NULL;
    PJRT_Buffer **buffers = NULL;
    bool is_small = type_bytes(type) <= SMALL;
    if (!is_small && !(buffers = upload(type, type, data, layout)))
        return NULL;
    Array *a = make(type, layout);
    if (!a) {
        free_buffers(buffers, buffers ? layout->ndevices : 0);
        free(buffers);
        return NULL;
    }
    atomic_init(&a->buffers_, buffers);
    a->has_small = is_small;
    if (is_small && type_bytes(type)) /* what is empty may have no memory */
        memcpy(a->small, data, type_bytes(type));
    return a;
}

Array *array_from_local(Type type, const ArrayLayout *layout, Type local, const void *data)
{
    PJRT_Buffer **buffers = upload(type, local, data, layout);
    Array *a = buffers ? array_new(type, layout, buffers) : NULL;
    free(buffers);
    return a;
}

PJRT_Buffer *const *array_buffers(Array *a)
{
    static pthread_mutex_t uploading = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&a->is_donated, memory_order_acquire))
        return report_broken(
                   "the memory of this %s was donated to an earlier call: use that call's "
                   "result, or leave its .donate out",
                   type_text(a->type)),
               NULL;
    /* acquire: pairs with the release below */
    PJRT_Buffer **buffers = atomic_load_explicit(&a->buffers_, memory_order_acquire);
    if (buffers)
        return buffers;
    pthread_mutex_lock(&uploading);
    buffers = atomic_load(&a->buffers_);
    if (!buffers) {
        buffers = upload(a->type, a->type, a->small, a->layout);
        atomic_store_explicit(&a->buffers_, buffers, memory_order_release);
    }
    pthread_mutex_unlock(&uploading);
    return buffers;
}

/* ---- Download. */

static bool download_tile(const Array *a, PJRT_Buffer *buffer, const Box *box, char *data)
{
    Type tile = { a->type.element, a->type.rank, box->extent };
    void *room = NULL;
    bool dense = is_dense(a->type, box);
    if (!dense && !tile_room(tile, &room))
        return false;
    Error *error = client_download(buffer, tile, dense ? data + offset_of(a->type, box) : room);
    if (!error && !dense)
        copy_box(a->type, box, data, room, false);
    free(room);
    if (error)
        report_error(error);
    return !error;
}

/* Is an earlier device's tile the same as d's? */
static bool is_repeated(const ArrayLayout *l, Type whole, int d)
{
    if (layout_is_whole(l))
        return d > 0;
    Box box = box_of(l, whole, d);
    for (int e = 0; e < d; e++) {
        Box other = box_of(l, whole, e);
        if (box_equal(&box, &other, whole.rank))
            return true;
    }
    return false;
}

/* The others, who read the array too, are told that this process cannot. */
static bool call_off(void)
{
    error_free(client_exchange(0, NULL)); /* why is reported already */
    return false;
}

/* The distinct tiles of an array, of which each process has some; all call this. */
static bool exchange_tiles(const Array *a, PJRT_Buffer *const *buffers, TuttiPiece *pieces,
                           char *data)
{
    const ArrayLayout *l = a->layout;
    int n = 0;
    bool ok = true;
    for (int d = 0; d < l->ndevices && ok; d++) {
        if (is_repeated(l, a->type, d))
            continue;
        Box box = box_of(l, a->type, d);
        Type tile = { a->type.element, a->type.rank, box.extent };
        TuttiPiece *piece = &pieces[n++];
        *piece = (TuttiPiece){ client_process_of(l->devices[d]), NULL, type_bytes(tile) };
        ok = tile_room(tile, &piece->data);
        Error *error = ok && buffers[d] ? client_download(buffers[d], tile, piece->data) : NULL;
        if (error)
            report_error(error);
        ok = ok && !error;
    }
    if (!ok)
        return call_off();
    Error *error = client_exchange(n, pieces);
    if (error)
        report_error(error);
    for (int d = 0, k = 0; d < l->ndevices && !error; d++) {
        Box box = box_of(l, a->type, d);
        if (!is_repeated(l, a->type, d))
            copy_box(a->type, &box, data, pieces[k++].data, false);
    }
    return !error;
}

static bool read_scattered(const Array *a, PJRT_Buffer *const *buffers, void *data)
{
    int n = a->layout->ndevices;
    TuttiPiece *pieces = calloc((size_t)n, sizeof *pieces);
    if (!pieces)
        return report_no_memory(a->type, n), call_off();
    bool ok = exchange_tiles(a, buffers, pieces, data);
    for (int k = 0; k < n; k++)
        free(pieces[k].data);
    free(pieces);
    return ok;
}

/* A device of this process that has the same tile as d; one has. */
static int device_here(const Array *a, int d)
{
    Box box = box_of(a->layout, a->type, d);
    for (int e = 0; e < a->layout->ndevices; e++) {
        Box other = box_of(a->layout, a->type, e);
        if (is_here(a->layout, e) && box_equal(&box, &other, a->type.rank))
            return e;
    }
    return d;
}

bool array_read(Array *a, void *data)
{
    if (data && a->has_small) {
        memcpy(data, a->small, type_bytes(a->type));
        return true;
    }
    PJRT_Buffer *const *buffers = data ? array_buffers(a) : NULL;
    if (!buffers)
        return is_scattered(a) ? call_off() : false;
    if (is_scattered(a))
        return read_scattered(a, buffers, data);
    for (int d = 0; d < a->layout->ndevices; d++) {
        if (is_repeated(a->layout, a->type, d))
            continue;
        Box box = box_of(a->layout, a->type, d);
        if (!download_tile(a, buffers[device_here(a, d)], &box, data))
            return false;
    }
    return true;
}

/* The device that tile d is taken from by whoever writes it: arrays that all devices have go to them
 * in turns. */
static int source_of(const ArrayLayout *l, int d, int turn)
{
    return layout_is_whole(l) ? turn % l->ndevices : d;
}

static bool is_mine(const ArrayLayout *l, int source, int turn)
{
    return layout_is_everywhere(l) ? turn % client_processes() == client_process()
                                   : is_here(l, source);
}

static Error *put_rows(Type whole, const Box *box, const char *tile, ArrayRun *run, void *user)
{
    Type type = { whole.element, whole.rank, box->extent };
    if (is_dense(whole, box))
        return run(user, offset_of(whole, box), tile, type_bytes(type));
    Rows rows = rows_of(whole, box);
    for (int64_t r = 0; r < rows.n; r++, tile += rows.bytes)
        TRY(run(user, rows_next(&rows), tile, rows.bytes));
    return NULL;
}

static Error *put_tile(Array *a, int d, PJRT_Buffer *buffer, ArrayRun *run, void *user)
{
    Box box = box_of(a->layout, a->type, d);
    Type tile = { a->type.element, a->type.rank, box.extent };
    if (!type_bytes(tile))
        return NULL;
    void *room = malloc(type_bytes(tile));
    if (!room)
        return error_new(CODE_EXHAUSTED, "no memory on the host for %s", type_text(tile));
    Error *error = client_download(buffer, tile, room);
    if (!error)
        error = put_rows(a->type, &box, room, run, user);
    free(room);
    return error;
}

Error *array_own_runs(Array *a, int turn, ArrayRun *run, void *user)
{
    const ArrayLayout *l = a->layout;
    PJRT_Buffer *const *buffers = array_buffers(a);
    if (!buffers)
        return error_new(CODE_INTERNAL, "%s cannot be read", type_text(a->type));
    for (int d = 0; d < l->ndevices; d++) {
        int source = source_of(l, d, turn);
        if (!is_repeated(l, a->type, d) && is_mine(l, source, turn))
            TRY(put_tile(a, d, buffers[source], run, user));
    }
    return NULL;
}

bool array_wait(Array *a)
{
    PJRT_Buffer *const *buffers = a->has_small ? NULL : array_buffers(a);
    if (!buffers)
        return a->has_small;
    for (int d = 0; d < a->layout->ndevices; d++) {
        Error *error = buffers[d] ? client_await(buffers[d]) : NULL;
        if (error) {
            report_error(error);
            return false;
        }
    }
    return true;
}

/* ---- From one layout to another. */

/* A part of a that holds exactly this box: on that device if there is one, else on any; -1. */
static int find_buffer(const Array *a, const Box *box, int device)
{
    int found = -1;
    for (int d = 0; d < a->layout->ndevices; d++) {
        Box other = box_of(a->layout, a->type, d);
        if (is_here(a->layout, d) && box_equal(box, &other, a->type.rank)) {
            found = d;
            if (a->layout->devices[d] == device)
                break;
        }
    }
    return found;
}

/* Borrows and copies tiles from device to device; *result stays NULL when some tile cannot be had
 * so.  False: a copy failed, and that is said. */
static bool reshard_buffers(Array *a, PJRT_Buffer *const *buffers, const ArrayLayout *l,
                            Array **result)
{
    Array *to = make(a->type, l);
    if (!to)
        return false;
    PJRT_Buffer **out = calloc((size_t)l->ndevices, sizeof *out);
    atomic_init(&to->buffers_, out);
    to->is_lent = calloc((size_t)l->ndevices, sizeof *to->is_lent);
    if (!out || !to->is_lent) {
        array_release(to);
        return report_no_memory(a->type, l->ndevices), false;
    }
    for (int d = 0; d < l->ndevices; d++) {
        if (!is_here(l, d))
            continue;
        Box box = box_of(l, a->type, d);
        int from = find_buffer(a, &box, l->devices[d]);
        Error *error = NULL;
        if (from >= 0 && a->layout->devices[from] == l->devices[d]) {
            out[d] = buffers[from];
            to->is_lent[d] = true;
            if (!to->lender)
                to->lender = array_hold(a);
        } else if (from >= 0) {
            error = client_copy(buffers[from], l->devices[d], &out[d]);
        }
        if (!out[d]) {
            array_release(to);
            if (error)
                report_error(error);
            return !error;
        }
    }
    *result = to;
    return true;
}

Array *array_reshard(Array *a, const ArrayLayout *layout)
{
    if (a->layout == layout)
        return array_hold(a);
    if (!divides(a->type, layout))
        return NULL;
    lock_take(&a->lock);
    Array *to = a->resharded && a->resharded->layout == layout ? array_hold(a->resharded) : NULL;
    lock_give(&a->lock);
    if (to)
        return to;
    if (!a->has_small && is_at_hand(a, layout)) {
        PJRT_Buffer *const *buffers = array_buffers(a);
        if (!buffers || !reshard_buffers(a, buffers, layout, &to))
            return NULL;
    }
    void *host = NULL;
    if (!to) {
        tile_room(a->type, &host);
        to = array_read(a, host) ? array_from_host(a->type, host, layout) : NULL;
        free(host);
    }
    /* The last other layout of an array is kept: a loop that maps over the same data cuts it once.
     * A result that borrows from a is not kept, since the two would hold each other for ever. */
    if (to && !to->lender) {
        lock_take(&a->lock);
        Array *old = a->resharded;
        a->resharded = array_hold(to);
        lock_give(&a->lock);
        if (old)
            array_release(old);
    }
    return to;
}
