/* parse_loc.c - locations: loc("f.py":3:7), loc("name"(#loc2)), loc(callsite(#a at #b)), ...
 *
 * Of a tree of places one is kept: the innermost call that names a file, with the outermost
 * name ("jit(f)/mul").  An operation without any has its place in the text itself. */
#include "hlo/read/parse.h"

static Error *parse_place(Parser *p, Loc *out);

const Loc *loc_here(Parser *p, const char *at)
{
    Loc here = { .file = p->file };
    lex_place(&p->lex, at, &here.line, &here.column);
    return arena_copy(p->arena, &here, sizeof here);
}

/* "file":3:7, and the newer ranges "file":3:7 to 4:9 or to :9, of which the start is kept. */
static Error *parse_file(Parser *p, Str file, Loc *out)
{
    int64_t line, column, ignored;
    TRY(need_integer(p, "a line", &line));
    TRY(need_mark(p, ':', "between line and column"));
    TRY(need_integer(p, "a column", &column));
    if (take_word(p, "to")) {
        if (!at_mark(p, ':'))
            TRY(need_integer(p, "a line", &ignored));
        TRY(need_mark(p, ':', "before the last column"));
        TRY(need_integer(p, "a column", &ignored));
    }
    bool fits = line >= 0 && line <= INT32_MAX && column >= 0 && column <= INT32_MAX;
    *out = (Loc){ .file = file, .line = fits ? (int)line : 0, .column = fits ? (int)column : 0 };
    return NULL;
}

static Error *parse_named_place(Parser *p, Loc *out)
{
    Str name;
    TRY(need_string(p, "a file or a name", &name));
    if (take_mark(p, ':'))
        return parse_file(p, name, out);
    *out = (Loc){ 0 };
    if (take_mark(p, '(')) {
        TRY(parse_place(p, out));
        TRY(need_mark(p, ')', "after the location"));
    }
    out->name = name;
    return NULL;
}

/* callsite(callee at caller) */
static Error *parse_callsite(Parser *p, Loc *out)
{
    Loc caller;
    TRY(need_mark(p, '(', "after callsite"));
    TRY(parse_place(p, out));
    TRY(need_word(p, "at", "between callee and caller"));
    TRY(parse_place(p, &caller));
    if (!out->file.n)
        *out = caller;
    return need_mark(p, ')', "after the caller");
}

/* fused<...>[a, b, c] */
static Error *parse_fused(Parser *p, Loc *out)
{
    *out = (Loc){ 0 };
    if (at_mark(p, '<'))
        TRY(skip_balanced(p));
    TRY(need_mark(p, '[', "before the fused locations"));
    if (take_mark(p, ']'))
        return NULL;
    do {
        Loc one;
        TRY(parse_place(p, &one));
        if (!out->file.n)
            *out = one;
    } while (take_mark(p, ','));
    return need_mark(p, ']', "after the fused locations");
}

/* Locations are defined behind the program: does its text end too early? */
static bool is_cut(const Parser *p)
{
    int64_t open = 0;
    for (const char *at = p->lex.start; at < p->lex.end; at++)
        open += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    return open > 0;
}

static Error *parse_loc_alias(Parser *p, Loc *out)
{
    Token token = p->token;
    Alias *alias = alias_find(p, token.text);
    if (!alias)
        return wrong(p, token.text.at, "%.*s is not defined%s", STR_ARG(token.text),
                     is_cut(p) ? ", and the text ends before its braces close: is it cut?" : "");
    advance(p);
    if (!alias->loc) {
        if (alias->is_open)
            return wrong(p, token.text.at, "%.*s is defined by itself", STR_ARG(token.text));
        alias->is_open = true;
        Bookmark mark = parser_jump(p, alias->at);
        const Loc *loc = NULL;
        Error *error = parse_loc(p, &loc);
        parser_return(p, mark);
        alias->is_open = false;
        TRY(error);
        alias->loc = loc ? loc : &loc_unknown;
    }
    *out = *alias->loc;
    return NULL;
}

static Error *parse_place(Parser *p, Loc *out)
{
    TRY(nest_deeper(p));
    Error *error = NULL;
    if (p->token.kind == TOKEN_STRING)
        error = parse_named_place(p, out);
    else if (p->token.kind == TOKEN_HASH)
        error = parse_loc_alias(p, out);
    else if (take_word(p, "callsite"))
        error = parse_callsite(p, out);
    else if (take_word(p, "fused"))
        error = parse_fused(p, out);
    else if (take_word(p, "unknown"))
        *out = (Loc){ 0 };
    else
        error = expected(p, "a location");
    leave(p);
    return error;
}

Error *parse_loc(Parser *p, const Loc **out)
{
    if (!at_word(p, "loc"))
        return NULL;
    advance(p);
    Loc loc;
    TRY(need_mark(p, '(', "after loc"));
    TRY(parse_place(p, &loc));
    TRY(need_mark(p, ')', "after the location"));
    *out = arena_copy(p->arena, &loc, sizeof loc);
    return NULL;
}
