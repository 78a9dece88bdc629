/* page.c - a recording as one page of HTML that needs no network: page.html, with the data in it. */
#include "engine/profile/views.h"

#include "base/guard.h"
#include "base/json.h"
#include "base/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The file beside this one, as it is. */
__asm__(".section .rodata\n"
        ".global tutti_page_begin, tutti_page_end\n"
        ".hidden tutti_page_begin, tutti_page_end\n"
        "tutti_page_begin: .incbin \"src/engine/profile/page.html\"\n"
        "tutti_page_end: .byte 0\n"
        ".previous\n");
extern const char tutti_page_begin[], tutti_page_end[];

/* Of slices, in the order of `kinds`. */
typedef enum SliceKind {
    SLICE_SEGMENT,
    SLICE_KERNEL,
    SLICE_WAIT,
    SLICE_COLLECTIVE,
    SLICE_READY,
    SLICE_LAUNCH,
    SLICE_COMPILE,
    SLICE_TRANSFER,
    SLICE_HELP,
    SLICE_RANGE,
} SliceKind;
static const char kinds[] = "[\"segment\",\"kernel\",\"wait\",\"collective\",\"ready\",\"launch\","
                            "\"compile\",\"transfer\",\"help\",\"range\"]";

typedef struct Page {
    const Recording *r;
    Text *tracks; /* slices of each: devices, then threads */
    Text names;   /* [text, source] of each */
    Table known;  /* numbers of names */
    uint64_t nnames;
    Text arrows;
    const Record **left; /* [ndevices] the meeting that a device's next segment comes from */
} Page;

static int name_number(Page *p, const char *name, const char *source)
{
    uint64_t number = p->nnames;
    Text key = { 0 };
    text_printf(&key, "%s%c%s", name, 0, source);
    if (!table_get(&p->known, key.at, key.n, &number)) {
        table_set(&p->known, key.at, key.n, p->nnames++);
        text_printf(&p->names, "%s[", p->names.n ? "," : "");
        json_put_string(&p->names, str_of(name));
        text_add(&p->names, ",", 1);
        json_put_string(&p->names, str_of(source));
        text_add(&p->names, "]", 1);
    }
    text_free(&key);
    return (int)number;
}

static void put_slice(Page *p, int track, uint64_t from, uint64_t to, int name, SliceKind kind,
                      int extra)
{
    Text *out = &p->tracks[track];
    text_printf(out, "%s%" PRIu64 ",%" PRIu64 ",%d,%d,%d", out->n ? "," : "", from, to - from, name,
                (int)kind, extra);
}

static void put_arrow(Page *p, const Record *x)
{
    const Record *from = p->left[x->device];
    if (from)
        text_printf(&p->arrows, "%s[%d,%" PRIu64 ",%d,%" PRIu64 "]", p->arrows.n ? "," : "",
                    from->other, from->met, x->device, x->begin);
    p->left[x->device] = NULL;
}

static void put_collective(Page *p, const Record *x)
{
    CollectiveName c = collective_name(p->r, x);
    int name = name_number(p, c.name, c.where);
    if (x->met > x->begin)
        put_slice(p, x->device, x->begin, x->met, name, SLICE_WAIT, x->other);
    if (x->other >= 0)
        put_slice(p, x->device, x->met, x->end, name, SLICE_COLLECTIVE, x->other);
    if (x->other >= 0 && x->other != x->device)
        p->left[x->device] = x;
}

static void put_on_device(Page *p, const Record *x)
{
    MarkName m;
    switch (x->kind) {
    case RECORD_SEGMENT:
        put_slice(p, x->device, x->begin, x->end,
                  name_number(p, p->r->programs[x->program]->name, ""), SLICE_SEGMENT, -1);
        put_arrow(p, x);
        break;
    case RECORD_KERNEL:
        m = mark_name(p->r, x);
        put_slice(p, x->device, x->begin, x->end, name_number(p, m.name, m.where), SLICE_KERNEL,
                  -1);
        break;
    case RECORD_READY:
        put_slice(p, x->device, x->begin, x->end, name_number(p, "ready", ""), SLICE_READY, -1);
        break;
    case RECORD_COLLECTIVE: put_collective(p, x); break;
    default: break;
    }
}

static void put_on_thread(Page *p, const Record *x, int thread)
{
    static const SliceKind kind_of[RECORD_KINDS] = {
        [RECORD_LAUNCH] = SLICE_LAUNCH,     [RECORD_SEGMENT] = SLICE_SEGMENT,
        [RECORD_SLICES] = SLICE_HELP,       [RECORD_COMPILE] = SLICE_COMPILE,
        [RECORD_TRANSFER] = SLICE_TRANSFER, [RECORD_RANGE] = SLICE_RANGE,
    };
    switch (x->kind) {
    case RECORD_LAUNCH:
    case RECORD_SEGMENT:
    case RECORD_SLICES:
    case RECORD_COMPILE:
    case RECORD_TRANSFER:
    case RECORD_RANGE: break;
    default: return;
    }
    Text name = { 0 };
    thread_slice_name(&name, p->r, x);
    put_slice(p, p->r->ndevices + thread, x->begin, x->end, name_number(p, text_cstr(&name), ""),
              kind_of[x->kind], -1);
    text_free(&name);
}

static void put_tracks(Text *out, Page *p)
{
    const Recording *r = p->r;
    for (int t = 0; t < r->ndevices + r->nthreads; t++) {
        char name[32];
        if (t < r->ndevices)
            snprintf(name, sizeof name, "device %d", t);
        else
            snprintf(name, sizeof name, "%s", r->threads[t - r->ndevices].name);
        text_printf(out, "%s\n{\"name\":", t ? "," : "");
        json_put_string(out, str_of(name));
        text_printf(out, ",\"slices\":[%s]}", text_cstr(&p->tracks[t]));
        text_free(&p->tracks[t]);
    }
}

static void put_data(Text *out, const Recording *r)
{
    Page p = { .r = r };
    p.tracks = HEAP_ARRAY(Text, r->ndevices + r->nthreads, "a list of tracks");
    p.left = HEAP_ARRAY(const Record *, r->ndevices, "a list of devices");
    for (int64_t i = 0; i < r->n; i++) {
        const Record *x = &r->records[i];
        if (x->device >= 0)
            put_on_device(&p, x);
        put_on_thread(&p, x, r->thread[i]);
    }
    Text table = { 0 };
    table_write(&table, r);
    text_printf(out, "{\"ns\":%" PRId64 ",\"kinds\":%s,\"tracks\":[", r->ns, kinds);
    put_tracks(out, &p);
    text_printf(out, "],\n\"names\":[%s],\n\"arrows\":[%s],\n\"table\":", text_cstr(&p.names),
                text_cstr(&p.arrows));
    json_put_string(out, (Str){ table.at, table.n });
    text_add(out, "}", 1);
    text_free(&table);
    text_free(&p.names);
    text_free(&p.arrows);
    table_free(&p.known);
    heap_free(p.tracks);
    heap_free(p.left);
}

void page_write(Text *out, const Recording *r)
{
    static const char mark[] = "/*DATA*/";
    const char *at = strstr(tutti_page_begin, mark);
    text_add(out, tutti_page_begin, (size_t)(at - tutti_page_begin));
    put_data(out, r);
    at += sizeof mark - 1;
    text_add(out, at, (size_t)(tutti_page_end - at));
}
