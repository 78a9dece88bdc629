/* order.c - orders of dimensions: made, read from XLA's notation, and turned into strides; the names of
 * memories. */
#include "engine/order.h"

#include <string.h>

const char *const memory_kind_names[MEMORY_KINDS] = { "device", "pinned_host", "unpinned_host" };

bool order_of(int rank, const int64_t *minor_to_major, Order *out)
{
    Order o = 0;
    uint32_t seen = 0;
    bool is_row_major = true;
    for (int i = 0; i < rank; i++) {
        int64_t d = minor_to_major[i];
        if (d < 0 || d >= rank || (seen >> d & 1))
            return false;
        seen |= 1u << d;
        is_row_major = is_row_major && d == rank - 1 - i;
        if (i < ORDER_MAX_RANK)
            o |= (Order)d << (4 * i);
    }
    *out = is_row_major ? 0 : o;
    return is_row_major || rank <= ORDER_MAX_RANK;
}

int order_dim(Order o, int rank, int i)
{
    return o ? (int)(o >> (4 * i) & 15) : rank - 1 - i;
}

void order_physical(Order o, Type t, int64_t *dims, int64_t *which)
{
    for (int i = 0; i < t.rank; i++) {
        which[i] = order_dim(o, t.rank, t.rank - 1 - i);
        dims[i] = t.dims[which[i]];
    }
}

void order_byte_strides(Order o, Type t, int64_t *strides)
{
    int64_t stride = element_info[t.element].bytes;
    for (int i = 0; i < t.rank; i++) {
        int d = order_dim(o, t.rank, i);
        strides[d] = stride;
        stride *= t.dims[d] ? t.dims[d] : 1;
    }
}

/* The numbers between the braces; tiles and the like may follow them.  -1: that is no list. */
static int read_dims(Str text, int64_t *dims, size_t *end)
{
    size_t i = 1;
    int n = 0;
    while (i < text.n && text.at[i] >= '0' && text.at[i] <= '9' && n < MAX_RANK) {
        int64_t d = 0;
        for (; i < text.n && text.at[i] >= '0' && text.at[i] <= '9' && d < MAX_RANK; i++)
            d = 10 * d + text.at[i] - '0';
        dims[n++] = d;
        i += i + 1 < text.n && text.at[i] == ',';
    }
    *end = i;
    return text.n && text.at[0] == '{' ? n : -1;
}

Error *order_parse(Str text, int rank, Order *out, bool *is_auto)
{
    int64_t dims[MAX_RANK];
    size_t end;
    *out = 0;
    *is_auto = str_equal(text, STR("auto"));
    if (*is_auto || str_equal(text, STR("default")))
        return NULL;
    if (read_dims(text, dims, &end) != rank || end >= text.n)
        return error_new(CODE_INVALID, "\"%.*s\" is no layout of an array of rank %d",
                         STR_ARG(text), rank);
    if (text.at[end] != '}' && memcmp(text.at + end, ":E(", text.n - end < 3 ? text.n - end : 3))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: the layout %.*s; dimensions may lie in any order, without "
                         "tiles",
                         STR_ARG(text));
    if (!order_of(rank, dims, out))
        return error_new(CODE_INVALID,
                         "the layout %.*s names not each dimension once, or more than %d",
                         STR_ARG(text), ORDER_MAX_RANK);
    return NULL;
}
