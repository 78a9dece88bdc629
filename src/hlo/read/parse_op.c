/* parse_op.c - one operation: its results, its generic form, and from the draft to a node.
 *
 *   %0:2 = "stablehlo.op"(%a, %b) <{attributes}> ({regions}) {attributes} : (T, T) -> (T, T) loc
 *   %0 = stablehlo.op short form loc                                              (parse_form.c)
 *
 * Either form fills a Draft; then the attributes are laid flat and become a struct, the types
 * are compared with those of the operands, and the node is made. */
#include "hlo/read/parse.h"

#include <string.h>

typedef struct ResultName {
    Str name;
    int n;
} ResultName;

typedef LIST(ResultName) ResultNames;

/* %0 =   %0:2 =   %a, %b = */
static Error *parse_results(Parser *p, ResultNames *out)
{
    if (p->token.kind != TOKEN_VALUE)
        return NULL;
    do {
        int64_t n = 1;
        if (p->token.kind != TOKEN_VALUE)
            return expected(p, "the name of a result");
        Str name = p->token.text;
        advance(p);
        if (take_mark(p, ':'))
            TRY(need_integer(p, "the number of results", &n));
        if (n < 1 || n > 1 << 20)
            return wrong(p, name.at, "%.*s stands for %lld results", STR_ARG(name), (long long)n);
        ResultName result = { name, (int)n };
        LIST_ADD(p->arena, out, result);
    } while (take_mark(p, ','));
    return need_mark(p, '=', "after the results");
}

Error *parse_operands(Parser *p, Draft *d)
{
    if (p->token.kind != TOKEN_VALUE)
        return NULL;
    do {
        ValueId value;
        TRY(parse_value(p, &value));
        LIST_ADD(p->arena, &d->in, value);
    } while (take_mark(p, ','));
    return NULL;
}

/* All returns are one operation here, and call is func.call.  What our own passes make is in
 * the table too, but no text may hold it: it keeps promises that only they can. */
static Error *find_op(Parser *p, Draft *d)
{
    static const char *const returns[] = { "return", "func.return", "stablehlo.return",
                                           "sdy.return" };
    for (size_t i = 0; i < sizeof returns / sizeof *returns; i++)
        if (str_is(d->name, returns[i])) {
            d->op = OP_RETURN;
            return NULL;
        }
    if (str_is(d->name, "call"))
        d->name = STR("func.call");
    if (op_find(d->name, &d->op) && d->op < OP_GLOBAL)
        return NULL;
    return unsupported(p, d->where, "operation %.*s", STR_ARG(d->name));
}

static Error *parse_regions(Parser *p, Draft *d)
{
    if (!take_mark(p, '('))
        return NULL;
    do {
        RegionId r;
        TRY(parse_region(p, &r));
        LIST_ADD(p->arena, &d->regions, r);
    } while (take_mark(p, ','));
    return need_mark(p, ')', "after the regions");
}

Error *parse_generic(Parser *p, Draft *d)
{
    TRY(need_mark(p, '(', "before the operands"));
    TRY(parse_operands(p, d));
    TRY(need_mark(p, ')', "after the operands"));
    if (at_mark(p, '['))
        return unsupported(p, p->token.text.at, "an operation with successors");
    if (take_mark(p, '<')) {
        TRY(parse_dict(p, &d->dict));
        TRY(need_mark(p, '>', "after the properties"));
    }
    TRY(parse_regions(p, d));
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    const char *where = p->token.text.at;
    TRY(parse_signature(p, d));
    if (!d->has_arrow)
        return wrong(p, where, "expected the types of operands and results: (...) -> ...");
    return NULL;
}

/* Dictionaries within, which StableHLO groups attributes by, are opened into the outer one. */
static const Attr *flatten(Parser *p, const AttrDict *dict)
{
    static const char *const groups[] = { "dimension_numbers", "dot_dimension_numbers",
                                          "scatter_dimension_numbers", "channel_handle",
                                          "ragged_dot_dimension_numbers" };
    AttrDict flat = { 0 };
    for (int i = 0; i < dict->n; i++) {
        const Attr *value = dict->values[i];
        bool is_group = false;
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
            is_group |= value->kind == ATTR_DICT && str_is(dict->keys[i], groups[g]);
        for (int k = 0; is_group && k < value->n; k++)
            attr_set(p->arena, &flat, value->keys[k], value->items[k]);
        if (!is_group)
            attr_set(p->arena, &flat, dict->keys[i], value);
    }
    return attr_dict(p->arena, &flat);
}

static Error *make_attrs(Parser *p, Draft *d, const void **attrs, const Attr **extra)
{
    Error *error = attrs_from_dict(p->arena, op_info[d->op].attrs, op_name(d->op),
                                   flatten(p, &d->dict), attrs, extra);
    if (!error)
        return NULL;
    const char *text = error_text(error), *prefix = "not supported: ";
    Error *placed = error_code(error) == CODE_UNIMPLEMENTED
                        ? unsupported(p, d->where, "%s", text + strlen(prefix))
                        : wrong(p, d->where, "%s", text);
    error_free(error);
    return placed;
}

/* The types that the text states for the operands must be those of the values. */
static Error *check_operands(Parser *p, const Draft *d)
{
    if (d->listed.n != d->in.n)
        return wrong(p, d->where, "%s has %d operands, but %d types are written for them",
                     op_name(d->op), d->in.n, d->listed.n);
    for (int i = 0; i < d->in.n; i++) {
        Type is = type_of(p->m, d->in.at[i]), stated = d->listed.at[i];
        if (!type_equal(is, stated))
            return wrong(p, d->where, "operand %d of %s is %s, but its type is written as %s", i,
                         op_name(d->op), type_name(is), type_name(stated));
    }
    return NULL;
}

/* What the types behind the colon say of the results, when there is no arrow. */
static Error *find_result_types(Parser *p, Draft *d)
{
    if (d->has_arrow || d->op == OP_RETURN)
        return check_operands(p, d);
    if (d->op == OP_BARRIER || d->op == OP_WHILE) {
        d->results = d->listed;
        return check_operands(p, d);
    }
    int want = d->op == OP_SELECT && d->listed.n == 2 ? 2 : 1; /* the predicate's comes first */
    if (d->listed.n != want)
        return wrong(p, d->where, "%s needs one type, or (...) -> ..., behind the ':'",
                     op_name(d->op));
    if (want == 2 && d->in.n && !type_equal(type_of(p->m, d->in.at[0]), d->listed.at[0]))
        return wrong(p, d->where, "operand 0 of select is %s, but its type is written as %s",
                     type_name(type_of(p->m, d->in.at[0])), type_name(d->listed.at[0]));
    LIST_ADD(p->arena, &d->results, d->listed.at[want - 1]);
    return NULL;
}

static Error *name_results(Parser *p, const Draft *d, const ResultNames *names, ValueId first)
{
    int n = 0;
    for (int i = 0; i < names->n; i++)
        n += names->at[i].n;
    if (names->n && n != d->results.n)
        return wrong(p, d->where, "%s has %d results, but %d are named", op_name(d->op),
                     d->results.n, n);
    for (int i = 0; i < names->n; i++) {
        ResultName name = names->at[i];
        TRY(define_value(p, name.name, name.name.at, first, name.n));
        first += (ValueId)name.n;
    }
    return NULL;
}

static Error *finish(Parser *p, Draft *d, const ResultNames *names, RegionId r)
{
    const void *attrs;
    const Attr *extra;
    const Loc *loc = NULL;
    TRY(parse_loc(p, &loc));
    TRY(find_result_types(p, d));
    TRY(make_attrs(p, d, &attrs, &extra));
    if (!loc || !loc->file.n) {
        Loc *here = arena_copy(p->arena, loc_here(p, d->where), sizeof *here);
        here->name = loc ? loc->name : here->name;
        loc = here;
    }
    NodeId n = node_new(p->m, d->op, d->in.n, d->in.at, d->results.n, d->results.at, d->regions.n,
                        d->regions.at, attrs, loc);
    node_at(p->m, n)->extra = extra;
    region_append(p->m, r, n);
    return name_results(p, d, names, node_at(p->m, n)->out);
}

Error *parse_operation(Parser *p, RegionId r)
{
    ResultNames names = { 0 };
    TRY(parse_results(p, &names));
    Draft d = { .where = p->token.text.at };
    bool is_generic = p->token.kind == TOKEN_STRING;
    if (is_generic)
        d.name = string_text(p, p->token.text);
    else if (p->token.kind == TOKEN_WORD)
        d.name = p->token.text;
    else
        return expected(p, "an operation");
    if (is_check(d.name)) {
        advance(p);
        TRY(parse_check(p, &d, is_generic, r));
        return finish(p, &d, &names, r);
    }
    TRY(find_op(p, &d));
    advance(p);
    TRY(is_generic ? parse_generic(p, &d) : parse_form(p, &d));
    return finish(p, &d, &names, r);
}
