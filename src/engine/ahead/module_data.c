/* module_data.c - what a module is made of, as data.
 *
 * A function x_data takes the offset of a struct that has been copied into the image, adds what the
 * struct points to, and says so; one that returns an offset adds the struct itself.  Attributes go by
 * the table of attrs.def, so a new attribute is nothing new here. */
#include "engine/ahead/ahead.h"

#include <string.h>

enum { POINTER = sizeof(void *) };

static int64_t ints_data(Image *i, int64_t n, const int64_t *at)
{
    return n > 0 && at ? image_share(i, at, (size_t)n * sizeof *at, sizeof *at) : NOWHERE;
}

void string_data(Image *i, int64_t at, Str s)
{
    int64_t bytes = NOWHERE;
    if (s.at) {
        Text copy = { 0 };
        text_add(&copy, s.at, s.n);
        text_add(&copy, "", 1); /* some are read as C's strings */
        bytes = image_share(i, copy.at, copy.n, 1);
        text_free(&copy);
    }
    image_point(i, at + (int64_t)offsetof(Str, at), bytes);
}

/* No tuple is left in a program that is compiled. */
void type_data(Image *i, int64_t at, const Type *t)
{
    image_point(i, at + (int64_t)offsetof(Type, dims), ints_data(i, t->rank, t->dims));
}

int64_t types_data(Image *i, int n, const Type *types)
{
    int64_t at = image_add(i, types, (size_t)n * sizeof *types, POINTER);
    for (int k = 0; k < n; k++)
        type_data(i, at + k * (int64_t)sizeof *types, &types[k]);
    return at;
}

void tiling_data(Image *i, int64_t at, const Tiling *t)
{
    int64_t parts = NOWHERE;
    if (t->nparts && t->part_of)
        parts = image_share(i, t->part_of, (size_t)t->ndevices * sizeof *t->part_of,
                            sizeof *t->part_of);
    image_point(i, at + (int64_t)offsetof(Tiling, tiles), ints_data(i, t->rank, t->tiles));
    image_point(i, at + (int64_t)offsetof(Tiling, tile_of),
                ints_data(i, (int64_t)t->rank * t->ndevices, t->tile_of));
    image_point(i, at + (int64_t)offsetof(Tiling, part_of), parts);
}

int64_t tilings_data(Image *i, int n, const Tiling *tilings)
{
    if (!tilings)
        return NOWHERE;
    int64_t at = image_add(i, tilings, (size_t)n * sizeof *tilings, POINTER);
    for (int k = 0; k < n; k++)
        tiling_data(i, at + k * (int64_t)sizeof *tilings, &tilings[k]);
    return at;
}

static void dense_data(Image *i, int64_t at, const Dense *d)
{
    int64_t elements = d->is_splat ? 1 : type_count(d->type);
    size_t bytes = (size_t)elements * (size_t)element_info[d->type.element].bytes;
    type_data(i, at + (int64_t)offsetof(Dense, type), &d->type);
    image_point(i, at + (int64_t)offsetof(Dense, data),
                bytes ? image_share(i, d->data, bytes, 16) : NOWHERE);
}

/* ---- attributes ---- */

static int64_t attr_data(Image *i, const Attr *attr);

static int64_t items_data(Image *i, const Attr *attr)
{
    int64_t at = image_add(i, attr->items, (size_t)attr->n * POINTER, POINTER);
    for (int k = 0; k < attr->n; k++)
        image_point(i, at + k * POINTER, attr_data(i, attr->items[k]));
    return at;
}

static int64_t keys_data(Image *i, const Attr *attr)
{
    int64_t at = image_add(i, attr->keys, (size_t)attr->n * sizeof *attr->keys, POINTER);
    for (int k = 0; k < attr->n; k++)
        string_data(i, at + k * (int64_t)sizeof *attr->keys, attr->keys[k]);
    return at;
}

/* Shardings have done their work before there is code: none is left in the data. */
static int64_t attr_data(Image *i, const Attr *attr)
{
    if (!attr || attr->kind == ATTR_SHARDING || attr->kind == ATTR_SHARDINGS)
        return NOWHERE;
    Attr plain = { .kind = attr->kind, .element = attr->element, .n = attr->n };
    memcpy(&plain.integer, &attr->integer, offsetof(Attr, keys) - offsetof(Attr, integer));
    int64_t at = image_add(i, &plain, sizeof plain, POINTER);
    int64_t value = at + (int64_t)offsetof(Attr, integer);
    switch (attr->kind) {
    case ATTR_STRING:
    case ATTR_WORD: string_data(i, value, attr->string); break;
    case ATTR_TYPE: type_data(i, value, &attr->type); break;
    case ATTR_DENSE: dense_data(i, value, &attr->dense); break;
    case ATTR_DICT: image_point(i, at + (int64_t)offsetof(Attr, keys), keys_data(i, attr));
    /* fall through */
    case ATTR_ARRAY: image_point(i, value, items_data(i, attr)); break;
    default: break;
    }
    return at;
}

/* A list is a count and a pointer. */
static void field_data(Image *i, const AttrField *f, int64_t at, const void *from)
{
    const Ints *ints = from;
    const Matrix *matrix = from;
    const Tilings *tilings = from;
    switch (f->type) {
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_FLOATING:
    case FIELD_PRECISIONS:
    case FIELD_WORD: break;
    case FIELD_INTS:
        image_point(i, at + (int64_t)offsetof(Ints, at), ints_data(i, ints->n, ints->at));
        break;
    case FIELD_MATRIX:
        image_point(i, at + (int64_t)offsetof(Matrix, at),
                    ints_data(i, (int64_t)matrix->rows * matrix->cols, matrix->at));
        break;
    case FIELD_STRING: string_data(i, at, *(const Str *)from); break;
    case FIELD_DENSE: dense_data(i, at, from); break;
    case FIELD_ANY: image_point(i, at, attr_data(i, *(const Attr *const *)from)); break;
    case FIELD_SHARDING: image_point(i, at, NOWHERE); break;
    case FIELD_SHARDINGS: image_point(i, at + (int64_t)offsetof(Shardings, at), NOWHERE); break;
    case FIELD_TILINGS:
        image_point(i, at + (int64_t)offsetof(Tilings, at),
                    tilings_data(i, tilings->n, tilings->at));
        break;
    }
}

int64_t attrs_data(Image *i, AttrsKind kind, const void *attrs)
{
    if (!attrs)
        return NOWHERE;
    int64_t at = image_add(i, attrs, attrs_size(kind), 16);
    for (const AttrField *f = attrs_fields(kind); f->name; f++)
        field_data(i, f, at + (int64_t)f->offset, (const char *)attrs + f->offset);
    return at;
}

/* ---- the tables ---- */

static int64_t loc_data(Image *i, const Loc *loc)
{
    int64_t at = image_add(i, loc, sizeof *loc, POINTER);
    string_data(i, at + (int64_t)offsetof(Loc, file), loc->file);
    string_data(i, at + (int64_t)offsetof(Loc, name), loc->name);
    return at;
}

static int64_t numbers_data(Image *i, int n, const uint32_t *numbers)
{
    return n ? image_share(i, numbers, (size_t)n * sizeof *numbers, sizeof *numbers) : NOWHERE;
}

static int64_t values_data(Image *i, const Module *m)
{
    int64_t at = image_add(i, m->values, m->nvalues * sizeof *m->values, POINTER);
    for (uint32_t k = 0; k < m->nvalues; k++)
        type_data(i, at + (int64_t)(k * sizeof *m->values + offsetof(Value, type)),
                  &m->values[k].type);
    return at;
}

static void node_data(Image *i, int64_t at, const Node *n)
{
    image_point(i, at + (int64_t)offsetof(Node, in), numbers_data(i, n->nin, n->in));
    image_point(i, at + (int64_t)offsetof(Node, regions), numbers_data(i, n->nregions, n->regions));
    image_point(i, at + (int64_t)offsetof(Node, attrs),
                attrs_data(i, op_info[n->op].attrs, n->attrs));
    image_point(i, at + (int64_t)offsetof(Node, extra), attr_data(i, n->extra));
    image_point(i, at + (int64_t)offsetof(Node, loc), loc_data(i, n->loc ? n->loc : &loc_unknown));
}

int64_t module_data(Image *i, const Module *m)
{
    Module plain = { .nreplicas = m->nreplicas,
                     .npartitions = m->npartitions,
                     .nvalues = m->nvalues,
                     .nnodes = m->nnodes,
                     .nregions = m->nregions };
    int64_t values = values_data(i, m);
    int64_t nodes = image_add(i, m->nodes, m->nnodes * sizeof *m->nodes, POINTER);
    for (NodeId n = 0; n < m->nnodes; n++)
        node_data(i, nodes + n * (int64_t)sizeof *m->nodes, &m->nodes[n]);
    int64_t regions = image_add(i, m->regions, m->nregions * sizeof *m->regions, POINTER);
    for (RegionId r = 0; r < m->nregions; r++)
        image_point(i, regions + (int64_t)(r * sizeof *m->regions + offsetof(Region, nodes)),
                    numbers_data(i, m->regions[r].nnodes, m->regions[r].nodes));
    int64_t at = image_add(i, &plain, sizeof plain, POINTER);
    image_point(i, at + (int64_t)offsetof(Module, values), values);
    image_point(i, at + (int64_t)offsetof(Module, nodes), nodes);
    image_point(i, at + (int64_t)offsetof(Module, regions), regions);
    return at;
}
