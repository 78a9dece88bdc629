/* rewrite_test.c - substitution, copying, dead code, reducers. */
#include "base/guard.h"
#include "hlo/rewrite.h"

#include "tests/check.h"
#include "tests/read_text.h"

#include <stdlib.h>

static void check_valid(const Module *m)
{
    Error *error = module_check(m);
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
}

static void substitution(void)
{
    Module *m = read_module("func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
                            "  %0 = stablehlo.negate %a : tensor<f32>\n"
                            "  %1 = stablehlo.add %0, %b : tensor<f32>\n"
                            "  return %1 : tensor<f32>\n}\n");
    RegionId r = m->funcs[0].body;
    ValueId a = region_at(m, r)->args, b = a + 1;
    NodeId neg = region_at(m, r)->nodes[0], add = region_at(m, r)->nodes[1];
    Subst s = subst_new(m);
    subst_set(&s, node_at(m, neg)->out, a);
    subst_set(&s, a, b); /* a chain */
    CHECK(subst_get(&s, node_at(m, neg)->out) == b);
    subst_set(&s, b, a); /* would be a ring: b stays b's own */
    CHECK(subst_get(&s, b) == subst_get(&s, a));
    subst_set(&s, 1000, a); /* newer than the table */
    CHECK(subst_get(&s, 1000) == subst_get(&s, a));
    CHECK(subst_get(&s, 5000) == 5000);
    subst_apply(&s, m, r);
    CHECK(node_at(m, add)->in[0] == subst_get(&s, b));
    remove_dead(m, r);
    CHECK(region_at(m, r)->nnodes == 2);
    check_valid(m);
    subst_free(&s);
    module_free(m);
}

static const char loop[] =
    "func.func @main(%n: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %dead = stablehlo.negate %x : tensor<2xf32>\n"
    "  stablehlo.custom_call @seen(%n) {has_side_effect = true} : (tensor<i32>) -> ()\n"
    "  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<2xf32>\n"
    "  cond {\n"
    "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  } do {\n"
    "    %j = stablehlo.add %i, %one : tensor<i32>\n"
    "    %unused = stablehlo.sine %c : tensor<2xf32>\n"
    "    %d = stablehlo.add %c, %x : tensor<2xf32>\n"
    "    stablehlo.return %j, %d : tensor<i32>, tensor<2xf32>\n"
    "  }\n"
    "  return %0#1 : tensor<2xf32>\n}\n";

static void dead_code(void)
{
    Module *m = read_module(loop);
    RegionId r = m->funcs[0].body;
    int before = region_at(m, r)->nnodes;
    remove_dead(m, r);
    CHECK(region_at(m, r)->nnodes == before - 1); /* %dead; the call has an effect */
    const Node *node = node_at(m, region_at(m, r)->nodes[before - 3]);
    CHECK(node->op == OP_WHILE);
    CHECK(region_at(m, node->regions[1])->nnodes == 3); /* %unused went */
    check_valid(m);
    module_free(m);
}

/* A copy of a function's body computes on its own: every operand is the copy's. */
static void copies(void)
{
    Module *m = read_module(loop);
    RegionId from = m->funcs[0].body;
    Subst map = subst_new(m);
    uint32_t nold = m->nvalues;
    RegionId copy = region_copy(m, from, 0, &map);
    Func *f = func_add(m, STR("copy"));
    *f = m->funcs[0];
    f->name = STR("copy");
    f->body = copy;
    check_valid(m);
    uint32_t *uses = count_uses(m, copy);
    for (uint32_t v = 1; v < nold; v++)
        CHECK(uses[v] == 0);
    CHECK(uses[region_at(m, copy)->args + 1] ==
          3); /* %x: negated, into the loop, and in its body */
    heap_free(uses);
    subst_free(&map);
    module_free(m);
}

static OpId reducer_of(const char *body)
{
    Text text = { 0 };
    text_printf(&text,
                "func.func @main(%%x: tensor<3xf32>) -> tensor<f32> {\n"
                "  %%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                "  %%0 = stablehlo.reduce(%%x init: %%z) across dimensions = [0]"
                " : (tensor<3xf32>, tensor<f32>) -> tensor<f32>\n"
                "  reducer(%%a: tensor<f32>, %%b: tensor<f32>) {\n%s  }\n"
                "  return %%0 : tensor<f32>\n}\n",
                body);
    Module *m = read_module(text_cstr(&text));
    text_free(&text);
    OpId op = region_reducer(m, node_at(m, region_at(m, m->funcs[0].body)->nodes[1])->regions[0]);
    module_free(m);
    return op;
}

static void reducers(void)
{
    CHECK(reducer_of("%s = stablehlo.add %a, %b : tensor<f32>\n"
                     "stablehlo.return %s : tensor<f32>\n") == OP_ADD);
    CHECK(reducer_of("%s = stablehlo.maximum %b, %a : tensor<f32>\n"
                     "stablehlo.return %s : tensor<f32>\n") == OP_MAX);
    CHECK(reducer_of("%s = stablehlo.subtract %a, %b : tensor<f32>\n"
                     "stablehlo.return %s : tensor<f32>\n") == OP_SUB);
    CHECK(reducer_of("%s = stablehlo.subtract %b, %a : tensor<f32>\n"
                     "stablehlo.return %s : tensor<f32>\n") == OP_COUNT);
    CHECK(reducer_of("%s = stablehlo.add %a, %a : tensor<f32>\n"
                     "stablehlo.return %s : tensor<f32>\n") == OP_COUNT);
    CHECK(reducer_of("stablehlo.return %b : tensor<f32>\n") == OP_COUNT);
}

int main(void)
{
    substitution();
    dead_code();
    copies();
    reducers();
    return check_done();
}
