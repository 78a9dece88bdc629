/* parse_sdy.c - Shardy's notation: meshes, shardings, manual axes.
 *
 *   mesh        <["a"=2, "b"=4], device_ids=[1, 0, ...]>
 *   sharding    <@mesh, [{"a", "b"}, {"c":(1)2, ?}, {}], replicated={"d"}>
 *
 * A sharding that names a mesh may stand in front of the mesh itself. */
#include "hlo/read/parse.h"

static Error *parse_device_ids(Parser *p, Mesh *mesh)
{
    Numbers ids = { 0 };
    TRY(need_word(p, "device_ids", "in the mesh"));
    TRY(need_mark(p, '=', "after device_ids"));
    TRY(parse_numbers(p, "before the device ids", &ids));
    mesh->device_ids = ints_copy(p->arena, ids.n, ids.at);
    return NULL;
}

Error *parse_mesh(Parser *p, Mesh **out)
{
    Strs axes = { 0 };
    Numbers sizes = { 0 };
    Mesh *mesh = ARENA_NEW(p->arena, Mesh);
    TRY(need_mark(p, '<', "before the mesh"));
    const char *where = p->token.text.at;
    TRY(need_mark(p, '[', "before the axes"));
    if (!take_mark(p, ']')) {
        do {
            Str axis;
            int64_t size;
            TRY(need_string(p, "the name of an axis", &axis));
            TRY(need_mark(p, '=', "after the axis"));
            TRY(need_integer(p, "the size of the axis", &size));
            LIST_ADD(p->arena, &axes, axis);
            LIST_ADD(p->arena, &sizes, size);
        } while (take_mark(p, ','));
        TRY(need_mark(p, ']', "after the axes"));
    }
    if (take_mark(p, ','))
        TRY(parse_device_ids(p, mesh));
    int64_t devices = 1;
    for (int i = 0; i < sizes.n; i++)
        if (sizes.at[i] < 1 || __builtin_mul_overflow(devices, sizes.at[i], &devices) ||
            devices > INT32_MAX)
            return wrong(p, where,
                         "the sizes of a mesh must be positive, their product below 2^31");
    mesh->naxes = axes.n;
    mesh->axes = axes.at;
    mesh->sizes = sizes.at;
    *out = mesh;
    return need_mark(p, '>', "at the end of the mesh");
}

/* "a", or a part of it: "a":(1)2 */
static Error *parse_axis(Parser *p, const Mesh *mesh, AxisRef *out)
{
    Str name;
    const char *where = p->token.text.at;
    TRY(need_string(p, "the name of an axis", &name));
    int axis = 0;
    while (axis < mesh->naxes && !str_equal(mesh->axes[axis], name))
        axis++;
    if (axis == mesh->naxes)
        return wrong(p, where, "the mesh has no axis \"%.*s\"", STR_ARG(name));
    *out = (AxisRef){ axis, 1, mesh->sizes[axis] };
    if (!take_mark(p, ':'))
        return NULL;
    TRY(need_mark(p, '(', "before the size in front of the sub-axis"));
    TRY(need_integer(p, "a size", &out->pre_size));
    TRY(need_mark(p, ')', "after the size in front of the sub-axis"));
    TRY(need_integer(p, "the size of the sub-axis", &out->size));
    if (out->pre_size < 1 || out->size < 1 || out->pre_size > mesh->sizes[axis] ||
        out->size > mesh->sizes[axis] || mesh->sizes[axis] % (out->pre_size * out->size) != 0)
        return wrong(p, where, "axis \"%.*s\" of size %lld has no such part", STR_ARG(name),
                     (long long)mesh->sizes[axis]);
    return NULL;
}

/* {"a", "b"}, {"a", ?}, {?}, {}, each perhaps with a priority: {"a"}p1 */
static Error *parse_dim(Parser *p, const Mesh *mesh, DimSharding *out)
{
    LIST(AxisRef) axes = { 0 };
    *out = (DimSharding){ 0 };
    TRY(need_mark(p, '{', "before the axes of a dimension"));
    if (!take_mark(p, '}')) {
        do {
            AxisRef axis;
            if (take_mark(p, '?')) {
                out->is_open = true;
                break;
            }
            TRY(parse_axis(p, mesh, &axis));
            LIST_ADD(p->arena, &axes, axis);
        } while (take_mark(p, ','));
        TRY(need_mark(p, '}', "after the axes of a dimension"));
    }
    out->naxes = axes.n;
    out->axes = axes.at;
    if (p->token.kind == TOKEN_WORD && p->token.text.at[0] == 'p')
        advance(p);
    return NULL;
}

/* replicated={"a"}: says nothing new.  unreduced={"a"}: every device holds a part of a sum. */
static Error *parse_leftover(Parser *p, Sharding *s)
{
    bool is_unreduced = at_word(p, "unreduced");
    if (!is_unreduced && !at_word(p, "replicated"))
        return expected(p, "replicated or unreduced");
    advance(p);
    TRY(need_mark(p, '=', "before the axes"));
    DimSharding axes;
    TRY(parse_dim(p, s->mesh, &axes));
    if (is_unreduced)
        s->unreduced = axes;
    return NULL;
}

static bool is_read(const Parser *p, const char *where)
{
    for (int i = 0; i < p->meshes_read.n; i++)
        if (p->meshes_read.at[i] == where)
            return true;
    return false;
}

Error *define_mesh(Parser *p, const char *where, Str name, Mesh *mesh)
{
    if (is_read(p, where))
        return NULL;
    if (mesh_find(p->m, name))
        return wrong(p, where, "mesh @%.*s is defined twice", STR_ARG(name));
    mesh->name = name;
    mesh_add(p->m, mesh);
    LIST_ADD(p->arena, &p->meshes_read, where);
    return NULL;
}

/* sdy.mesh, or "sdy.mesh"( with the bracket: an attribute may hold that string too. */
static bool starts_mesh(Token token, Lexer rest)
{
    if (token.kind == TOKEN_WORD)
        return str_is(token.text, "sdy.mesh");
    return token.kind == TOKEN_STRING && str_is(token.text, "\"sdy.mesh\"") &&
           str_is(lex_next(&rest).text, "(");
}

/* Reads the meshes of the whole text: once, when the first one is used above its definition. */
static Error *find_meshes(Parser *p)
{
    if (p->has_all_meshes)
        return NULL;
    p->has_all_meshes = true;
    Lexer lex = { .start = p->lex.start, .at = p->lex.start, .end = p->lex.end };
    for (;;) {
        const char *at = lex.at;
        Token token = lex_next(&lex);
        if (token.kind == TOKEN_END || token.kind == TOKEN_BAD)
            return NULL;
        if (starts_mesh(token, lex) && !is_read(p, token.text.at)) {
            Bookmark mark = parser_jump(p, at);
            TRY(parse_top(p));
            parser_return(p, mark);
        }
    }
}

static Error *parse_mesh_ref(Parser *p, const Mesh **out)
{
    const char *where = p->token.text.at;
    if (take_word(p, "mesh")) {
        Mesh *mesh;
        TRY(parse_mesh(p, &mesh));
        *out = mesh;
        return NULL;
    }
    Str name;
    TRY(need_symbol(p, "a mesh", &name));
    *out = mesh_find(p->m, name);
    if (*out)
        return NULL;
    TRY(find_meshes(p));
    *out = mesh_find(p->m, name);
    return *out ? NULL : wrong(p, where, "the module has no mesh @%.*s", STR_ARG(name));
}

Error *parse_sharding(Parser *p, const Sharding **out)
{
    LIST(DimSharding) dims = { 0 };
    Sharding *sharding = ARENA_NEW(p->arena, Sharding);
    TRY(need_mark(p, '<', "before the sharding"));
    TRY(parse_mesh_ref(p, &sharding->mesh));
    TRY(need_mark(p, ',', "after the mesh"));
    const char *where = p->token.text.at;
    TRY(need_mark(p, '[', "before the dimensions"));
    if (!take_mark(p, ']')) {
        do {
            DimSharding dim;
            TRY(parse_dim(p, sharding->mesh, &dim));
            LIST_ADD(p->arena, &dims, dim);
        } while (take_mark(p, ','));
        TRY(need_mark(p, ']', "after the dimensions"));
    }
    if (dims.n > MAX_RANK)
        return unsupported(p, where, "a sharding of more than %d dimensions", MAX_RANK);
    while (take_mark(p, ','))
        TRY(parse_leftover(p, sharding));
    sharding->rank = dims.n;
    sharding->dims = dims.at;
    *out = sharding;
    return need_mark(p, '>', "at the end of the sharding");
}

Error *parse_shardings(Parser *p, const Attr **out)
{
    LIST(const Sharding *) list = { 0 };
    TRY(need_mark(p, '[', "before the shardings"));
    if (!take_mark(p, ']')) {
        do {
            const Sharding *sharding;
            TRY(parse_sharding(p, &sharding));
            LIST_ADD(p->arena, &list, sharding);
        } while (take_mark(p, ','));
        TRY(need_mark(p, ']', "after the shardings"));
    }
    Attr attr = { .kind = ATTR_SHARDINGS, .n = list.n, .shardings = list.at };
    *out = arena_copy(p->arena, &attr, sizeof attr);
    return NULL;
}

Error *parse_manual_axes(Parser *p, const Attr **out)
{
    LIST(const Attr *) axes = { 0 };
    TRY(need_mark(p, '{', "before the manual axes"));
    if (!take_mark(p, '}')) {
        do {
            Str axis;
            TRY(need_string(p, "the name of an axis", &axis));
            LIST_ADD(p->arena, &axes, attr_string(p->arena, axis));
        } while (take_mark(p, ','));
        TRY(need_mark(p, '}', "after the manual axes"));
    }
    Attr attr = { .kind = ATTR_ARRAY, .n = axes.n, .items = axes.at };
    *out = arena_copy(p->arena, &attr, sizeof attr);
    return NULL;
}
