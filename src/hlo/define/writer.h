/* writer.h - writing operations down one after the other, for definitions. */
#ifndef TUTTI_HLO_DEFINE_WRITER_H
#define TUTTI_HLO_DEFINE_WRITER_H
#include "hlo/rewrite.h"
#include "ops/if_shorthand.h"

typedef struct Writer {
    Module *m;
    RegionId r; /* is appended to */
    const Loc *loc;
} Writer;

/* What node n stands for: appends to w's region and gives one value per result.  A definition
 * may rely on n's shape rule. */
typedef MUST_USE Error *Definition(Writer *w, Node n, ValueId *results);

ValueId put(Writer *w, OpId op, Type result, const void *attrs, int n, const ValueId *in);
ValueId put_one(Writer *w, OpId op, ValueId x);            /* of x's type */
ValueId put_two(Writer *w, OpId op, ValueId a, ValueId b); /* of a's type */
ValueId put_compare(Writer *w, int direction, ValueId a, ValueId b);
ValueId put_select(Writer *w, ValueId which, ValueId yes, ValueId no);
ValueId put_convert(Writer *w, ValueId x, Element e); /* x itself if it is one */
ValueId put_reshape(Writer *w, ValueId x, int rank, const int64_t *dims);

/* An array of that type, all of one number. */
ValueId put_number(Writer *w, Type t, double x);
ValueId put_integer(Writer *w, Type t, int64_t x);

/* Element `at`, a scalar, of a vector. */
ValueId put_element(Writer *w, ValueId x, ValueId at);

/* Replica by replica, the partitions of each. */
ValueId put_device_number(Writer *w);

/* x's dimension i becomes dimension to[i] of an array of the given shape. */
ValueId put_spread(Writer *w, ValueId x, const int64_t *to, int rank, const int64_t *dims);
/* The sum over the dimensions listed. */
ValueId put_sum(Writer *w, ValueId x, int n, const int64_t *over);
ValueId put_transpose(Writer *w, ValueId x, const int64_t *order);

Type with_element(Type t, Element e);

/* One definition per row of kind SHORT, named in its column `eval`. */
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, ...)     \
    IF_SHORT_##kind(Definition define_##eval;, )
#include "ops/ops.def"
#endif
