/* parse_check.c - checks, with which StableHLO's own programs say what they expect.
 *
 *   check.expect_eq %a, %b : T
 *   check.expect_eq_const %a, dense<1> : T
 *   check.expect_close %a, %b, max_ulp_difference = 4, min_ulp_difference = 0 : T, T
 *   check.expect_almost_eq %a, %b, tolerance = 1.0e-4 : T
 *
 * Each is read as the custom call of the same name; a constant becomes an operand. */
#include "hlo/read/parse.h"

#include <string.h>

static Str without_const(Str name)
{
    Str end = STR("_const");
    bool has = name.n > end.n && !memcmp(name.at + name.n - end.n, end.at, end.n);
    return (Str){ name.at, has ? name.n - end.n : name.n };
}

bool is_check(Str name)
{
    Str call = without_const(name);
    CallId id = call_find(call);
    bool has_const = call.n != name.n;
    return id != CALL_COUNT && call_info[id].role == ROLE_CHECK &&
           !(has_const && id == CALL_CHECK_CLOSE);
}

/* Numbers without a type, since the colon behind them is that of the operands. */
static Error *parse_clause(Parser *p, Draft *d)
{
    Str word = str_copy(p->arena, p->token.text);
    advance(p);
    TRY(need_mark(p, '=', "after the clause's name"));
    if (str_is(word, "tolerance")) {
        Attr tolerance = { .kind = ATTR_FLOAT, .element = F64 };
        TRY(parse_number(p, F64, &tolerance.number));
        attr_set(p->arena, &d->dict, word, arena_copy(p->arena, &tolerance, sizeof tolerance));
        return NULL;
    }
    int64_t steps;
    TRY(need_integer(p, "a number of steps", &steps));
    attr_set(p->arena, &d->dict, word, attr_int(p->arena, steps));
    return NULL;
}

static Error *parse_list(Parser *p, Draft *d)
{
    do {
        ValueId value;
        Attr constant = { .kind = ATTR_DENSE };
        if (p->token.kind == TOKEN_VALUE) {
            TRY(parse_value(p, &value));
            LIST_ADD(p->arena, &d->in, value);
        } else if (at_word(p, "dense")) {
            TRY(parse_dense(p, &constant.dense));
            attr_set(p->arena, &d->dict, STR("value"),
                     arena_copy(p->arena, &constant, sizeof constant));
        } else if (p->token.kind == TOKEN_WORD) {
            TRY(parse_clause(p, d));
        } else {
            return expected(p, "a value, a constant or a clause");
        }
    } while (take_mark(p, ','));
    return NULL;
}

/* What the types are follows from the operands; those written must agree. */
static Error *parse_short(Parser *p, Draft *d)
{
    TRY(parse_list(p, d));
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    if (!at_mark(p, ':'))
        return NULL;
    const char *where = p->token.text.at;
    Draft types = { 0 };
    TRY(parse_signature(p, &types));
    for (int i = 0; i < types.listed.n && d->in.n; i++)
        if (!type_equal(types.listed.at[i], type_of(p->m, d->in.at[0])))
            return wrong(p, where, "%.*s compares %s, but its type is written as %s",
                         STR_ARG(d->name), type_name(type_of(p->m, d->in.at[0])),
                         type_name(types.listed.at[i]));
    return NULL;
}

/* The attribute `value` becomes an operand, the others are the call's configuration. */
static Error *sort_attributes(Parser *p, Draft *d, RegionId r)
{
    AttrDict config = { 0 };
    for (int i = 0; i < d->dict.n; i++) {
        const Attr *value = d->dict.values[i];
        if (!str_is(d->dict.keys[i], "value")) {
            attr_set(p->arena, &config, d->dict.keys[i], value);
            continue;
        }
        if (value->kind != ATTR_DENSE)
            return wrong(p, d->where, "%.*s needs a constant as its value", STR_ARG(d->name));
        ConstantAttrs *attrs = ARENA_NEW(p->arena, ConstantAttrs);
        attrs->value = value->dense;
        NodeId n = node_new(p->m, OP_CONSTANT, 0, NULL, 1, &attrs->value.type, 0, NULL, attrs,
                            loc_here(p, d->where));
        region_append(p->m, r, n);
        LIST_ADD(p->arena, &d->in, node_at(p->m, n)->out);
    }
    d->dict = (AttrDict){ 0 };
    attr_set(p->arena, &d->dict, STR("backend_config"), attr_dict(p->arena, &config));
    return NULL;
}

Error *parse_check(Parser *p, Draft *d, bool is_generic, RegionId r)
{
    d->op = OP_CUSTOM_CALL;
    if (call_find(d->name) == CALL_CHECK_CLOSE)
        attr_set(p->arena, &d->dict, STR("max_ulp_difference"), attr_int(p->arena, 1));
    TRY(is_generic ? parse_generic(p, d) : parse_short(p, d));
    TRY(sort_attributes(p, d, r));
    if (d->in.n != 2)
        return wrong(p, d->where, "%.*s compares two values, but %d are given", STR_ARG(d->name),
                     d->in.n);
    d->listed.n = d->results.n = 0;
    for (int i = 0; i < d->in.n; i++)
        LIST_ADD(p->arena, &d->listed, type_of(p->m, d->in.at[i]));
    d->has_arrow = true;
    attr_set(p->arena, &d->dict, STR("call_target_name"),
             attr_string(p->arena, without_const(d->name)));
    attr_set(p->arena, &d->dict, STR("has_side_effect"), attr_bool(p->arena, true));
    return NULL;
}
