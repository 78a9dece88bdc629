/* eval_custom.h - what the files of custom calls share. */
#ifndef TUTTI_EVAL_CUSTOM_H
#define TUTTI_EVAL_CUSTOM_H
#include "engine/eval.h"

/* A number or bool among the call's options, wherever the program keeps them. */
int64_t custom_option(const Node *n, const char *name, int64_t otherwise);

/* Plays n if its target is one of LAPACK's. */
MUST_USE Error *eval_lapack(const Node *n, const Tensor *in, Tensor *out, bool *is_lapack);
#endif
