/* vhlo.c - portable bytecode to a Module.
 *
 * In: MLIR bytecode of the VHLO dialect (StableHLO with versions in its names), with Shardy's
 * operations among it.  Out: the same program as StableHLO operations.
 *
 *   vhlo.add_v1            stablehlo.add
 *   vhlo.call_v1           func.call
 *   sdy.manual_computation itself
 *   sdy.mesh               a mesh of the module, read before everything else
 *   builtin.unrealized_conversion_cast, sdy.propagation_barrier: nothing; the result is the
 *                          operand
 *   sdy.sharding_group     calls that say so (vhlo_groups.c)
 *
 * Attributes reach an operation in two ways: old files write a dictionary; newer ones write
 * references in an order that vhlo_ops.def knows, and a dictionary of foreign ones beside it.
 * Both become one list of names, then a dictionary, then the operation's struct. */
#include "hlo/read/vhlo.h"
#include "ops/number.h"

#include <string.h>

typedef enum Role { NODE, ALIAS, GROUP, FUNCTION, MESH, MODULE, UNKNOWN } Role;

struct KnownOp {
    Role role;
    OpId op;
    Str name;          /* "stablehlo.add" */
    const char *attrs; /* names as in vhlo_ops.def, or NULL */
};

typedef struct NamedAttr {
    Str name;
    uint32_t index;
} NamedAttr;

typedef struct NamedAttrs {
    int n;
    NamedAttr *at;
} NamedAttrs;

/* ---- operation names ---- */

static const char *attrs_of(Str dialect, Str name)
{
    static const struct {
        const char *op, *attrs;
    } rows[] = {
#define ROW(op, attrs) { op, attrs },
#include "hlo/read/vhlo_ops.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *dot = strchr(rows[i].op, '.');
        if (str_equal(dialect, (Str){ rows[i].op, (size_t)(dot - rows[i].op) }) &&
            str_is(name, dot + 1))
            return rows[i].attrs;
    }
    return NULL;
}

/* "add_v1" without its version. */
static Str without_version(Str name)
{
    size_t n = name.n;
    while (n > 0 && name.at[n - 1] >= '0' && name.at[n - 1] <= '9')
        n--;
    bool is_versioned = n < name.n && n > 2 && name.at[n - 1] == 'v' && name.at[n - 2] == '_';
    return is_versioned ? (Str){ name.at, n - 2 } : name;
}

static Str full_name(Arena *arena, Str dialect, Str name)
{
    bool is_vhlo = str_is(dialect, "vhlo");
    Str base = is_vhlo ? without_version(name) : name;
    if (is_vhlo)
        dialect = str_is(base, "call") ? STR("func") : STR("stablehlo");
    Text text = { 0 };
    text_printf(&text, "%.*s.%.*s", STR_ARG(dialect), STR_ARG(base));
    Str full = str_copy(arena, (Str){ text_cstr(&text), text.n });
    text_free(&text);
    return full;
}

static struct KnownOp know(Arena *arena, const OpNameCode *code)
{
    static const struct {
        const char *name;
        Role role;
        OpId op;
    } special[] = {
        { "builtin.module", MODULE, 0 },         { "builtin.unrealized_conversion_cast", ALIAS, 0 },
        { "stablehlo.func", FUNCTION, 0 },       { "sdy.mesh", MESH, 0 },
        { "sdy.return", NODE, OP_RETURN },       { "sdy.reshard", NODE, OP_CONSTRAINT },
        { "sdy.propagation_barrier", ALIAS, 0 }, { "sdy.sharding_group", GROUP, 0 },
    };
    struct KnownOp known = { UNKNOWN, 0, full_name(arena, code->dialect, code->name),
                             attrs_of(code->dialect, code->name) };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (str_is(known.name, special[i].name)) {
            known.role = special[i].role;
            known.op = special[i].op;
            return known;
        }
    if (op_find(known.name, &known.op))
        known.role = NODE;
    return known;
}

/* ---- attributes of an operation ---- */

static Error *add_dictionary(Vhlo *v, uint32_t index, NamedAttrs *out, int room)
{
    Cursor c;
    int n;
    TRY(vhlo_entry(v, index, "builtin", 1, "a dictionary", &c));
    TRY(take_count(&c, "named attributes", &n));
    if (n > room - out->n)
        return cursor_error(&c, "at most %d named attributes, got %d", room, n);
    for (int i = 0; i < n; i++) {
        uint32_t key;
        NamedAttr *to = &out->at[out->n++];
        TRY(take_attr_index(v, &c, &key));
        TRY(vhlo_string(v, key, &to->name));
        TRY(take_attr_index(v, &c, &to->index));
    }
    return take_end(&c, "a dictionary");
}

static Error *in_operation(const Vhlo *v, const OpCode *op, Error *error)
{
    return error ? error_in(error, "%.*s", STR_ARG(v->ops[op->name].name)) : NULL;
}

static Error *add_properties(Vhlo *v, const OpCode *op, NamedAttrs *out)
{
    Cursor c = op->properties;
    const char *names = v->ops[op->name].attrs;
    while (names && *names) {
        bool is_optional = *names == '?', is_there = true;
        names += is_optional;
        size_t n = strcspn(names, " ");
        uint32_t index;
        if (is_optional)
            TRY(take_optional(v, &c, &is_there, &index));
        else
            TRY(take_attr_index(v, &c, &index));
        if (is_there)
            out->at[out->n++] = (NamedAttr){ { names, n }, index };
        names += n + (names[n] == ' ');
    }
    return take_end(&c, "its properties");
}

enum { MAX_NAMED = 256 };

/* Into room for MAX_NAMED. */
static Error *named_attrs(Vhlo *v, const OpCode *op, NamedAttrs *out)
{
    out->n = 0;
    if (op->has_properties)
        TRY(in_operation(v, op, add_properties(v, op, out)));
    if (op->dict != NO_ATTR)
        TRY(add_dictionary(v, op->dict, out, MAX_NAMED));
    return NULL;
}

static bool find_named(const NamedAttrs *list, const char *name, uint32_t *index)
{
    for (int i = 0; i < list->n; i++)
        if (str_is(list->at[i].name, name)) {
            *index = list->at[i].index;
            return true;
        }
    return false;
}

static Error *need_named(const OpCode *op, const NamedAttrs *list, const char *name,
                         uint32_t *index)
{
    return find_named(list, name, index)
               ? NULL
               : cursor_error(&op->place, "an operation with attribute '%s'", name);
}

/* Whether all numbers of a list are x. */
static bool is_all(Dense dense, int64_t x)
{
    const ElementInfo *info = &element_info[dense.type.element];
    int64_t n = dense.is_splat ? 1 : type_count(dense.type);
    if (info->kind != BOOLEAN && info->kind != SIGNED)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (number_int(dense.type.element, (const char *)dense.data + i * info->bytes) != x)
            return false;
    return true;
}

/* Every VHLO attribute is written, given or not; what was not given is left out here, so that
 * a program is the same whichever way it was read. */
static bool says_nothing(Str name, const Attr *attr)
{
    static const struct {
        const char *name;
        int64_t each; /* what a list holds that was not given */
    } lists[] = {
        { "window_strides", 1 },  { "base_dilations", 1 }, { "window_dilations", 1 },
        { "lhs_dilation", 1 },    { "rhs_dilation", 1 },   { "padding", 0 },
        { "window_reversal", 0 },
    };
    static const char *const others[] = { "backend_config", "called_computations",
                                          "composite_attributes" };
    if (attr->kind == ATTR_DENSE)
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (str_is(name, lists[i].name))
                return is_all(attr->dense, lists[i].each);
    bool is_empty = (attr->kind == ATTR_STRING && attr->string.n == 0) ||
                    ((attr->kind == ATTR_ARRAY || attr->kind == ATTR_DICT) && attr->n == 0);
    for (size_t i = 0; is_empty && i < sizeof others / sizeof *others; i++)
        if (str_is(name, others[i]))
            return true;
    return false;
}

/* A list that one element stands for is written out later: not without limit. */
static Error *check_list(const OpCode *op, Str name, const Attr *attr)
{
    enum { LONGEST = 1 << 14 };
    bool is_list = attr->kind == ATTR_DENSE && !str_is(name, "value");
    if (is_list && type_count(attr->dense.type) > LONGEST)
        return cursor_error(&op->place, "at most %d numbers in '%.*s', got %s", LONGEST,
                            STR_ARG(name), type_name(attr->dense.type));
    return NULL;
}

static Error *attr_dictionary(Vhlo *v, const OpCode *op, const NamedAttrs *list, const Attr **out)
{
    AttrDict dict = { 0 };
    for (int i = 0; i < list->n; i++) {
        const Attr *attr;
        Str name = list->at[i].name;
        TRY(vhlo_attr(v, list->at[i].index, &attr));
        if (!attr || says_nothing(name, attr))
            continue;
        TRY(check_list(op, name, attr));
        attr_set(v->arena, &dict, name, attr);
    }
    *out = dict.n ? attr_dict(v->arena, &dict) : NULL;
    return NULL;
}

/* ---- operations ---- */

static Error *build_region(Vhlo *v, const OpCode *parent, const BlockCode *block, RegionId *out);

static Error *unsupported(Vhlo *v, const OpCode *op)
{
    const Loc *loc = vhlo_loc(v, op->location);
    return error_new(CODE_UNIMPLEMENTED, "not supported: operation %.*s%s%.*s%s at %s",
                     STR_ARG(v->ops[op->name].name), loc->name.n ? " (" : "", STR_ARG(loc->name),
                     loc->name.n ? ")" : "", loc_name(loc));
}

static Error *result_types(Vhlo *v, int n, const uint32_t *indices, Type **out)
{
    *out = ARENA_ARRAY(v->b->arena, Type, n);
    for (int i = 0; i < n; i++)
        TRY(vhlo_array_type(v, indices[i], &(*out)[i]));
    return NULL;
}

static Error *build_alias(Vhlo *v, const OpCode *op)
{
    Type *types;
    TRY(result_types(v, op->nresults, op->types, &types));
    if (op->nresults != op->noperands)
        return cursor_error(&op->place, "as many results as operands of a cast, got %d and %d",
                            op->nresults, op->noperands);
    for (int i = 0; i < op->nresults; i++) {
        ValueId operand = v->values[op->operands[i]];
        if (!type_equal(type_of(v->m, operand), types[i]))
            return cursor_error(&op->place, "a cast that keeps the type, got %s to %s",
                                type_name(type_of(v->m, operand)), type_name(types[i]));
        v->values[op->results + (uint32_t)i] = operand;
    }
    return NULL;
}

static Error *node_attrs(Vhlo *v, const OpCode *op, OpId id, const void **attrs, const Attr **extra)
{
    NamedAttr room[MAX_NAMED];
    NamedAttrs list = { 0, room };
    const Attr *dict;
    TRY(named_attrs(v, op, &list));
    TRY(attr_dictionary(v, op, &list, &dict));
    Error *error = attrs_from_dict(v->arena, op_info[id].attrs, op_name(id), dict, attrs, extra);
    if (error && error_code(error) == CODE_INVALID)
        return error_in(error, "%s: byte %zu", v->b->name, cursor_offset(&op->place));
    return error;
}

static Error *build_plain(Vhlo *v, const OpCode *op, OpId id, RegionId region)
{
    const void *attrs;
    const Attr *extra;
    Type *types;
    TRY(node_attrs(v, op, id, &attrs, &extra));
    TRY(result_types(v, op->nresults, op->types, &types));
    RegionId *regions = ARENA_ARRAY(v->b->arena, RegionId, op->nregions);
    for (int i = 0; i < op->nregions; i++)
        TRY(build_region(v, op, &op->regions[i], &regions[i]));
    ValueId *in = ARENA_ARRAY(v->b->arena, ValueId, op->noperands);
    for (int i = 0; i < op->noperands; i++)
        in[i] = subst_get(&v->marked, v->values[op->operands[i]]);
    NodeId n = node_new(v->m, id, op->noperands, in, op->nresults, types, op->nregions, regions,
                        attrs, vhlo_loc(v, op->location));
    node_at(v->m, n)->extra = extra;
    region_append(v->m, region, n);
    for (int i = 0; i < op->nresults; i++)
        v->values[op->results + (uint32_t)i] = node_at(v->m, n)->out + (uint32_t)i;
    return NULL;
}

static Error *build_group(Vhlo *v, const OpCode *op, RegionId region)
{
    NamedAttr room[MAX_NAMED];
    NamedAttrs list = { 0, room };
    uint32_t index;
    const Attr *id;
    TRY(named_attrs(v, op, &list));
    TRY(need_named(op, &list, "group_id", &index));
    TRY(vhlo_attr(v, index, &id));
    if (!id || id->kind != ATTR_INT)
        return cursor_error(&op->place, "a group_id that is a number");
    return group_add(v, op, id->integer, region);
}

static Error *build_op(Vhlo *v, const OpCode *op, RegionId region)
{
    const struct KnownOp *known = &v->ops[op->name];
    switch (known->role) {
    case NODE: return build_plain(v, op, known->op, region);
    case ALIAS: return build_alias(v, op);
    case GROUP: return build_group(v, op, region);
    default: return unsupported(v, op);
    }
}

static bool is_return(const Vhlo *v, const OpCode *op)
{
    return v->ops[op->name].role == NODE && v->ops[op->name].op == OP_RETURN;
}

static Error *build_region(Vhlo *v, const OpCode *parent, const BlockCode *block, RegionId *out)
{
    Type *types;
    if (block->is_empty || !block->first)
        return cursor_error(&parent->place, "an operation whose regions are not empty");
    TRY(result_types(v, block->nargs, block->types, &types));
    RegionId r = region_new(v->m, 0, block->nargs, types);
    const ShardGroup *outer = v->groups;
    for (int i = 0; i < block->nargs; i++)
        v->values[block->args + (uint32_t)i] = region_at(v->m, r)->args + (uint32_t)i;
    for (const OpCode *op = block->first; op; op = op->next) {
        if (is_return(v, op) != !op->next)
            return cursor_error(&op->place, "a return at the end of a region and nowhere else");
        TRY(build_op(v, op, r));
    }
    groups_leave(v, outer);
    *out = r;
    return NULL;
}

/* ---- functions ---- */

/* An attribute that is a list of dictionaries, one per argument or none at all. */
static Error *value_attrs(Vhlo *v, const OpCode *op, const NamedAttrs *list, const char *name,
                          int n, const Attr *const **out)
{
    uint32_t index;
    const Attr *attr;
    const Attr **made = ARENA_ARRAY(v->arena, const Attr *, n);
    *out = made;
    if (!find_named(list, name, &index))
        return NULL;
    TRY(vhlo_attr(v, index, &attr));
    if (!attr || attr->kind != ATTR_ARRAY || (attr->n != 0 && attr->n != n))
        return cursor_error(&op->place, "'%s' with %d dictionaries or none", name, n);
    for (int i = 0; i < attr->n; i++) {
        if (attr->items[i]->kind != ATTR_DICT)
            return cursor_error(&op->place, "'%s' with dictionaries", name);
        made[i] = attr->items[i]->n ? attr->items[i] : NULL;
    }
    return NULL;
}

/* What a function takes must be what its body's block takes. */
static Error *function_type(Vhlo *v, const OpCode *op, uint32_t attr, Func *f)
{
    Cursor c;
    uint32_t index;
    FileType type;
    int nargs;
    const Type *args;
    TRY(vhlo_entry(v, attr, "vhlo", 17, "the type of a function", &c));
    TRY(take_index(&c, "a type", v->b->ntypes, &index));
    TRY(vhlo_type(v, index, &type));
    if (type.kind != TYPE_FUNCTION)
        return cursor_error(&op->place, "a function with the type of a function");
    TRY(vhlo_type_list(v, &type.lists, &nargs, &args));
    TRY(vhlo_type_list(v, &type.lists, &f->nresults, &f->results));
    if (op->nregions != 1 || nargs != op->regions[0].nargs)
        return cursor_error(&op->place, "a function whose body takes its %d arguments", nargs);
    for (int i = 0; i < nargs; i++) {
        Type given;
        TRY(vhlo_array_type(v, op->regions[0].types[i], &given));
        if (!type_equal(given, args[i]))
            return cursor_error(&op->place, "a body that takes %s as argument %d, got %s",
                                type_name(args[i]), i, type_name(given));
    }
    return NULL;
}

static Error *build_func(Vhlo *v, const OpCode *op)
{
    NamedAttr room[MAX_NAMED];
    NamedAttrs list = { 0, room };
    Func f = { .loc = vhlo_loc(v, op->location) };
    uint32_t index;
    Str visibility = { 0 };
    TRY(named_attrs(v, op, &list));
    TRY(need_named(op, &list, "sym_name", &index));
    TRY(vhlo_string(v, index, &f.name));
    if (find_named(&list, "sym_visibility", &index))
        TRY(vhlo_string(v, index, &visibility));
    f.is_public = !str_is(visibility, "private");
    if (func_find(v->m, f.name))
        return cursor_error(&op->place, "one function @%.*s, this is the second", STR_ARG(f.name));
    TRY(need_named(op, &list, "function_type", &index));
    TRY(function_type(v, op, index, &f));
    TRY(value_attrs(v, op, &list, "arg_attrs", op->regions[0].nargs, &f.arg_attrs));
    TRY(value_attrs(v, op, &list, "res_attrs", f.nresults, &f.result_attrs));
    TRY(build_region(v, op, &op->regions[0], &f.body));
    *func_add(v->m, f.name) = f;
    return NULL;
}

/* ---- the module ---- */

static Error *build_mesh(Vhlo *v, const OpCode *op)
{
    NamedAttr room[MAX_NAMED];
    NamedAttrs list = { 0, room };
    uint32_t index;
    Str name;
    Mesh *mesh;
    TRY(named_attrs(v, op, &list));
    TRY(need_named(op, &list, "sym_name", &index));
    TRY(vhlo_string(v, index, &name));
    TRY(need_named(op, &list, "mesh", &index));
    TRY(sdy_mesh(v, index, name, &mesh));
    if (mesh_find(v->m, name))
        return cursor_error(&op->place, "one mesh @%.*s, this is the second", STR_ARG(name));
    mesh_add(v->m, mesh);
    return NULL;
}

static Error *device_count(const OpCode *op, const Attr *dict, const char *name, int *out)
{
    enum { MOST = 1 << 20 };
    const Attr *attr = attr_get(dict, name);
    if (!attr)
        return NULL;
    if (attr->kind != ATTR_INT || attr->integer < 1 || attr->integer > MOST)
        return cursor_error(&op->place, "a module with %s from 1 to %d", name, MOST);
    *out = (int)attr->integer;
    return NULL;
}

static Error *module_attrs(Vhlo *v, const OpCode *op)
{
    NamedAttr room[MAX_NAMED];
    NamedAttrs list = { 0, room };
    AttrDict dict = { 0 };
    TRY(named_attrs(v, op, &list));
    for (int i = 0; i < list.n; i++) {
        const Attr *attr;
        TRY(vhlo_attr(v, list.at[i].index, &attr));
        if (str_is(list.at[i].name, "sym_name"))
            TRY(vhlo_string(v, list.at[i].index, &v->m->name));
        else if (attr && !str_is(list.at[i].name, "sym_visibility"))
            attr_set(v->arena, &dict, list.at[i].name, attr);
    }
    v->m->attrs = dict.n ? attr_dict(v->arena, &dict) : NULL;
    TRY(device_count(op, v->m->attrs, "mhlo.num_replicas", &v->m->nreplicas));
    return device_count(op, v->m->attrs, "mhlo.num_partitions", &v->m->npartitions);
}

static Error *build_module(Vhlo *v, const OpCode *module)
{
    if (v->ops[module->name].role != MODULE || module->nregions != 1)
        return cursor_error(&module->place, "builtin.module with one region");
    /* Shardings name meshes, which may stand after them. */
    for (const OpCode *op = module->regions[0].first; op; op = op->next)
        if (v->ops[op->name].role == MESH)
            TRY(build_mesh(v, op));
    TRY(module_attrs(v, module));
    for (const OpCode *op = module->regions[0].first; op; op = op->next) {
        if (v->ops[op->name].role == FUNCTION)
            TRY(build_func(v, op));
        else if (v->ops[op->name].role != MESH)
            return unsupported(v, op);
    }
    return NULL;
}

static Error *read_into(Module *m, Arena *scratch, const char *bytes, size_t n, const char *name)
{
    Vhlo v = { .m = m, .arena = m->arena };
    TRY(bytecode_read(scratch, m->arena, bytes, n, name, &v.b));
    v.types = ARENA_ARRAY(scratch, struct KnownType, v.b->ntypes);
    v.attrs = ARENA_ARRAY(scratch, struct KnownAttr, v.b->nattrs);
    v.values = ARENA_ARRAY(scratch, ValueId, v.b->nvalues + 1);
    v.ops = ARENA_ARRAY(scratch, struct KnownOp, v.b->nops);
    for (uint32_t i = 0; i < v.b->nops; i++)
        v.ops[i] = know(scratch, &v.b->ops[i]);
    Error *error = build_module(&v, v.b->module);
    subst_free(&v.marked);
    return error;
}

Error *read_bytecode(const char *bytes, size_t n, const char *name, Module **out)
{
    Module *m = module_new();
    Arena *scratch = arena_new();
    Error *error = read_into(m, scratch, bytes, n, name);
    arena_free(scratch);
    if (error)
        module_free(m);
    else
        *out = m;
    return error;
}
