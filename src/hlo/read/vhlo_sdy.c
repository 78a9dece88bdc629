/* vhlo_sdy.c - Shardy's attributes, and VHLO's groups that name mesh axes.
 *
 * A sharding is written as a tree (sharding > dimensions > axes > parts of axes) whose axes
 * are names.  Here they become positions in the mesh; so meshes must be known first, which
 * vhlo.c sees to. */
#include "base/guard.h"
#include "hlo/read/vhlo.h"

#include <inttypes.h>
#include <string.h>

enum {
    MANUAL_AXES = 0,
    MESH_AXIS = 1,
    MESH = 2,
    SUB_AXIS = 3,
    AXIS_REF = 4,
    DIMENSION = 5,
    SHARDING = 6,
    PER_VALUE = 7,
    RULE = 10,
    SHARDING_UNREDUCED = 15,
    PER_VALUE_UNREDUCED = 16,
    SHARDING_REDUCTION = 17
};
enum {
    VHLO_ARRAY = 1,
    VHLO_DENSE = 15,
    VHLO_SUB_AXIS = 21,
    VHLO_AXIS_REF = 22,
    VHLO_MESH_AXIS = 24,
    VHLO_MESH = 25
};
enum { MAX_AXES = 128 };        /* of a mesh, and in one sharding */
enum { MAX_GROUPED = 1 << 14 }; /* devices in groups that are given by axes */

/* ---- meshes ---- */

static Error *check_mesh(const Cursor *place, const Mesh *mesh)
{
    for (int i = 0; i < mesh->naxes; i++)
        if (mesh->sizes[i] < 1)
            return cursor_error(place,
                                "a size of at least 1 for axis \"%.*s\" of a mesh, got %" PRId64,
                                STR_ARG(mesh->axes[i]), mesh->sizes[i]);
    int64_t count = mesh_count(mesh);
    if (count > INT32_MAX)
        return cursor_error(place, "a mesh of less than 2^31 devices");
    if (mesh->device_ids.n && mesh->device_ids.n != count)
        return cursor_error(place, "%" PRId64 " device ids in a mesh, got %d", count,
                            mesh->device_ids.n);
    return NULL;
}

static Error *start_mesh(Vhlo *v, Cursor *c, Str name, Mesh **out)
{
    int n;
    TRY(take_count(c, "mesh axes", &n));
    if (n > MAX_AXES)
        return cursor_error(c, "a mesh of at most %d axes, got %d", MAX_AXES, n);
    Mesh *mesh = ARENA_NEW(v->arena, Mesh);
    mesh->name = name;
    mesh->naxes = n;
    mesh->axes = ARENA_ARRAY(v->arena, Str, n);
    mesh->sizes = ARENA_ARRAY(v->arena, int64_t, n);
    *out = mesh;
    return NULL;
}

Error *sdy_mesh(Vhlo *v, uint32_t index, Str name, Mesh **out)
{
    Cursor c, axis;
    uint32_t child;
    Mesh *mesh;
    TRY(vhlo_entry(v, index, "sdy", MESH, "a mesh", &c));
    Cursor place = c;
    TRY(start_mesh(v, &c, name, &mesh));
    for (int i = 0; i < mesh->naxes; i++) {
        TRY(take_attr_index(v, &c, &child));
        TRY(vhlo_entry(v, child, "sdy", MESH_AXIS, "a mesh axis", &axis));
        TRY(take_string(v, &axis, &mesh->axes[i]));
        TRY(take_signed(&axis, &mesh->sizes[i]));
    }
    TRY(take_ints(v, &c, "device ids", &mesh->device_ids));
    TRY(check_mesh(&place, mesh));
    *out = mesh;
    return NULL;
}

/* By symbol, or written in place. */
static Error *mesh_or_ref(Vhlo *v, uint32_t index, const Mesh **out)
{
    Str name;
    Mesh *mesh;
    if (str_is(v->b->attrs[index].dialect, "sdy")) {
        TRY(sdy_mesh(v, index, (Str){ 0 }, &mesh));
    } else {
        TRY(vhlo_string(v, index, &name));
        mesh = mesh_find(v->m, name);
        if (!mesh)
            return cursor_error(&v->b->attrs[index].bytes, "a mesh of the module, got @%.*s",
                                STR_ARG(name));
    }
    *out = mesh;
    return NULL;
}

static Error *find_axis(const Cursor *place, const Mesh *mesh, Str name, AxisRef *out)
{
    for (int i = 0; i < mesh->naxes; i++)
        if (str_equal(mesh->axes[i], name)) {
            *out = (AxisRef){ i, 1, mesh->sizes[i] };
            return NULL;
        }
    return cursor_error(place, "an axis of mesh @%.*s, got \"%.*s\"", STR_ARG(mesh->name),
                        STR_ARG(name));
}

static Error *take_part(Cursor *c, const Mesh *mesh, AxisRef *ref)
{
    Cursor place = *c;
    int64_t part, whole = mesh->sizes[ref->axis];
    TRY(take_signed(c, &ref->pre_size));
    TRY(take_signed(c, &ref->size));
    if (ref->pre_size < 1 || ref->size < 1 ||
        __builtin_mul_overflow(ref->pre_size, ref->size, &part) || whole % part != 0)
        return cursor_error(&place, "a part of a mesh axis that divides its size, %" PRId64, whole);
    return NULL;
}

/* ---- shardings ---- */

static Error *axis_ref(Vhlo *v, uint32_t index, const Mesh *mesh, AxisRef *out)
{
    Cursor c, part;
    Str name;
    bool is_part;
    uint32_t child;
    TRY(vhlo_entry(v, index, "sdy", AXIS_REF, "a reference to a mesh axis", &c));
    Cursor place = c;
    TRY(take_string(v, &c, &name));
    TRY(find_axis(&place, mesh, name, out));
    TRY(take_optional(v, &c, &is_part, &child));
    if (!is_part)
        return NULL;
    TRY(vhlo_entry(v, child, "sdy", SUB_AXIS, "a part of a mesh axis", &part));
    return take_part(&part, mesh, out);
}

/* A list of axes. */
static Error *take_axes(Vhlo *v, Cursor *c, const Mesh *mesh, int *budget, DimSharding *out)
{
    int n;
    TRY(take_count(c, "mesh axes", &n));
    *budget -= n;
    if (*budget < 0)
        return cursor_error(c, "at most %d axes in a sharding", MAX_AXES);
    AxisRef *axes = ARENA_ARRAY(v->arena, AxisRef, n);
    for (int i = 0; i < n; i++) {
        uint32_t child;
        TRY(take_attr_index(v, c, &child));
        TRY(axis_ref(v, child, mesh, &axes[i]));
    }
    *out = (DimSharding){ n, axes, false };
    return NULL;
}

static Error *dimension(Vhlo *v, uint32_t index, const Mesh *mesh, int *budget, DimSharding *out)
{
    Cursor c;
    uint8_t is_closed;
    TRY(vhlo_entry(v, index, "sdy", DIMENSION, "the sharding of a dimension", &c));
    TRY(take_axes(v, &c, mesh, budget, out));
    TRY(take_byte(&c, &is_closed)); /* a priority follows: how to propagate, which we do not */
    out->is_open = !is_closed;
    return NULL;
}

static Error *take_sharding(Vhlo *v, Cursor *c, uint64_t code, const Sharding **out)
{
    uint32_t index;
    int budget = MAX_AXES;
    Sharding s = { 0 };
    DimSharding replicated;
    int64_t reduction = 0;
    TRY(take_attr_index(v, c, &index));
    TRY(mesh_or_ref(v, index, &s.mesh));
    TRY(take_count(c, "dimensions", &s.rank));
    if (s.rank > MAX_RANK)
        return cursor_error(c, "a sharding of at most %d dimensions, got %d", MAX_RANK, s.rank);
    DimSharding *dims = ARENA_ARRAY(v->arena, DimSharding, s.rank);
    for (int i = 0; i < s.rank; i++) {
        TRY(take_attr_index(v, c, &index));
        TRY(dimension(v, index, s.mesh, &budget, &dims[i]));
    }
    s.dims = dims;
    TRY(take_axes(v, c, s.mesh, &budget, &replicated)); /* says nothing new */
    if (code != SHARDING)
        TRY(take_axes(v, c, s.mesh, &budget, &s.unreduced));
    if (code == SHARDING_REDUCTION)
        TRY(take_signed(c, &reduction));
    if (reduction)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a sharding with axes unreduced by max "
                         "or min, in %s at byte %zu",
                         v->b->name, cursor_offset(c));
    *out = arena_copy(v->arena, &s, sizeof s);
    return NULL;
}

static Error *take_per_value(Vhlo *v, Cursor *c, Attr *out)
{
    TRY(take_count(c, "shardings", &out->n));
    const Sharding **shardings = ARENA_ARRAY(v->arena, const Sharding *, out->n);
    for (int i = 0; i < out->n; i++) {
        uint32_t index;
        const Attr *attr;
        TRY(take_attr_index(v, c, &index));
        TRY(vhlo_attr(v, index, &attr));
        if (!attr || attr->kind != ATTR_SHARDING)
            return cursor_error(c, "a sharding");
        shardings[i] = attr->sharding;
    }
    out->kind = ATTR_SHARDINGS;
    out->shardings = shardings;
    return NULL;
}

static Error *take_names(Vhlo *v, Cursor *c, Attr *out)
{
    TRY(take_count(c, "axis names", &out->n));
    const Attr **names = ARENA_ARRAY(v->arena, const Attr *, out->n);
    for (int i = 0; i < out->n; i++) {
        uint32_t index;
        TRY(take_attr_index(v, c, &index));
        TRY(vhlo_attr(v, index, &names[i]));
        if (!names[i] || names[i]->kind != ATTR_STRING)
            return cursor_error(c, "the name of a mesh axis");
    }
    out->kind = ATTR_ARRAY;
    out->items = names;
    return NULL;
}

Error *sdy_attr(Vhlo *v, Cursor *c, Attr *out, bool *is_kept)
{
    uint64_t code;
    TRY(take_varint(c, &code));
    switch (code) {
    case MANUAL_AXES: return take_names(v, c, out);
    case SHARDING:
    case SHARDING_UNREDUCED:
    case SHARDING_REDUCTION:
        out->kind = ATTR_SHARDING;
        return take_sharding(v, c, code, &out->sharding);
    case PER_VALUE:
    case PER_VALUE_UNREDUCED: return take_per_value(v, c, out);
    }
    /* Sharding rules, and parts of the above that are decoded in their place. */
    *is_kept = false;
    c->at = c->end;
    return NULL;
}

/* ---- groups of devices by mesh axes ---- */

static Error *vhlo_mesh(Vhlo *v, uint32_t index, Mesh **out)
{
    Cursor c, list, axis;
    uint32_t child, ids;
    bool has_ids;
    Mesh *mesh;
    TRY(vhlo_entry(v, index, "vhlo", VHLO_MESH, "a mesh", &c));
    Cursor place = c;
    TRY(take_attr_index(v, &c, &child));
    TRY(vhlo_entry(v, child, "vhlo", VHLO_ARRAY, "a list of mesh axes", &list));
    TRY(start_mesh(v, &list, (Str){ 0 }, &mesh));
    for (int i = 0; i < mesh->naxes; i++) {
        TRY(take_attr_index(v, &list, &child));
        TRY(vhlo_entry(v, child, "vhlo", VHLO_MESH_AXIS, "a mesh axis", &axis));
        TRY(take_attr_index(v, &axis, &child));
        TRY(vhlo_string(v, child, &mesh->axes[i]));
        TRY(take_signed(&axis, &mesh->sizes[i]));
    }
    TRY(take_optional(v, &c, &has_ids, &ids));
    if (has_ids) {
        const Attr *attr;
        TRY(vhlo_attr(v, ids, &attr));
        if (!attr || attr->kind != ATTR_DENSE || attr->dense.type.element != I64 ||
            attr->dense.type.rank != 1 || (attr->dense.is_splat && attr->dense.type.dims[0] != 1) ||
            attr->dense.type.dims[0] > MAX_GROUPED)
            return cursor_error(&c, "a list of device ids");
        mesh->device_ids = (Ints){ (int)attr->dense.type.dims[0], attr->dense.data };
    }
    *out = mesh;
    return check_mesh(&place, mesh);
}

static Error *group_mesh(Vhlo *v, uint32_t index, const Mesh **out)
{
    Cursor c = v->b->attrs[index].bytes;
    Mesh *mesh = NULL;
    uint64_t code;
    TRY(take_varint(&c, &code));
    if (code == VHLO_MESH && str_is(v->b->attrs[index].dialect, "vhlo")) {
        TRY(vhlo_mesh(v, index, &mesh));
        *out = mesh;
    } else {
        TRY(mesh_or_ref(v, index, out));
    }
    if (mesh_count(*out) > MAX_GROUPED)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: groups of more than %d devices given "
                         "by mesh axes, in %s at byte %zu",
                         MAX_GROUPED, v->b->name, cursor_offset(&c));
    return NULL;
}

static Error *group_axes(Vhlo *v, uint32_t index, const Mesh *mesh, int *n, AxisRef *axes)
{
    Cursor list, c, part;
    TRY(vhlo_entry(v, index, "vhlo", VHLO_ARRAY, "a list of mesh axes", &list));
    TRY(take_count(&list, "mesh axes", n));
    if (*n > MAX_AXES)
        return cursor_error(&list, "at most %d mesh axes", MAX_AXES);
    for (int i = 0; i < *n; i++) {
        uint32_t child;
        Str name;
        uint64_t is_part;
        TRY(take_attr_index(v, &list, &child));
        TRY(vhlo_entry(v, child, "vhlo", VHLO_AXIS_REF, "a reference to a mesh axis", &c));
        Cursor place = c;
        TRY(take_attr_index(v, &c, &child));
        TRY(vhlo_string(v, child, &name));
        TRY(find_axis(&place, mesh, name, &axes[i]));
        TRY(take_varint(&c, &is_part));
        if (!is_part)
            continue;
        TRY(take_attr_index(v, &c, &child));
        TRY(vhlo_entry(v, child, "vhlo", VHLO_SUB_AXIS, "a part of a mesh axis", &part));
        TRY(take_part(&part, mesh, &axes[i]));
    }
    return NULL;
}

/* Where position p stands along the listed axes: which member of its group it is, and the
 * position of the group's first member. */
static int64_t member(const Mesh *mesh, int n, const AxisRef *axes, int64_t p, int64_t *first)
{
    int64_t index = 0;
    *first = p;
    for (int i = 0; i < n; i++) {
        int64_t stride = mesh->sizes[axes[i].axis] / (axes[i].pre_size * axes[i].size);
        for (int j = axes[i].axis + 1; j < mesh->naxes; j++)
            stride *= mesh->sizes[j];
        int64_t coordinate = p / stride % axes[i].size;
        index = index * axes[i].size + coordinate;
        *first -= coordinate * stride;
    }
    return index;
}

/* Groups in the order of their first members; members row-major over the listed axes. */
static void fill_groups(const Mesh *mesh, int n, const AxisRef *axes, int64_t size, int64_t *out)
{
    int64_t count = mesh_count(mesh), ngroups = 0;
    int64_t *group_at = HEAP_ARRAY(int64_t, count, "a list of groups of devices");
    for (int64_t p = 0; p < count; p++) {
        int64_t first;
        if (member(mesh, n, axes, p, &first) == 0)
            group_at[p] = ngroups++;
    }
    for (int64_t p = 0; p < count; p++) {
        int64_t first, index = member(mesh, n, axes, p, &first);
        out[group_at[first] * size + index] = mesh->device_ids.n ? mesh->device_ids.at[p] : p;
    }
    heap_free(group_at);
}

/* Two references to one axis must take different parts of it. */
static bool is_disjoint(AxisRef a, AxisRef b)
{
    if (a.axis != b.axis)
        return true;
    AxisRef major = a.pre_size < b.pre_size ? a : b, minor = a.pre_size < b.pre_size ? b : a;
    return minor.pre_size % (major.pre_size * major.size) == 0;
}

Error *vhlo_mesh_groups(Vhlo *v, Cursor *c, Attr *out)
{
    uint32_t mesh_index, axes_index;
    const Mesh *mesh;
    AxisRef axes[MAX_AXES];
    int n;
    int64_t size = 1;
    Cursor place = *c;
    TRY(take_attr_index(v, c, &mesh_index));
    TRY(take_attr_index(v, c, &axes_index));
    TRY(group_mesh(v, mesh_index, &mesh));
    TRY(group_axes(v, axes_index, mesh, &n, axes));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            if (!is_disjoint(axes[i], axes[j]))
                return cursor_error(&place, "mesh axes that do not overlap");
        size *= axes[i].size;
    }
    int64_t count = mesh_count(mesh), *groups = ARENA_ARRAY(v->arena, int64_t, count);
    fill_groups(mesh, n, axes, size, groups);
    out->kind = ATTR_DENSE;
    out->dense.type = type_new(v->arena, I64, 2, (int64_t[]){ count / size, size });
    out->dense.data = groups;
    return NULL;
}
