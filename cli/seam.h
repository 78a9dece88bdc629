/* seam.h - PJRT from the caller's side: load the engine, compile, hand over arrays, execute. */
#ifndef TUTTI_CLI_SEAM_H
#define TUTTI_CLI_SEAM_H
#include "array.h"
#include "base/error.h"
#include "pjrt/extension.h"

/* Starts as { 0 }. */
typedef struct Seam {
    void *library;
    char *path;
    const PJRT_Api *api;
    const TuttiExtension *tutti; /* NULL: another plugin than ours */
    PJRT_Client *client;         /* NULL: none yet */
    int ndevices;                /* of the client */
} Seam;

/* Loads TUTTI_PLUGIN, or the engine beside the executable. */
MUST_USE Error *seam_load(Seam *seam);
/* A client of that many devices, 0: as the environment says; ends one of another number. */
MUST_USE Error *seam_start(Seam *seam, int ndevices);
void seam_stop(Seam *seam); /* ends the client, if there is one */
void seam_end(Seam *seam);

/* Turns an error of the other side into one of ours: NULL stays NULL. */
MUST_USE Error *seam_error(const Seam *seam, PJRT_Error *error);

typedef struct SeamOptions {
    const char *name; /* the program's, for messages */
    bool evaluate;    /* play it by the reference evaluator */
    bool no_fold;     /* compile operations on constants too */
} SeamOptions;
MUST_USE Error *seam_compile(Seam *seam, Str program, SeamOptions options,
                             PJRT_LoadedExecutable **out);
void seam_release(Seam *seam, PJRT_LoadedExecutable *executable);

/* Cuts the arguments (whole arrays, nargs of them), executes, waits, and joins the results.  One
 * of which devices give different values where the program says they hold the same has one
 * dimension more: the devices, first. */
MUST_USE Error *seam_run(Seam *seam, PJRT_LoadedExecutable *executable, const Array *args,
                         Array *results);
#endif
