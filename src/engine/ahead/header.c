/* header.c - the C header of a program that is compiled ahead.
 *
 * Arguments and results are structs of pointers, one for each array in the program's order, so that a
 * list of pointers is what the runtime gets.  An element of C's type stands for each of the program's;
 * what C has no type for lies there by its bits. */
#include "engine/ahead/ahead.h"

#include <ctype.h>
#include <inttypes.h>

static const char *c_type(Element e)
{
    switch (e) {
    case F32: return "float";
    case F64: return "double";
    case C64: return "float"; /* real and imaginary part in turn */
    case C128: return "double";
    case I8: return "int8_t";
    case I16: return "int16_t";
    case I32: return "int32_t";
    case I64: return "int64_t";
    case U16: return "uint16_t";
    case U32: return "uint32_t";
    case U64: return "uint64_t";
    default: return element_info[e].bytes == 2 ? "uint16_t" : "uint8_t";
    }
}

static int64_t c_elements(Type t)
{
    return type_count(t) * (element_info[t.element].kind == COMPLEX ? 2 : 1);
}

static void upper(Text *out, const char *name)
{
    for (; *name; name++) {
        char c = (char)toupper((unsigned char)*name);
        text_add(out, &c, 1);
    }
}

static void print_type(Text *out, Type t)
{
    text_printf(out, "%s[", element_info[t.element].name);
    text_ints(out, t.dims, t.rank);
    text_printf(out, "]");
}

/* The arguments, or the results. */
typedef struct Side {
    const char *what; /* "arguments" */
    const char *kind; /* "arg": of those without a name */
    int n;
    const Param *params;
    const char *const *names; /* or NULL */
    bool is_const;
    const char *const *weights; /* or NULL */
} Side;

static void print_name(Text *out, const Side *s, int i)
{
    if (s->names)
        text_printf(out, "%s", s->names[i]);
    else
        text_printf(out, "%s%d", s->kind, i);
}

/* What one device holds, where that is not all of it. */
static void print_field(Text *out, const Side *s, int i)
{
    const Param *p = &s->params[i];
    text_printf(out, "    %s%s *", s->is_const ? "const " : "", c_type(p->whole.element));
    print_name(out, s, i);
    text_printf(out, "; /* ");
    print_type(out, p->whole);
    if (!tiling_is_replicated(p->tiling)) {
        text_printf(out, ", of which a device holds ");
        print_type(out, p->local);
    }
    if (s->weights && s->weights[i])
        text_printf(out, "; a weight");
    text_printf(out, " */\n");
}

static void print_struct(Text *out, const char *name, const Side *s)
{
    text_printf(out, "typedef struct %s_%s {\n", name, s->what);
    for (int i = 0; i < s->n; i++)
        print_field(out, s, i);
    if (!s->n)
        text_printf(out, "    char none;\n");
    text_printf(out, "} %s_%s;\n\n", name, s->what);
}

static void print_sizes(Text *out, const char *name, const Side *s)
{
    for (int i = 0; i < s->n; i++) {
        Text word = { 0 };
        text_printf(&word, "%s_", name);
        print_name(&word, s, i);
        text_printf(out, "    ");
        upper(out, text_cstr(&word));
        text_printf(out, " = %" PRId64 ", /* elements; ", c_elements(s->params[i].whole));
        print_type(out, s->params[i].whole);
        text_printf(out, " */\n");
        text_free(&word);
    }
}

static void print_open(Text *out, const char *name)
{
    text_printf(
        out,
        "\n/* Points the fields of `in` that are weights into a file like the one that the program "
        "was\n"
        " * compiled with, which tutti_rt_close lets go of; flags: see tutti_rt_open. */\n"
        "static inline const char *%s_open(const char *path, int flags, %s_arguments *in,\n"
        "                                  tutti_rt_weights **weights)\n"
        "{\n"
        "    return tutti_rt_open(&%s_program, path, flags, (const void **)(void *)in, weights);\n"
        "}\n",
        name, name, name);
}

static void print_calls(Text *out, const char *name)
{
    text_printf(
        out,
        "/* Whole arrays, which are cut and joined as the program says.  NULL: well; else what\n"
        " * went wrong, the calling thread's until its next call.  rt NULL: one that all calls\n"
        " * share. */\n"
        "static inline const char *%s(tutti_rt *rt, const %s_arguments *in,\n"
        "                             const %s_results *out)\n"
        "{\n"
        "    return tutti_rt_call(rt, &%s_program, (const void *const *)(const void *)in,\n"
        "                         (void *const *)(const void *)out);\n"
        "}\n\n",
        name, name, name, name);
    text_printf(
        out,
        "/* Each device's own pieces, in place: in[d] and out[d] are those of device d. */\n"
        "static inline const char *%s_pieces(tutti_rt *rt, const %s_arguments *in,\n"
        "                                    const %s_results *out)\n"
        "{\n"
        "    return tutti_rt_call_pieces(rt, &%s_program,\n"
        "                                (const void *const *)(const void *)in,\n"
        "                                (void *const *)(const void *)out);\n"
        "}\n",
        name, name, name, name);
}

void header_write(Text *out, const Header *h)
{
    const Program *p = h->program;
    const char *name = h->name;
    Side args = {
        "arguments", "arg", p->nargs, p->args, h->args, true, h->weights ? h->weights->names : NULL
    };
    Side results = { "results", "result", p->nresults, p->results, h->results, false, NULL };
    text_printf(out, "/* %s.h - made by tutti compile: the program %.*s, on %d device%s. */\n",
                name, STR_ARG(p->name), p->ndevices, p->ndevices == 1 ? "" : "s");
    text_printf(out, "#ifndef ");
    upper(out, name);
    text_printf(out, "_H\n#define ");
    upper(out, name);
    text_printf(out, "_H\n#include <tutti_rt.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text_printf(out, "extern const tutti_rt_program %s_program;\n\nenum {\n    ", name);
    upper(out, name);
    text_printf(out, "_DEVICES = %d,\n", p->ndevices);
    print_sizes(out, name, &args);
    print_sizes(out, name, &results);
    text_printf(out, "};\n\n");
    print_struct(out, name, &args);
    print_struct(out, name, &results);
    print_calls(out, name);
    if (h->weights)
        print_open(out, name);
    text_printf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
