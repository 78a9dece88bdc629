/* views.h - the ways to look at a recording, and what they share.  All are called under a guard. */
#ifndef TUTTI_ENGINE_PROFILE_VIEWS_H
#define TUTTI_ENGINE_PROFILE_VIEWS_H
#include "base/text.h"
#include "engine/profile/record.h"

void chrome_write(Text *out, const Recording *r);   /* Trace Event JSON */
void perfetto_write(Text *out, const Recording *r); /* the same in Perfetto's own form */
void page_write(Text *out, const Recording *r);     /* HTML that needs no network */
void table_write(Text *out, const Recording *r);    /* for a terminal */
void xspace_write(Text *out, const Recording *r);   /* for JAX's profiler */

/* What is recorded so far, to a file: its name's end says which view (profile.c). */
MUST_USE Error *profile_write(const char *path);
/* Is there a view for files named so? */
MUST_USE Error *profile_check(const char *path);
/* The table as text, new; heap_free. */
MUST_USE Error *profile_table(char **text);
MUST_USE Error *profile_xspace(Text *out); /* new; text_free */

/* ---- names.c ---- */

/* What a record of kind KERNEL or SLICES means. */
MarkName mark_name(const Recording *r, const Record *x);
CollectiveName collective_name(const Recording *r, const Record *x);
/* What the thread does that wrote the record: "device 2: step". */
void thread_slice_name(Text *out, const Recording *r, const Record *x);
#endif
