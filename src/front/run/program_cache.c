/* program_cache.c - the programs there are: a hash table, and a list in the order of their last use.
 *
 *     buckets[hash] -> p3 -> p1             newest -> p1 <-> p2 <-> p3 <- oldest
 *
 * A function may be called with ever new shapes, and each has its program (about 80 KB, with its
 * code): so only so many are kept, and the one used longest ago goes.  Whoever plays a program
 * holds it, so one that goes meanwhile ends after its run. */
#include "front/run/program_cache.h"

#include "base/sync.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

int programs_most = 2048;

static Lock lock; /* guards all below, and the links of programs */
static Program *buckets[BUCKETS];
static Program *newest, *oldest;
static int nprograms;

static void unlink_use(Program *p)
{
    *(p->newer ? &p->newer->older : &newest) = p->older;
    *(p->older ? &p->older->newer : &oldest) = p->newer;
}

static void link_newest(Program *p)
{
    p->newer = NULL;
    p->older = newest;
    *(newest ? &newest->newer : &oldest) = p;
    newest = p;
}

/* Takes the program used longest ago from table and list; its hold is the caller's. */
static Program *take_oldest(void)
{
    Program *p = oldest;
    Program **at = &buckets[p->hash % BUCKETS];
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    unlink_use(p);
    nprograms--;
    return p;
}

Program *programs_find(const Signature *s)
{
    lock_take(&lock);
    Program *p = buckets[s->hash % BUCKETS];
    while (p && !(p->hash == s->hash && p->key_size == s->n && memcmp(p->key, s->at, s->n) == 0))
        p = p->next;
    if (p) {
        program_hold(p);
        if (p != newest) {
            unlink_use(p);
            link_newest(p);
        }
    }
    lock_give(&lock);
    return p;
}

void programs_drop(void)
{
    for (;;) {
        lock_take(&lock);
        Program *gone = oldest ? take_oldest() : NULL;
        lock_give(&lock);
        if (!gone)
            return;
        program_release(gone);
    }
}

bool programs_add(Program *p, const Signature *s)
{
    void *copy = malloc(s->n + 1);
    if (!copy)
        return false;
    memcpy(copy, s->at, s->n);
    p->key = copy;
    p->key_size = s->n;
    p->hash = s->hash;
    lock_take(&lock);
    Program *gone = oldest && nprograms >= programs_most ? take_oldest() : NULL;
    p->next = buckets[s->hash % BUCKETS];
    buckets[s->hash % BUCKETS] = program_hold(p);
    link_newest(p);
    nprograms++;
    lock_give(&lock);
    if (gone)
        program_release(gone);
    return true;
}
