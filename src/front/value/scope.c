/* scope.c - the owners of concrete values: lists of slots, one per open scope of every thread.
 *
 *     thread 1:   root { v1, v9 }  <-  scope { v2, v3 }  <-  scope { v4 }      innermost
 *     thread 2:   root { v5 }
 *
 * A value made by a thread goes to its innermost scope, and ends with that; the root ends with
 * the thread.  tt_keep and tt_assign make another slot that holds the same array, in an outer
 * scope, so what the inner one owns is never taken from it.  tt_assign must find the scope of
 * what the variable held, which may be another thread's: so all lists are doubly linked and stand
 * under one lock, held for a few instructions at a time.  A scope may be freed when its list is
 * empty, since others find a scope only through a slot in its list. */
#include "base/fail.h"
#include "base/sync.h"
#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/slot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Memory from scope_alloc. */
typedef struct Block {
    struct Block *next;
    _Alignas(16) char bytes[];
} Block;

typedef struct Scope {
    struct Scope *outer; /* NULL: the thread's root */
    uint32_t depth;      /* the root's is 0 */
    uint32_t first;      /* slot; 0: owns nothing.  Under `lists` */
    Block *blocks;       /* its own thread's */
} Scope;

static Lock lists;
static _Thread_local Scope *innermost;
static _Thread_local uint32_t this_thread; /* 1, 2, ...; 0: no scopes yet */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const tt no_values[MOST_VALUES];

/* NULL: reported. */
static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        report_broken("no memory on the host for %zu bytes of a scope", bytes);
    return memory;
}

/* Holding `lists`: relaxed, since that orders all but a look at a slot that is no longer listed. */
static void set_owner(Slot *slot, Scope *owner)
{
    atomic_store_explicit(&slot->owner, owner, memory_order_relaxed);
}

static Scope *owner_of(Slot *slot)
{
    return atomic_load_explicit(&slot->owner, memory_order_relaxed);
}

/* Ends what the scope owns, a few slots at a time, since all threads share the lock. */
static void end_values(Scope *scope)
{
    enum { FEW = 32 };
    for (;;) {
        uint32_t batch[FEW];
        int n = 0;
        lock_take(&lists);
        for (uint32_t slot = scope->first; slot && n < FEW; n++) {
            batch[n] = slot;
            set_owner(slot_at(slot), NULL);
            slot = slot_at(slot)->behind;
            scope->first = slot;
            if (slot)
                slot_at(slot)->before = 0;
        }
        lock_give(&lists);
        for (int i = 0; i < n; i++)
            slot_end(batch[i]);
        if (n < FEW)
            return;
    }
}

static void end_innermost(void)
{
    Scope *scope = innermost;
    end_values(scope);
    for (Block *block = scope->blocks; block;) {
        Block *next = block->next;
        free(block);
        block = next;
    }
    innermost = scope->outer;
    free(scope);
}

static void end_thread(void *unused)
{
    PUBLIC; /* a trace that was left ends here at last */
    (void)unused;
    while (innermost)
        end_innermost();
    tt_clear_error();
}

static void make_key(void)
{
    require(pthread_key_create(&at_thread_end, end_thread) == 0);
}

/* False: reported. */
static bool open_scope(void)
{
    Scope *scope = allocate(sizeof *scope);
    if (!scope)
        return false;
    scope->outer = innermost;
    scope->depth = innermost ? innermost->depth + 1 : 0;
    innermost = scope;
    return true;
}

/* NULL: reported. */
static Scope *need_scope(void)
{
    if (!innermost) {
        static _Atomic uint32_t nthreads;
        pthread_once(&once, make_key);
        pthread_setspecific(at_thread_end, &innermost); /* anything but NULL */
        this_thread = 1 + atomic_fetch_add(&nthreads, 1);
        open_scope();
    }
    return innermost;
}

/* Without memory there is none: what would be its own belongs to the scope around it. */
tt_scope tt_scope_begin(void)
{
    PUBLIC;
    if (!need_scope() || !open_scope())
        return (tt_scope){ 0, 0 };
    return (tt_scope){ innermost->depth, this_thread };
}

void tt_scope_end(tt_scope *scope)
{
    PUBLIC;
    if (!scope->depth)
        return; /* ended already */
    if (scope->thread != this_thread) {
        report_broken("tt_scope_end: a scope ends in the thread in which it began");
        return;
    }
    /* Scopes inside that a jump has left open end with it. */
    while (innermost && innermost->depth >= scope->depth)
        end_innermost();
    *scope = (tt_scope){ 0, 0 };
}

static void *alloc_in(Scope *scope, size_t bytes)
{
    Block *block = scope ? allocate(sizeof *block + bytes) : NULL;
    if (!block)
        return NULL;
    block->next = scope->blocks;
    scope->blocks = block;
    return block->bytes;
}

void *scope_alloc(size_t bytes)
{
    return alloc_in(need_scope(), bytes);
}

static tt *values_in(Scope *scope, int n)
{
    if (n < 0 || n > MOST_VALUES)
        return report_broken("a tree of %d arrays; at most %d are possible", n, MOST_VALUES), NULL;
    return alloc_in(scope, sizeof(tt) * (size_t)n + 1);
}

tt *scope_values(int n)
{
    return values_in(need_scope(), n);
}

/* Holding `lists`. */
static void link_slot(Scope *scope, uint32_t number)
{
    Slot *slot = slot_at(number);
    set_owner(slot, scope);
    slot->before = 0;
    slot->behind = scope->first;
    if (scope->first)
        slot_at(scope->first)->before = number;
    scope->first = number;
}

/* Holding `lists`. */
static void unlink_slot(uint32_t number)
{
    Slot *slot = slot_at(number);
    if (slot->before)
        slot_at(slot->before)->behind = slot->behind;
    else
        owner_of(slot)->first = slot->behind;
    if (slot->behind)
        slot_at(slot->behind)->before = slot->before;
    set_owner(slot, NULL);
}

/* Takes the hold on the array.  NULL: left without an owner. */
static tt new_in(Scope *scope, Array *array, bool is_weak)
{
    tt x = slot_new((Held){ .array = array, .type = array->type, .is_weak = is_weak }, NULL, NULL);
    if (!x.generation) {
        array_release(array);
        return x;
    }
    if (scope) {
        lock_take(&lists);
        link_slot(scope, x.slot);
        lock_give(&lists);
    }
    return x;
}

tt value_of_array(Array *array, bool is_weak)
{
    Scope *scope = need_scope();
    if (scope)
        return new_in(scope, array, is_weak);
    array_release(array);
    return (tt){ 0, 0 };
}

/* A few at a time, since all threads share the locks. */
void values_of_arrays(int n, Array *const *arrays, const bool *is_weak, tt *out)
{
    enum { FEW = 64 };
    Scope *scope = need_scope();
    memset(out, 0, sizeof *out * (size_t)n);
    int made = 0;
    for (int few = FEW; scope && few == FEW && made < n; made += few) {
        int wanted = n - made < FEW ? n - made : FEW;
        few = slot_new_arrays(wanted, arrays + made, is_weak + made, out + made);
        lock_take(&lists);
        for (int i = made; i < made + few; i++)
            link_slot(scope, out[i].slot);
        lock_give(&lists);
    }
    for (int i = made; i < n; i++) {
        array_release(arrays[i]);
        out[i] = (tt){ 0, 0 };
    }
}

/* Another value of the same array; a traced value is its trace's, and stays as it is.  An absent one is
 * absent. */
static tt again_in(Scope *scope, tt x, const char *who)
{
    Held held;
    if (value_is_absent(x) || !value_pin(x, who, &held))
        return (tt){ 0, 0 };
    tt again = held.array ? new_in(scope, array_hold(held.array), held.is_weak) : x;
    value_unpin(x);
    return again;
}

/* The scope around the innermost; the root is its own.  NULL: reported. */
static Scope *enclosing(void)
{
    Scope *scope = need_scope();
    return scope && scope->outer ? scope->outer : scope;
}

const tt *tt_keep_n(tt_tree tree)
{
    PUBLIC;
    Scope *scope = enclosing();
    tt *kept = values_in(scope, tree.n);
    if (!kept)
        return no_values;
    for (int i = 0; i < tree.n; i++)
        kept[i] = again_in(scope, tree.leaf[i], "tt_keep");
    return kept;
}

/* Puts x, which has no owner yet, where `old` is, or else into `scope`; true: `old` has lost
 * its owner by that, and the caller ends it. */
static bool put_in_place(tt old, tt x, Scope *scope)
{
    bool replaced = false;
    lock_take(&lists);
    if (slot_is(old.slot, old.generation) && owner_of(slot_at(old.slot))) {
        scope = owner_of(slot_at(old.slot));
        unlink_slot(old.slot);
        replaced = true;
    }
    if (x.generation)
        link_slot(scope, x.slot);
    lock_give(&lists);
    return replaced;
}

/* The variable may hold arrays of the tree already, in other places: all new values are made
 * before an old one ends. */
void tt_assign_n(tt *variable, tt_tree tree)
{
    PUBLIC;
    Scope *around = enclosing();
    tt *next = around ? allocate(sizeof *next * (size_t)(tree.n + 1)) : NULL;
    if (!next)
        return;
    for (int i = 0; i < tree.n; i++)
        next[i] = again_in(NULL, tree.leaf[i], "tt_assign");
    for (int i = 0; i < tree.n; i++) {
        tt old = variable[i];
        bool is_ours = next[i].slot != tree.leaf[i].slot; /* not traced, not broken */
        if (put_in_place(old, is_ours ? next[i] : (tt){ 0, 0 }, around))
            slot_end(old.slot);
        variable[i] = next[i];
    }
    free(next);
}
