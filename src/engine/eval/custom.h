/* custom.h - what custom calls are told besides their operands. */
#ifndef TUTTI_ENGINE_EVAL_CUSTOM_H
#define TUTTI_ENGINE_EVAL_CUSTOM_H
#include "engine/eval/eval.h"

/* A number or bool among the call's options, wherever the program keeps them. */
int64_t custom_option(const Node *n, const char *name, int64_t otherwise);

/* eval_qr.c: custom_call @Qr and @ProductOfElementaryHouseholderReflectors. */
MUST_USE Error *eval_qr(const Node *n, const Tensor *in, Tensor *out);
MUST_USE Error *eval_householder(const Node *n, const Tensor *in, Tensor *out);
#endif
