/* lapack_fits.c - the options of LAPACK's calls, and what their extents must be beyond what the
 * signatures say. */
#include "engine/numerics/lapack.h"

#include "engine/eval/custom.h"

int64_t option(const Call *c, const char *name, int64_t otherwise)
{
    return custom_option(c->n, name, otherwise);
}

bool option_is(const Call *c, const char *name, char letter)
{
    return option(c, name, 0) == letter;
}

static int64_t shorter(Tensor a)
{
    return extent(a, 2) < extent(a, 1) ? extent(a, 2) : extent(a, 1);
}

static Error *too_many_reflectors(const Call *c)
{
    Tensor a = c->in[0];
    return error_new(CODE_INVALID, "%lld reflectors in a matrix of %lld x %lld, at %s",
                     (long long)extent(c->in[1], 1), (long long)extent(a, 2),
                     (long long)extent(a, 1), loc_name(c->n->loc));
}

Error *orgqr_fits(Call *c)
{
    return extent(c->in[1], 1) > shorter(c->in[0]) ? too_many_reflectors(c) : NULL;
}

Error *ormqr_fits(Call *c)
{
    TRY(orgqr_fits(c));
    int64_t side = extent(c->in[2], option(c, "left", 1) ? 2 : 1);
    if (extent(c->in[0], 2) == side)
        return NULL;
    return error_new(CODE_INVALID, "ormqr of %s and %s, at %s: the reflectors have %lld entries, not "
                     "%lld", type_name(c->in[0].type), type_name(c->in[2].type), loc_name(c->n->loc),
                     (long long)extent(c->in[0], 2), (long long)side);
}

Error *gesdd_fits(Call *c)
{
    int64_t k = shorter(c->in[0]), rows = extent(c->in[0], 2), columns = extent(c->in[0], 1);
    int64_t across = extent(c->out[2], 1), down = extent(c->out[3], 2);
    bool is_thin = across == k && down == k, is_full = across == rows && down == columns;
    if (is_thin || is_full)
        return NULL;
    return error_new(CODE_INVALID, "svd of %s to %s and %s, at %s", type_name(c->in->type),
                     type_name(c->out[2].type), type_name(c->out[3].type), loc_name(c->n->loc));
}

Error *gees_fits(Call *c)
{
    if (option_is(c, "sort", 'N'))
        return NULL;
    return error_new(CODE_UNIMPLEMENTED, "not supported: gees with sorted eigenvalues, at %s",
                     loc_name(c->n->loc));
}

Error *gehrd_fits(Call *c)
{
    int64_t n = extent(c->in[0], 1), low = option(c, "low", 1), high = option(c, "high", n);
    if (low >= 1 && high <= n && low <= high + 1)
        return NULL;
    return error_new(CODE_INVALID, "gehrd of %s from %lld to %lld, at %s", type_name(c->in->type),
                     (long long)low, (long long)high, loc_name(c->n->loc));
}

Error *trsm_fits(Call *c)
{
    if (extent(c->in[0], 1) == extent(c->in[1], option_is(c, "side", 'L') ? 2 : 1))
        return NULL;
    return error_new(CODE_INVALID, "trsm of %s and %s, at %s", type_name(c->in[0].type),
                     type_name(c->in[1].type), loc_name(c->n->loc));
}
