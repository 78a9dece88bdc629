/* bytecode_ops.c - the IR section: a tree of operations, operands resolved to value numbers.
 *
 * The file numbers values within a scope: the file itself, and the regions of every operation
 * marked isolated.  Entering a region adds as many slots as it says it defines; its arguments
 * and then the results of its operations take them in order; leaving it drops them.
 *
 *   scope of f          [arg0 arg1 %0 %1 ...]
 *     region of while   [arg0 arg1 %0 %1 ... | body's arg0, %0 ...]     not isolated
 *     region of reduce                     [a b %0]                     isolated: starts at 0
 *
 * All scopes share one array of slots; what an operand names becomes a number that is unique
 * in the file. */
#include "hlo/read/bytecode.h"

#include "base/guard.h"

enum { MAX_DEPTH = 128 }; /* of regions in regions */
enum {
    HAS_ATTRS = 0x01,
    HAS_RESULTS = 0x02,
    HAS_OPERANDS = 0x04,
    HAS_SUCCESSORS = 0x08,
    HAS_REGIONS = 0x10,
    HAS_USE_ORDERS = 0x20,
    HAS_PROPERTIES = 0x40
};

typedef struct Ops {
    Bytecode *b;
    uint32_t *slots; /* value number, or 0: not defined yet */
    uint32_t room;   /* no honest file needs more slots than it has bytes */
    uint32_t scope;  /* slot of the scope's value 0 */
    uint32_t next;   /* slot of the next value defined in this region */
    uint32_t top;    /* end of this region's slots */
    int depth;
} Ops;

static Error *read_block(Ops *o, Cursor *c, BlockCode *block);

/* How the uses of n values were ordered: of no use to us, so only read over. */
static Error *skip_use_orders(Cursor *c, uint64_t n)
{
    uint64_t lists = 1, ignored, m;
    bool is_pairs;
    if (n > 1)
        TRY(take_varint(c, &lists));
    for (uint64_t i = 0; i < lists; i++) {
        if (n > 1)
            TRY(take_varint(c, &ignored));
        TRY(take_flagged(c, &m, &is_pairs));
        for (uint64_t j = 0; j < m; j++)
            TRY(take_varint(c, &ignored));
    }
    return NULL;
}

/* Numbers the next n values of this region. */
static Error *define(Ops *o, const Cursor *c, int n, uint32_t *first)
{
    if ((uint32_t)n > o->top - o->next)
        return cursor_error(c, "at most %u more values in this region, got %d", o->top - o->next,
                            n);
    *first = o->b->nvalues + 1;
    for (int i = 0; i < n; i++)
        o->slots[o->next++] = ++o->b->nvalues;
    return NULL;
}

static Error *read_types(Ops *o, Cursor *c, int *n, const uint32_t **out)
{
    TRY(take_count(c, "results", n));
    uint32_t *types = ARENA_ARRAY(o->b->arena, uint32_t, *n);
    for (int i = 0; i < *n; i++)
        TRY(take_index(c, "a type", o->b->ntypes, &types[i]));
    *out = types;
    return NULL;
}

static Error *read_operands(Ops *o, Cursor *c, OpCode *op)
{
    TRY(take_count(c, "operands", &op->noperands));
    uint32_t *operands = ARENA_ARRAY(o->b->arena, uint32_t, op->noperands);
    for (int i = 0; i < op->noperands; i++) {
        uint32_t number;
        Cursor before = *c;
        TRY(take_index(c, "a value", o->top - o->scope, &number));
        operands[i] = o->slots[o->scope + number];
        if (!operands[i])
            return cursor_error(&before, "a value that is defined before its use, got %u", number);
    }
    op->operands = operands;
    return NULL;
}

static Error *read_op_properties(Ops *o, Cursor *c, OpCode *op)
{
    uint32_t index;
    if (!o->b->ops[op->name].is_registered)
        return cursor_error(c, "properties of an operation that the writer knew");
    TRY(take_index(c, "properties", o->b->nproperties, &index));
    op->properties = o->b->properties[index];
    op->has_properties = true;
    return NULL;
}

static Error *read_region(Ops *o, Cursor *c, BlockCode *block)
{
    uint64_t nblocks, nvalues;
    Cursor before = *c;
    TRY(take_varint(c, &nblocks));
    block->is_empty = nblocks == 0;
    if (nblocks == 0)
        return NULL;
    if (nblocks != 1)
        return cursor_error(&before, "a region of one block, got %llu",
                            (unsigned long long)nblocks);
    TRY(take_varint(c, &nvalues));
    if (nvalues > o->room - o->top)
        return cursor_error(&before, "a count of values that fits the file, got %llu",
                            (unsigned long long)nvalues);
    uint32_t next = o->next, top = o->top;
    o->next = top;
    o->top = top + (uint32_t)nvalues;
    for (uint32_t i = o->next; i < o->top; i++)
        o->slots[i] = 0;
    TRY(read_block(o, c, block));
    if (o->next != o->top)
        return cursor_error(c, "%u more values in this region", o->top - o->next);
    o->next = next;
    o->top = top;
    return NULL;
}

/* Regions in the cursor's bytes, or in a section of their own when isolated. */
static Error *read_regions(Ops *o, Cursor *c, OpCode *op, int n, bool is_isolated)
{
    Cursor inner, *from = c;
    uint32_t scope = o->scope;
    if (++o->depth > MAX_DEPTH)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: more than %d regions in one another, "
                         "in %s at byte %zu",
                         MAX_DEPTH, o->b->name, cursor_offset(c));
    if (is_isolated && o->b->version >= 2) {
        int id;
        TRY(bytecode_section(c, &id, &inner));
        if (id != 4)
            return cursor_error(c, "a section of operations (4), got %d", id);
        from = &inner;
    }
    if (is_isolated)
        o->scope = o->top;
    op->nregions = n;
    op->regions = ARENA_ARRAY(o->b->arena, BlockCode, n);
    for (int i = 0; i < n; i++)
        TRY(read_region(o, from, &op->regions[i]));
    o->scope = scope;
    o->depth--;
    return from == c ? NULL : take_end(from, "the regions of an operation");
}

/* Everything up to the regions. */
static Error *read_op_head(Ops *o, Cursor *c, OpCode *op, unsigned mask)
{
    TRY(take_index(c, "a location", o->b->nattrs, &op->location));
    op->dict = NO_ATTR;
    if (mask & HAS_ATTRS)
        TRY(take_index(c, "an attribute", o->b->nattrs, &op->dict));
    if (mask & HAS_PROPERTIES)
        TRY(read_op_properties(o, c, op));
    if (mask & HAS_RESULTS)
        TRY(read_types(o, c, &op->nresults, &op->types));
    if (mask & HAS_OPERANDS)
        TRY(read_operands(o, c, op));
    if (mask & HAS_SUCCESSORS)
        return cursor_error(c, "an operation without successors");
    if (mask & HAS_USE_ORDERS && o->b->version >= 3)
        TRY(skip_use_orders(c, (uint64_t)op->nresults));
    return NULL;
}

static Error *read_op(Ops *o, Cursor *c, OpCode *op)
{
    uint8_t mask;
    op->place = *c;
    TRY(take_index(c, "an operation's name", o->b->nops, &op->name));
    TRY(take_byte(c, &mask));
    TRY(read_op_head(o, c, op, mask));
    if (mask & HAS_REGIONS) {
        Cursor before = *c;
        uint64_t n;
        bool is_isolated;
        TRY(take_flagged(c, &n, &is_isolated));
        if (n > cursor_left(c))
            return cursor_error(&before, "a count of regions that fits the file");
        TRY(read_regions(o, c, op, (int)n, is_isolated));
    }
    return define(o, c, op->nresults, &op->results);
}

static Error *read_args(Ops *o, Cursor *c, BlockCode *block)
{
    TRY(take_count(c, "arguments", &block->nargs));
    uint32_t *types = ARENA_ARRAY(o->b->arena, uint32_t, block->nargs);
    for (int i = 0; i < block->nargs; i++) {
        uint64_t type;
        uint32_t location;
        bool has_location = true;
        Cursor before = *c;
        if (o->b->version >= 4)
            TRY(take_flagged(c, &type, &has_location));
        else
            TRY(take_varint(c, &type));
        if (type >= o->b->ntypes)
            return cursor_error(&before, "the number of a type below %u", o->b->ntypes);
        if (has_location)
            TRY(take_index(c, "a location", o->b->nattrs, &location));
        types[i] = (uint32_t)type;
    }
    block->types = types;
    if (o->b->version >= 3) {
        uint8_t has_orders;
        TRY(take_byte(c, &has_orders));
        if (has_orders)
            TRY(skip_use_orders(c, (uint64_t)block->nargs));
    }
    return define(o, c, block->nargs, &block->args);
}

static Error *read_block(Ops *o, Cursor *c, BlockCode *block)
{
    uint64_t nops;
    bool has_args;
    TRY(take_flagged(c, &nops, &has_args));
    if (nops > cursor_left(c))
        return cursor_error(c, "a count of operations that fits the file");
    block->nops = (int)nops;
    if (has_args)
        TRY(read_args(o, c, block));
    OpCode **end = &block->first;
    for (uint64_t i = 0; i < nops; i++) {
        OpCode *op = ARENA_NEW(o->b->arena, OpCode);
        TRY(read_op(o, c, op));
        *end = op;
        end = &op->next;
    }
    return NULL;
}

Error *bytecode_read_ops(Bytecode *b, Cursor ir)
{
    enum { MOST = 1 << 30 };
    Ops o = { .b = b, .room = cursor_left(&ir) < MOST ? (uint32_t)cursor_left(&ir) : MOST };
    BlockCode file = { 0 };
    o.slots = HEAP_ARRAY(uint32_t, (size_t)o.room + 1, "a table of values");
    Cursor begin = ir;
    Error *error = read_block(&o, &ir, &file);
    heap_free(o.slots);
    TRY(error);
    TRY(take_end(&ir, "the operations"));
    if (file.nops != 1)
        return cursor_error(&begin, "one module, got %d operations", file.nops);
    b->module = file.first;
    return NULL;
}
