/* print.c - a module as StableHLO text, which our reader and JAX's parser accept.
 *
 * Values are numbered as they are met, function by function; what a region numbers is free
 * again behind it, since nothing outside can mean it.  Printing what was read from a printed
 * text gives that text again. */
#include "hlo/print.h"

#include "base/guard.h"

#include <string.h>

void print_symbol(Printer *p, Str name)
{
    text_printf(p->out, "@");
    name_print(p->out, name);
}

void print_value(Printer *p, ValueId v)
{
    const Value *value = value_at(p->m, v);
    if (!value->node)
        text_printf(p->out, "%%arg%u", p->names[v]);
    else if (node_at(p->m, value->node)->nout == 1)
        text_printf(p->out, "%%%u", p->names[v]);
    else
        text_printf(p->out, "%%%u#%d", p->names[v], value->index);
}

void print_values(Printer *p, int n, const ValueId *at)
{
    for (int i = 0; i < n; i++) {
        text_printf(p->out, i ? ", " : "");
        print_value(p, at[i]);
    }
}

/* What async_start gives has the type of what it will be. */
static void print_type(Printer *p, ValueId v)
{
    NodeId def = value_def(p->m, v);
    bool is_future = def && node_at(p->m, def)->op == OP_ASYNC_START;
    text_printf(p->out, is_future ? "!stablehlo.future<" : "");
    type_print(p->out, type_of(p->m, v));
    text_printf(p->out, is_future ? ">" : "");
}

void print_types(Printer *p, int n, const ValueId *at)
{
    for (int i = 0; i < n; i++) {
        text_printf(p->out, i ? ", " : "");
        print_type(p, at[i]);
    }
}

void print_function_type(Printer *p, const Node *node)
{
    text_printf(p->out, "(");
    print_types(p, node->nin, node->in);
    text_printf(p->out, ") -> %s", node->nout == 1 ? "" : "(");
    for (int i = 0; i < node->nout; i++) {
        text_printf(p->out, i ? ", " : "");
        print_type(p, node->out + (ValueId)i);
    }
    text_printf(p->out, node->nout == 1 ? "" : ")");
}

void print_list(Printer *p, Ints list)
{
    text_printf(p->out, "[");
    text_ints(p->out, list.at, list.n);
    text_printf(p->out, "]");
}

static void print_location(Printer *p, const Loc *loc)
{
    if (!p->with_locations)
        return;
    text_printf(p->out, " loc(");
    if (loc->name.n)
        string_print(p->out, loc->name);
    if (loc->name.n && loc->file.n)
        text_printf(p->out, "(");
    if (loc->file.n) {
        string_print(p->out, loc->file);
        text_printf(p->out, ":%d:%d", loc->line, loc->column);
    } else if (!loc->name.n) {
        text_printf(p->out, "unknown");
    }
    text_printf(p->out, loc->name.n && loc->file.n ? "))" : ")");
}

static void new_line(Printer *p)
{
    text_printf(p->out, "\n%*s", p->indent * 2, "");
}

void name_args(Printer *p, RegionId r)
{
    const Region *region = region_at(p->m, r);
    for (int i = 0; i < region->nargs; i++)
        p->names[region->args + (ValueId)i] = p->nargs++;
}

void print_args(Printer *p, RegionId r)
{
    const Region *region = region_at(p->m, r);
    text_printf(p->out, "(");
    for (int i = 0; i < region->nargs; i++) {
        text_printf(p->out, i ? ", " : "");
        print_value(p, region->args + (ValueId)i);
        text_printf(p->out, ": ");
        type_print(p->out, type_of(p->m, region->args + (ValueId)i));
    }
    text_printf(p->out, ")");
}

static void print_node(Printer *p, NodeId n)
{
    const Node *node = node_at(p->m, n);
    new_line(p);
    if (node->nout) {
        for (int i = 0; i < node->nout; i++)
            p->names[node->out + (ValueId)i] = p->nnodes;
        text_printf(p->out, "%%%u", p->nnodes++);
        text_printf(p->out, node->nout == 1 ? " = " : ":%d = ", node->nout);
    }
    print_form(p, n);
    print_location(p, node->loc);
}

static void print_body(Printer *p, RegionId r)
{
    const Region *region = region_at(p->m, r);
    uint32_t nargs = p->nargs, nnodes = p->nnodes;
    p->indent++;
    for (int i = 0; i < region->nnodes; i++)
        print_node(p, region->nodes[i]);
    p->indent--;
    new_line(p);
    p->nargs = nargs;
    p->nnodes = nnodes;
}

void print_region(Printer *p, RegionId r, bool with_label)
{
    text_printf(p->out, "{");
    if (with_label && region_at(p->m, r)->nargs) {
        new_line(p);
        text_printf(p->out, "^bb0");
        print_args(p, r);
        text_printf(p->out, ":");
    }
    print_body(p, r);
    text_printf(p->out, "}");
}

static void print_own_attrs(Printer *p, const Attr *dict)
{
    if (!dict || !dict->n)
        return;
    text_printf(p->out, " ");
    attr_print(p->out, dict);
}

static void print_function_args(Printer *p, const Func *f)
{
    const Region *body = region_at(p->m, f->body);
    text_printf(p->out, "(");
    for (int i = 0; i < body->nargs; i++) {
        text_printf(p->out, i ? ", " : "");
        print_value(p, body->args + (ValueId)i);
        text_printf(p->out, ": ");
        type_print(p->out, type_of(p->m, body->args + (ValueId)i));
        print_own_attrs(p, f->arg_attrs ? f->arg_attrs[i] : NULL);
    }
    text_printf(p->out, ")");
}

static void print_function_results(Printer *p, const Func *f)
{
    bool is_plain = f->nresults == 1 && (!f->result_attrs || !f->result_attrs[0]);
    if (!f->nresults)
        return;
    text_printf(p->out, is_plain ? " -> " : " -> (");
    for (int i = 0; i < f->nresults; i++) {
        text_printf(p->out, i ? ", " : "");
        type_print(p->out, f->results[i]);
        print_own_attrs(p, f->result_attrs ? f->result_attrs[i] : NULL);
    }
    text_printf(p->out, is_plain ? "" : ")");
}

static void print_function(Printer *p, const Func *f)
{
    p->nargs = p->nnodes = 0;
    name_args(p, f->body);
    new_line(p);
    text_printf(p->out, "func.func %s ", f->is_public ? "public" : "private");
    print_symbol(p, f->name);
    print_function_args(p, f);
    print_function_results(p, f);
    text_printf(p->out, " ");
    print_region(p, f->body, false);
    print_location(p, f->loc);
}

/* The numbers of replicas and partitions are attributes too; they are said even when the
 * module was made without any. */
static void print_module_attrs(Printer *p)
{
    const Module *m = p->m;
    if (m->attrs && m->attrs->n) {
        text_printf(p->out, " attributes ");
        attr_print(p->out, m->attrs);
    } else if (m->nreplicas != 1 || m->npartitions != 1) {
        text_printf(p->out, " attributes {mhlo.num_partitions = %d : i32, ", m->npartitions);
        text_printf(p->out, "mhlo.num_replicas = %d : i32}", m->nreplicas);
    }
}

static void print_meshes(Printer *p)
{
    for (int i = 0; i < p->m->nmeshes; i++) {
        new_line(p);
        text_printf(p->out, "sdy.mesh ");
        print_symbol(p, p->m->meshes[i]->name);
        text_printf(p->out, " = ");
        mesh_print(p->out, p->m->meshes[i]);
    }
}

void module_print(Text *out, const Module *m, bool with_locations)
{
    Printer p = { .out = out, .m = m, .with_locations = with_locations, .indent = 1 };
    p.names = HEAP_ARRAY(uint32_t, m->nvalues, "a table of values");
    text_printf(out, "module");
    if (m->name.n) {
        text_printf(out, " ");
        print_symbol(&p, m->name);
    }
    print_module_attrs(&p);
    text_printf(out, " {");
    print_meshes(&p);
    for (int i = 0; i < m->nfuncs; i++)
        print_function(&p, &m->funcs[i]);
    text_printf(out, "\n}\n");
    heap_free(p.names);
}
