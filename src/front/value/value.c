/* value.c - slots: what a `tt` names, for as long as it does.
 *
 *     tt { slot 7, generation 3 }          slot 7:  state = 3 << 32 | ended | pins      held
 *
 *     slot_new     free -> generation 3, no pins            the owner (a scope or a trace) has it
 *     value_pin    pins + 1, if the generation is still 3 and not ended
 *     slot_end     ended; when no pins are left, clear
 *     value_unpin  pins - 1; when that was the last and it is ended, clear
 *     clear        lets go of what is held; generation 4; back to the free slots
 *
 * The thread that makes the state {ended, no pins} clears: exactly one call of slot_end or
 * value_unpin does, since both change the state in one atomic step, and value_pin refuses a slot
 * that has ended.  `held` is written before the state that makes it visible, and cleared after the
 * last pin is gone, so a thread with a pin reads it without a lock.
 *
 * Slots lie in chunks that never move or go.  Free ones are a list through `behind`. */
#include "front/value/value.h"

#include "base/fail.h"
#include "base/grow.h"
#include "base/sync.h"
#include "front/value/array.h"
#include "front/value/report.h"
#include "front/value/slot.h"
#include "front/value/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512, CHUNKS = 1 << 16 };

#define ENDED ((uint64_t)1 << 31)
#define PINS (ENDED - 1)
#define ABSENT_MARK ((uint32_t)1 << 31)

static _Atomic(Slot *) chunks[CHUNKS];
static Lock table;                  /* guards the two below, and `behind` of free slots */
static _Atomic uint32_t nslots = 1; /* handed out so far; slot 0 is no value */
static uint32_t free_slots;

Slot *slot_at(uint32_t slot)
{
    if (slot / CHUNK >= CHUNKS)
        return NULL;
    /* acquire: pairs with the release in take_slot, so that the chunk is seen zeroed */
    Slot *chunk = atomic_load_explicit(&chunks[slot / CHUNK], memory_order_acquire);
    return chunk ? &chunk[slot % CHUNK] : NULL;
}

/* Holding `table`: a free slot, or one never used before; 0: the table is full, or there is no memory. */
static uint32_t take_slot(void)
{
    uint32_t slot = free_slots;
    if (slot) {
        free_slots = slot_at(slot)->behind;
    } else if (nslots / CHUNK < CHUNKS) {
        Slot *chunk = slot_at(nslots) ? NULL : calloc(CHUNK, sizeof *chunk);
        /* release: pairs with the acquire in slot_at */
        if (chunk)
            atomic_store_explicit(&chunks[nslots / CHUNK], chunk, memory_order_release);
        if (slot_at(nslots))
            slot = nslots++;
    }
    return slot;
}

static tt report_full(void)
{
    return report_broken("there are %u values at once, and no memory for more; end some with "
                         "TT_SCOPE",
                         atomic_load_explicit(&nslots, memory_order_relaxed) - 1);
}

/* The slot, which is the caller's alone, becomes a value. */
static tt fill_slot(uint32_t number, Held held, const char *how, const char *name)
{
    Slot *slot = slot_at(number);
    uint32_t generation = (uint32_t)(atomic_load(&slot->state) >> 32);
    if (!generation)
        generation = 1; /* all zero is no value */
    slot->held = held;
    if (!held.array) {
        if (held.type.rank)
            memcpy(slot->dims, held.type.dims, sizeof *slot->dims * (size_t)held.type.rank);
        slot->held.type.dims = slot->dims;
    }
    /* relaxed: a thread that looks at it under `lists` may hold an older value of this slot, and
     * then takes either for none */
    atomic_store_explicit(&slot->owner, NULL, memory_order_relaxed);
    slot->before = slot->behind = 0;
    Origin *origin = &slot->origin[generation & 1];
    /* relaxed: only messages read them, and a message may be a moment late */
    atomic_store_explicit(&origin->file, call_site.file, memory_order_relaxed);
    atomic_store_explicit(&origin->line, call_site.line, memory_order_relaxed);
    atomic_store_explicit(&origin->how, how, memory_order_relaxed);
    atomic_store_explicit(&origin->name, name, memory_order_relaxed);
    /* release: pairs with the acquire in value_pin */
    atomic_store_explicit(&slot->state, (uint64_t)generation << 32, memory_order_release);
    return (tt){ number, generation };
}

tt slot_new(Held held, const char *how, const char *name)
{
    lock_take(&table);
    uint32_t number = take_slot();
    lock_give(&table);
    return number ? fill_slot(number, held, how, name) : report_full();
}

int slot_new_arrays(int n, Array *const *arrays, const bool *is_weak, tt *out)
{
    int taken = 0;
    lock_take(&table);
    while (taken < n && (out[taken].slot = take_slot()))
        taken++;
    lock_give(&table);
    for (int i = 0; i < taken; i++) {
        Held held = { .array = arrays[i], .type = arrays[i]->type, .is_weak = is_weak[i] };
        out[i] = fill_slot(out[i].slot, held, NULL, NULL);
    }
    if (taken < n)
        report_full();
    return taken;
}

static void clear_slot(uint32_t number, uint64_t state)
{
    Slot *slot = slot_at(number);
    Array *array = slot->held.array;
    slot->held = (Held){ 0 };
    uint32_t next = (uint32_t)(state >> 32) + 1u;
    /* release: pairs with the load in slot_new, and lets a stale look see the next generation */
    atomic_store_explicit(&slot->state, (uint64_t)next << 32 | ENDED, memory_order_release);
    lock_take(&table);
    slot->behind = free_slots;
    free_slots = number;
    lock_give(&table);
    if (array)
        array_release(array);
}

void slot_end(uint32_t number)
{
    Slot *slot = slot_at(number);
    /* acq_rel: the release lets the last unpin clear; the acquire sees what unpins did */
    uint64_t was = atomic_fetch_or_explicit(&slot->state, ENDED, memory_order_acq_rel);
    require(!(was & ENDED));
    if (!(was & PINS))
        clear_slot(number, was);
}

bool slot_is(uint32_t number, uint32_t generation)
{
    Slot *slot = generation ? slot_at(number) : NULL;
    if (!slot)
        return false;
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    return state >> 32 == generation && !(state & ENDED);
}

/* Why x is not there any more: as much as is still known of it. */
static void report_stale(tt x, const char *who, const char *what)
{
    static const char scope[] = "carry it out with tt_keep, or store it with tt_assign";
    Slot *slot = slot_at(x.slot);
    uint32_t now = slot ? (uint32_t)(atomic_load(&slot->state) >> 32) : 0;
    if (!slot || !x.generation || x.generation > now) {
        report_broken("%s: %s is nothing that Tutti made: a tree has no fields but tt; a number "
                      "becomes one by tt_scalar, and what is no array stays outside",
                      who, what);
        return;
    }
    if (now - x.generation > 1) {
        report_broken("%s: the scope or trace of %s has ended: %s", who, what, scope);
        return;
    }
    Origin *origin = &slot->origin[x.generation & 1];
    const char *file = atomic_load_explicit(&origin->file, memory_order_relaxed);
    int line = atomic_load_explicit(&origin->line, memory_order_relaxed);
    const char *how = atomic_load_explicit(&origin->how, memory_order_relaxed);
    const char *name = atomic_load_explicit(&origin->name, memory_order_relaxed);
    char where[512] = "";
    if (file)
        snprintf(where, sizeof where, " made at %s:%d", file, line);
    if (how)
        report_broken(
            "%s: %s%s while tracing %s(%s) has outlived that trace: a traced value leaves its "
            "function only as a result",
            who, what, where, how, name);
    else
        report_broken("%s: %s%s has ended with its scope: %s", who, what, where, scope);
}

/* The slot, pinned, or NULL when x is stale. */
static Slot *pin(tt x)
{
    Slot *slot = slot_at(x.slot);
    if (!slot)
        return NULL;
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    do {
        if (state >> 32 != x.generation || state & ENDED)
            return NULL;
        /* acquire: pairs with the release in slot_new, so that `held` is seen */
    } while (!atomic_compare_exchange_weak_explicit(&slot->state, &state, state + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return slot;
}

/* The name of a mark; NULL: x is none. */
static const char *absent_name(tt x)
{
    bool is_mark = !x.slot && x.generation >= ABSENT_MARK && session;
    uint32_t i = x.generation - ABSENT_MARK;
    return is_mark && i < (uint32_t)session->nabsent ? session->absent[i] : NULL;
}

bool value_is_absent(tt x)
{
    return !x.slot && (x.generation ? absent_name(x) != NULL : !report_is_kept());
}

tt value_absent(const char *name)
{
    Session *s = session;
    ROOM(s->m->arena, s->absent, s->nabsent, &s->absent_room);
    s->absent[s->nabsent] = str_copy(s->m->arena, str_of(name)).at;
    return (tt){ 0, ABSENT_MARK + (uint32_t)s->nabsent++ };
}

void value_report(tt x, const char *who, const char *what)
{
    const char *absent = absent_name(x);
    if (absent)
        report_broken("%s: %s is absent: no array was given for it; tt_is_there asks for that", who,
                      absent);
    else if (x.generation || x.slot)
        report_stale(x, who, what);
    else if (!report_is_kept())
        report_broken("%s: %s is no array: it was never given one", who, what);
}

const Held *value_try_pin(tt x)
{
    Slot *slot = x.slot ? pin(x) : NULL;
    return slot ? &slot->held : NULL;
}

bool value_pin_as(tt x, const char *who, const char *what, Held *out)
{
    const Held *held = value_try_pin(x);
    if (held)
        *out = *held;
    else
        value_report(x, who, what);
    return held;
}

bool value_pin(tt x, const char *who, Held *out)
{
    return value_pin_as(x, who, "an argument", out);
}

void value_unpin(tt x)
{
    Slot *slot = slot_at(x.slot);
    /* acq_rel: what this thread did with `held` comes before its clearing, in any thread */
    uint64_t was = atomic_fetch_sub_explicit(&slot->state, 1, memory_order_acq_rel);
    require(was & PINS);
    if ((was & (ENDED | PINS)) == (ENDED | 1))
        clear_slot(x.slot, was);
}

bool value_shape(tt x, const char *who, Shape *out)
{
    Held held;
    if (!value_pin(x, who, &held))
        return false;
    out->element = held.type.element;
    out->rank = held.type.rank;
    if (held.type.rank)
        memcpy(out->dims, held.type.dims, sizeof *out->dims * (size_t)held.type.rank);
    out->is_weak = held.is_weak;
    out->is_traced = held.array == NULL;
    value_unpin(x);
    return true;
}

tt value_of_traced(Trace *trace, ValueId value, bool is_weak)
{
    Type type = type_of(trace->m, value);
    if (type.rank > TT_MAX_RANK)
        return report_broken("%s has %d axes; a value has at most %d", type_text(type), type.rank,
                             TT_MAX_RANK);
    tt x = slot_new((Held){ .trace = trace, .value = value, .type = type, .is_weak = is_weak },
                    trace->how, trace->name);
    if (x.generation) {
        /* Only this thread sees the list; `before` and `owner` are a scope's. */
        slot_at(x.slot)->behind = trace->values->first;
        trace->values->first = x.slot;
    }
    return x;
}

void value_end_list(ValueList *list)
{
    for (uint32_t slot = list->first; slot;) {
        uint32_t behind = slot_at(slot)->behind;
        slot_end(slot);
        slot = behind;
    }
    list->first = 0;
}

/* In the order of tt_dtype. */
static const Element elements[] = {
    I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128,
};
_Static_assert(sizeof elements / sizeof *elements == TT_C128 - TT_BOOL + 1, "one for each");

Element element_of(tt_dtype type)
{
    return elements[type - TT_BOOL];
}

Element element_canonical(Element e, bool is_weak)
{
    if (!is_weak)
        return e;
    return e == F64 ? F32 : e == I64 ? I32 : e == C128 ? C64 : e;
}

bool dtype_of(Element e, tt_dtype *out)
{
    for (int i = 0; i < (int)(sizeof elements / sizeof *elements); i++)
        if (elements[i] == e) {
            *out = (tt_dtype)(TT_BOOL + i);
            return true;
        }
    return false;
}
