/* parse_flow.c - the short forms with regions: reduce, while, manual_computation, scan. */
#include "hlo/read/parse.h"

/* The region of `applies stablehlo.add`: that operation on two scalars of the start's type. */
static Error *make_reducer(Parser *p, Draft *d, Values inits)
{
    OpId op;
    Str name = p->token.text;
    if (p->token.kind != TOKEN_WORD)
        return expected(p, "an operation");
    if (!op_find(name, &op))
        return unsupported(p, name.at, "operation %.*s", STR_ARG(name));
    if (inits.n != 1 || op_info[op].arity != 2 || op_info[op].attrs != ATTRS_NONE)
        return wrong(p, name.at, "%s cannot be applied to one pair of scalars", op_name(op));
    advance(p);
    Type type = type_of(p->m, inits.at[0]);
    RegionId r = region_new(p->m, 0, 2, (Type[]){ type, type });
    ValueId first = region_at(p->m, r)->args;
    const Loc *loc = loc_here(p, name.at);
    const void *none;
    TRY(attrs_from_dict(p->arena, ATTRS_NONE, "", NULL, &none, NULL));
    NodeId n = node_new(p->m, op, 2, (ValueId[]){ first, first + 1 }, 1, &type, 0, NULL, none, loc);
    region_append(p->m, r, n);
    ValueId result = node_at(p->m, n)->out;
    region_append(p->m, r, node_new(p->m, OP_RETURN, 1, &result, 0, NULL, 0, NULL, none, loc));
    LIST_ADD(p->arena, &d->regions, r);
    return NULL;
}

/* (%a init: %i), (%b init: %j); the operands are all inputs, then all starts. */
static Error *parse_reduce_operands(Parser *p, Draft *d, Values *inits)
{
    do {
        ValueId value, init;
        TRY(need_mark(p, '(', "before an input"));
        TRY(parse_value(p, &value));
        TRY(need_word(p, "init", "after the input"));
        TRY(need_mark(p, ':', "after init"));
        TRY(parse_value(p, &init));
        TRY(need_mark(p, ')', "after the input"));
        LIST_ADD(p->arena, &d->in, value);
        LIST_ADD(p->arena, inits, init);
    } while (take_mark(p, ','));
    for (int i = 0; i < inits->n; i++)
        LIST_ADD(p->arena, &d->in, inits->at[i]);
    return NULL;
}

/* reducer(%a: T, %c: T) (%b: U, %d: U) { ... }: pairs of one input each, where the region
 * takes all the lefts and then all the rights: (%a, %b, %c, %d). */
static Error *parse_reducer(Parser *p, Draft *d)
{
    Strs names = { 0 }, left_names = { 0 }, right_names = { 0 };
    Types types = { 0 }, left = { 0 }, right = { 0 };
    RegionId r;
    TRY(need_word(p, "reducer", "after the types"));
    while (at_mark(p, '(')) {
        const char *where = p->token.text.at;
        int before = types.n;
        TRY(parse_arguments(p, &names, &types));
        if (types.n - before != 2)
            return wrong(p, where, "expected a pair of arguments");
        LIST_ADD(p->arena, &left_names, names.at[before]);
        LIST_ADD(p->arena, &right_names, names.at[before + 1]);
        LIST_ADD(p->arena, &left, types.at[before]);
        LIST_ADD(p->arena, &right, types.at[before + 1]);
    }
    for (int i = 0; i < right.n; i++) {
        LIST_ADD(p->arena, &left_names, right_names.at[i]);
        LIST_ADD(p->arena, &left, right.at[i]);
    }
    TRY(need_mark(p, '{', "before the reducer's body"));
    TRY(region_named(p, &left_names, &left, &r));
    LIST_ADD(p->arena, &d->regions, r);
    return parse_body(p, r);
}

/* Whatever a form with regions defines inside is forgotten behind it. */
static Error *in_scope(Parser *p, Draft *d, Error *(*parse)(Parser *p, Draft *d))
{
    TRY(nest_deeper(p));
    int mark = scope_open(p);
    Error *error = parse(p, d);
    scope_close(p, mark);
    leave(p);
    return error;
}

Error *parse_reduce(Parser *p, Draft *d)
{
    Values inits = { 0 };
    Numbers dims = { 0 };
    TRY(parse_reduce_operands(p, d, &inits));
    bool is_short = take_word(p, "applies");
    if (is_short)
        TRY(make_reducer(p, d, inits));
    TRY(need_word(p, "across", "before the dimensions"));
    TRY(need_word(p, "dimensions", "after across"));
    TRY(need_mark(p, '=', "after dimensions"));
    TRY(parse_numbers(p, "before the dimensions", &dims));
    attr_set(p->arena, &d->dict, STR("dimensions"), numbers_attr(p, &dims));
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    TRY(parse_signature(p, d));
    return is_short ? NULL : in_scope(p, d, parse_reducer);
}

/* One region of a while; both take the loop's values under the same names. */
static Error *parse_while_region(Parser *p, Draft *d, const char *word, const Strs *names)
{
    RegionId r;
    TRY(need_word(p, word, "of the while"));
    TRY(need_mark(p, '{', "before the region"));
    int mark = scope_open(p);
    Error *error = region_named(p, names, &d->listed, &r);
    if (!error)
        error = parse_body(p, r);
    scope_close(p, mark);
    TRY(error);
    LIST_ADD(p->arena, &d->regions, r);
    return NULL;
}

static Error *parse_while_rest(Parser *p, Draft *d)
{
    Strs names = { 0 };
    const char *where = p->token.text.at;
    TRY(need_mark(p, '(', "before the loop's values"));
    while (!take_mark(p, ')')) {
        ValueId value;
        if (names.n)
            TRY(need_mark(p, ',', "between the loop's values"));
        if (p->token.kind != TOKEN_VALUE)
            return expected(p, "the name of a loop's value");
        LIST_ADD(p->arena, &names, p->token.text);
        advance(p);
        TRY(need_mark(p, '=', "after the name"));
        TRY(parse_value(p, &value));
        LIST_ADD(p->arena, &d->in, value);
    }
    if (names.n || at_mark(p, ':'))
        TRY(parse_signature(p, d));
    if (d->listed.n != names.n)
        return wrong(p, where, "the loop has %d values, but %d types are written for them", names.n,
                     d->listed.n);
    if (take_word(p, "attributes") || at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    TRY(parse_while_region(p, d, "cond", &names));
    return parse_while_region(p, d, "do", &names);
}

/* while(%x = %a, %y = %b) : T, U cond { ... } do { ... } */
Error *parse_while(Parser *p, Draft *d)
{
    return in_scope(p, d, parse_while_rest);
}

static Error *parse_manual_region(Parser *p, Draft *d)
{
    Strs names = { 0 };
    Types types = { 0 };
    RegionId r;
    TRY(parse_arguments(p, &names, &types));
    TRY(need_mark(p, '{', "before the body"));
    TRY(region_named(p, &names, &types, &r));
    LIST_ADD(p->arena, &d->regions, r);
    return parse_body(p, r);
}

/* manual_computation(%a) in_shardings=[..] out_shardings=[..] manual_axes={..} (%x: T) { ... } */
Error *parse_manual(Parser *p, Draft *d)
{
    static const char *const clauses[] = { "in_shardings", "out_shardings", "manual_axes" };
    TRY(need_mark(p, '(', "before the operands"));
    TRY(parse_operands(p, d));
    TRY(need_mark(p, ')', "after the operands"));
    for (int i = 0; i < 3; i++) {
        const Attr *value;
        TRY(need_word(p, clauses[i], "of the manual computation"));
        TRY(need_mark(p, '=', "after the word"));
        TRY(i < 2 ? parse_shardings(p, &value) : parse_manual_axes(p, &value));
        attr_set(p->arena, &d->dict, str_of(clauses[i]), value);
    }
    TRY(in_scope(p, d, parse_manual_region));
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    return parse_signature(p, d);
}

/* scan(%a, %b) inits(%c) dimension=0 is_reverse=true { ^bb0(...): ... } : (T, U) -> (T, U) */
Error *parse_scan(Parser *p, Draft *d)
{
    RegionId r;
    TRY(need_mark(p, '(', "before the inputs"));
    TRY(parse_operands(p, d));
    TRY(need_mark(p, ')', "after the inputs"));
    int64_t sizes[] = { d->in.n, 0 };
    TRY(need_word(p, "inits", "after the inputs"));
    TRY(need_mark(p, '(', "before the initial values"));
    TRY(parse_operands(p, d));
    TRY(need_mark(p, ')', "after the initial values"));
    sizes[1] = d->in.n - sizes[0];
    attr_set(p->arena, &d->dict, STR("operandSegmentSizes"), attr_ints(p->arena, 2, sizes));
    while (p->token.kind == TOKEN_WORD && !at_word(p, "attributes")) {
        Str word = str_copy(p->arena, p->token.text);
        const Attr *value;
        advance(p);
        TRY(need_mark(p, '=', "after the word"));
        TRY(parse_attr(p, &value));
        attr_set(p->arena, &d->dict, word, value);
        take_mark(p, ',');
    }
    if (take_word(p, "attributes"))
        TRY(parse_dict(p, &d->dict));
    TRY(parse_region(p, &r));
    LIST_ADD(p->arena, &d->regions, r);
    return parse_signature(p, d);
}
