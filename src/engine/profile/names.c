/* names.c - what the numbers of a record mean. */
#include "engine/profile/views.h"

MarkName mark_name(const Recording *r, const Record *x)
{
    static const MarkName other = { .name = "other code", .where = "", .path = "" };
    return x->what < 0 ? other : r->programs[x->program]->marks[x->what];
}

CollectiveName collective_name(const Recording *r, const Record *x)
{
    static const CollectiveName other = { .name = "collective", .where = "", .path = "" };
    return x->what < 0 ? other : r->programs[x->program]->collectives[x->what];
}

void thread_slice_name(Text *out, const Recording *r, const Record *x)
{
    const char *program = r->programs[x->program]->name;
    switch (x->kind) {
    case RECORD_LAUNCH: text_printf(out, "launch %s", program); break;
    case RECORD_SEGMENT: text_printf(out, "device %d: %s", x->device, program); break;
    case RECORD_SLICES:
        text_printf(out, "helps device %d: %s", x->device,
                    x->what < 0 ? "collective" : mark_name(r, x).name);
        break;
    default: text_printf(out, "%s", x->what < 0 ? "?" : r->names[x->what]);
    }
}
