/* calls_test.c - functions registered for custom calls: what they see and give, what they refuse.
 * Links engine objects: the registry, the evaluator. */
#include "engine/custom_call.h"
#include "engine/eval/eval.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* Doubles, and counts by user. */
static int32_t twice(void *user, const TuttiCall *call)
{
    ++*(int *)user;
    CHECK(call->nargs == 1 && call->nresults == 1);
    CHECK(call->args[0].type == PJRT_Buffer_Type_F32 && call->args[0].rank == 1);
    const float *in = call->args[0].data;
    float *out = call->results[0].data;
    for (int64_t i = 0; i < call->args[0].dims[0]; i++)
        out[i] = 2 * in[i];
    return 0;
}

static int32_t refuses(void *user, const TuttiCall *call)
{
    snprintf(call->message, call->room, "%s", (const char *)user);
    return 1;
}

static const char *run_call(const char *name, float *x, float *y)
{
    static Text text;
    Module *m = module_new();
    int64_t dims[] = { 3 };
    Type types[] = { type_scalar(TOKEN), { F32, 1, dims } };
    CustomCallAttrs attrs = { .call_target_name = str_of(name) };
    RegionId r = region_new(m, 0, 2, types);
    ValueId in[] = { region_at(m, r)->args, region_at(m, r)->args + 1 };
    NodeId n = node_new(m, OP_CUSTOM_CALL, 2, in, 2, types, 0, NULL, &attrs, NULL);
    Tensor operands[] = { { types[0], NULL }, { types[1], x } };
    Tensor results[] = { { types[0], NULL }, { types[1], y } };
    Error *error = eval_node(m, n, operands, results);
    text_free(&text);
    text_printf(&text, "%s", error ? error_text(error) : "");
    error_free(error);
    module_free(m);
    return text_cstr(&text);
}

/* A name that no memory has room for: the one that is there goes on answering. */
static void test_no_memory(void)
{
/* sanitizers end a process that asks for so much */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    CHECK(!call_registry_add((Str){ "mine", PTRDIFF_MAX }, refuses, "the new one"));
#endif
    float x[] = { 1, 2, 3 }, y[3] = { 0 };
    CHECK_STR(run_call("mine", x, y), "custom_call @mine, at unknown place: not today");
}

int main(void)
{
    float x[] = { 1, 2, 3 }, y[3] = { 0 };
    int count = 0;
    CHECK_STR(run_call("mine", x, y),
              "not supported: custom_call @mine, at unknown place: nobody has defined it; a C "
              "program does with tt_define_call");
    CHECK(call_registry_add(STR("mine"), twice, &count));
    CHECK_STR(run_call("mine", x, y), "");
    CHECK(y[0] == 2 && y[1] == 4 && y[2] == 6 && count == 1);
    CHECK(call_registry_add(STR("mine"), refuses, "not today"));
    CHECK_STR(run_call("mine", x, y), "custom_call @mine, at unknown place: not today");
    test_no_memory();
    CHECK(call_registry_add(STR("min"), refuses, ""));
    CHECK_STR(run_call("min", x, y), "custom_call @min, at unknown place: failed");
    return check_done();
}
