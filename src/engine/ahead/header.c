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

/* What one device holds, where that is not all of it. */
static void print_param(Text *out, const Param *p, int number, const char *kind, bool is_const)
{
    text_printf(out, "    %s%s *%s%d; /* ", is_const ? "const " : "", c_type(p->whole.element),
                kind, number);
    print_type(out, p->whole);
    if (!tiling_is_replicated(p->tiling)) {
        text_printf(out, ", of which a device holds ");
        print_type(out, p->local);
    }
    text_printf(out, " */\n");
}

static void print_struct(Text *out, const char *name, const char *what, const char *kind, int n,
                         const Param *params, bool is_const)
{
    text_printf(out, "typedef struct %s_%s {\n", name, what);
    for (int i = 0; i < n; i++)
        print_param(out, &params[i], i, kind, is_const);
    if (!n)
        text_printf(out, "    char none;\n");
    text_printf(out, "} %s_%s;\n\n", name, what);
}

static void print_sizes(Text *out, const char *name, const char *kind, int n, const Param *params)
{
    for (int i = 0; i < n; i++) {
        text_printf(out, "    ");
        upper(out, name);
        text_printf(out, "_%s%d = %" PRId64 ",", kind, i, c_elements(params[i].whole));
        text_printf(out, " /* elements; ");
        print_type(out, params[i].whole);
        text_printf(out, " */\n");
    }
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

void header_write(Text *out, const char *name, const Program *program)
{
    text_printf(out, "/* %s.h - made by tutti compile: the program %.*s, on %d device%s. */\n",
                name, STR_ARG(program->name), program->ndevices, program->ndevices == 1 ? "" : "s");
    text_printf(out, "#ifndef ");
    upper(out, name);
    text_printf(out, "_H\n#define ");
    upper(out, name);
    text_printf(out, "_H\n#include <tutti_rt.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text_printf(out, "extern const tutti_rt_program %s_program;\n\nenum {\n    ", name);
    upper(out, name);
    text_printf(out, "_DEVICES = %d,\n", program->ndevices);
    print_sizes(out, name, "ARG", program->nargs, program->args);
    print_sizes(out, name, "RESULT", program->nresults, program->results);
    text_printf(out, "};\n\n");
    print_struct(out, name, "arguments", "arg", program->nargs, program->args, true);
    print_struct(out, name, "results", "result", program->nresults, program->results, false);
    print_calls(out, name);
    text_printf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
