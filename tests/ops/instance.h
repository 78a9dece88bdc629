/* instance.h - from a row of cases.def and an element type to a program.
 *
 *     "(%x: tensor<$S$E>) -> tensor<$S$E> {...}", f32   -->   module {
 *                                                               func private @f0  (shape "")
 *                                                               func private @f1  (shape "17x")
 *                                                               func @main: calls them all
 *                                                             }
 * So one compilation tries all shapes. */
#ifndef TUTTI_TESTS_OPS_INSTANCE_H
#define TUTTI_TESTS_OPS_INSTANCE_H
#include "hlo/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Case {
    OpId op;
    const char *id; /* "EXP" */
    const char *elements, *ranges;
    double ulps;
    const char *text;
} Case;

static const struct {
    const char *name, *members;
} element_families[] = {
    { "floats", "f32 f64 bf16 f16" },
    { "f8s", "f8E4M3FN f8E5M2 f8E4M3FNUZ f8E5M2FNUZ f8E4M3B11FNUZ f8E4M3 f8E3M4" },
    { "complexes", "complex<f32> complex<f64>" },
    { "smooth", "floats complexes" },
    { "signed", "i32 i8 i16 i64 i4 i2" },
    { "unsigned", "ui32 ui8 ui16 ui64 ui4 ui2" },
    { "ints", "signed unsigned" },
    { "numbers", "ints smooth" },
    { "bits", "i1 ints" },
    { "all", "i1 numbers" },
};

typedef void ElementVisit(const Case *c, Element e, void *user);

/* Calls visit for each type that the list names. */
static inline void each_element(const Case *c, const char *list, ElementVisit *visit, void *user)
{
    while (*list) {
        size_t n = strcspn(list, " ");
        bool is_family = false;
        for (size_t i = 0; i < sizeof element_families / sizeof *element_families; i++)
            if (strlen(element_families[i].name) == n &&
                memcmp(list, element_families[i].name, n) == 0) {
                each_element(c, element_families[i].members, visit, user);
                is_family = true;
            }
        Element e;
        if (!is_family && !element_find((Str){ list, n }, &e)) {
            printf("%s: '%.*s' is no element type\n", c->id, (int)n, list);
            exit(1);
        }
        if (!is_family)
            visit(c, e, user);
        list += n;
        list += strspn(list, " ");
    }
}

static inline const char *comparison_of(Element e)
{
    switch (element_info[e].kind) {
    case FLOAT:
    case COMPLEX: return "FLOAT";
    case SIGNED: return "SIGNED";
    default: return "UNSIGNED";
    }
}

static inline void fill_template(Text *out, const Case *c, Element e, const char *shape)
{
    const char *name = op_info[c->op].name;
    for (const char *at = c->text; *at; at++) {
        if (*at != '$') {
            text_add(out, at, 1);
            continue;
        }
        switch (*++at) {
        case 'N': text_printf(out, "%s%s", strchr(name, '.') ? "" : "stablehlo.", name); break;
        case 'E': text_printf(out, "%s", element_info[e].name); break;
        case 'P': text_printf(out, "%s", element_info[element_part(e)].name); break;
        case 'C': text_printf(out, "%s", comparison_of(e)); break;
        case 'O':
            text_printf(out, "%s", element_info[e].kind == FLOAT ? "TOTALORDER" : comparison_of(e));
            break;
        case 'S': text_printf(out, "%s", shape); break;
        default: printf("%s: $%c in a text\n", c->id, *at), exit(1);
        }
    }
}

/* Appends "a: T, b: T" or "%a, %b" or "T, T" for the values of every function. */
typedef enum Listing { NAMES_AND_TYPES, NAMES, TYPES } Listing;

static inline void list_values(Text *out, Listing as, const char *name, int first, int n,
                               const Type *types)
{
    for (int i = 0; i < n; i++) {
        const char *comma = first + i ? ", " : "";
        if (as == NAMES)
            text_printf(out, "%s%%%s%d", comma, name, first + i);
        else if (as == NAMES_AND_TYPES)
            text_printf(out, "%s%%%s%d: ", comma, name, first + i);
        else
            text_printf(out, "%s", comma);
        if (as != NAMES)
            type_print(out, types[i]);
    }
}

static inline int func_args(const Module *m, const Func *f, Type *types)
{
    const Region *body = region_at(m, f->body);
    for (int i = 0; i < body->nargs; i++)
        types[i] = type_of(m, body->args + (ValueId)i);
    return body->nargs;
}

enum { MOST_ARGS = 16 };

static inline void add_call(Text *out, const Module *m, int k, int first_arg)
{
    const Func *f = &m->funcs[k];
    Type args[MOST_ARGS];
    int nargs = func_args(m, f, args);
    text_printf(out, "  %%c%d:%d = func.call @f%d(", k, f->nresults, k);
    for (int i = 0; i < nargs; i++)
        text_printf(out, "%s%%x%d", i ? ", " : "", first_arg + i);
    text_printf(out, ") : (");
    list_values(out, TYPES, "", 0, nargs, args);
    text_printf(out, ") -> (");
    list_values(out, TYPES, "", 0, f->nresults, f->results);
    text_printf(out, ")\n");
}

/* main calls every function of m, on arguments of its own. */
static inline void add_main(Text *out, const Module *m)
{
    Type args[MOST_ARGS];
    int nargs = 0, nresults = 0;
    text_printf(out, "func.func public @main(");
    for (int k = 0; k < m->nfuncs; k++) {
        int n = func_args(m, &m->funcs[k], args);
        list_values(out, NAMES_AND_TYPES, "x", nargs, n, args);
        nargs += n;
    }
    text_printf(out, ") -> (");
    for (int k = 0; k < m->nfuncs; nresults += m->funcs[k++].nresults)
        list_values(out, TYPES, "", nresults, m->funcs[k].nresults, m->funcs[k].results);
    text_printf(out, ") {\n");
    nargs = 0;
    for (int k = 0; k < m->nfuncs; k++) {
        add_call(out, m, k, nargs);
        nargs += func_args(m, &m->funcs[k], args);
    }
    text_printf(out, "  return ");
    for (int k = 0, n = 0; k < m->nfuncs; k++)
        for (int i = 0; i < m->funcs[k].nresults; i++, n++)
            text_printf(out, "%s%%c%d#%d", n ? ", " : "", k, i);
    text_printf(out, " : ");
    for (int k = 0, n = 0; k < m->nfuncs; n += m->funcs[k++].nresults)
        list_values(out, TYPES, "", n, m->funcs[k].nresults, m->funcs[k].results);
    text_printf(out, "\n}\n");
}

/* The whole program of a case for an element type; is_short: with the first shapes only. */
static inline Error *instance_text(const Case *c, Element e, bool is_short, Text *out)
{
    static const char *const shapes[] = { "1023x", "",     "0x",     "1x",
                                          "17x",   "5x3x", "3x0x2x", "2x3x65x" };
    Text funcs = { 0 };
    int n = !strstr(c->text, "$S") ? 1 : is_short ? 2 : (int)(sizeof shapes / sizeof *shapes);
    for (int i = 0; i < n; i++) {
        text_printf(&funcs, "func.func private @f%d", i);
        fill_template(&funcs, c, e, shapes[i]);
    }
    Module *m = NULL;
    Error *error = read_text(text_cstr(&funcs), funcs.n, c->id, &m);
    if (!error) {
        text_printf(out, "module @%s {\n%s", c->id, text_cstr(&funcs));
        add_main(out, m);
        text_printf(out, "}\n");
    }
    module_free(m);
    text_free(&funcs);
    return error;
}
#endif
