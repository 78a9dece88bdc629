/* norm.c - normalising over a batch: batch_norm_inference, batch_norm_training, batch_norm_grad.
 *
 * With m and v the mean and the variance of each feature, over all other dimensions,
 *
 *     y  = scale (x - m) / sqrt(v + epsilon) + offset
 *     dx = scale / sqrt(v + epsilon) (dy - mean(dy) - (x - m) mean(dy (x - m)) / (v + epsilon)) */
#include "hlo/define/writer.h"

typedef struct Norm {
    Writer *w;
    Type x, feature; /* types: of the batch, of one number a feature */
    int64_t at;      /* the feature's dimension */
    int64_t over[MAX_RANK];
    int nover;
    double count; /* elements a feature */
    double epsilon;
} Norm;

static Norm norm_of(Writer *w, const Node *n)
{
    const BatchNormAttrs *a = n->attrs;
    Norm norm = { .w = w,
                  .x = type_of(w->m, n->in[0]),
                  .feature = type_of(w->m, n->in[1]),
                  .at = a->feature_index,
                  .count = 1,
                  .epsilon = a->epsilon };
    for (int i = 0; i < norm.x.rank; i++)
        if (i != norm.at) {
            norm.over[norm.nover++] = i;
            norm.count *= (double)norm.x.dims[i];
        }
    return norm;
}

static ValueId spread(const Norm *n, ValueId feature)
{
    return put_spread(n->w, feature, &n->at, n->x.rank, n->x.dims);
}

static ValueId sum(const Norm *n, ValueId x)
{
    return put_sum(n->w, x, n->nover, n->over);
}

static ValueId mean(const Norm *n, ValueId x)
{
    return put_two(n->w, OP_DIV, sum(n, x), put_number(n->w, n->feature, n->count));
}

static ValueId centred(const Norm *n, ValueId x, ValueId mean_of_x)
{
    return put_two(n->w, OP_SUB, x, spread(n, mean_of_x));
}

static ValueId widened(const Norm *n, ValueId variance) /* v + epsilon */
{
    return put_two(n->w, OP_ADD, variance, put_number(n->w, n->feature, n->epsilon));
}

static ValueId normal(const Norm *n, ValueId away, ValueId variance)
{
    return put_two(n->w, OP_DIV, away, spread(n, put_one(n->w, OP_SQRT, widened(n, variance))));
}

static ValueId scaled(const Norm *n, ValueId x, ValueId scale, ValueId offset)
{
    ValueId product = put_two(n->w, OP_MUL, spread(n, scale), x);
    return put_two(n->w, OP_ADD, product, spread(n, offset));
}

/* operand, scale, offset, mean, variance */
Error *define_batch_norm_inference(Writer *w, Node n, ValueId *results)
{
    Norm norm = norm_of(w, &n);
    ValueId x = normal(&norm, centred(&norm, n.in[0], n.in[3]), n.in[4]);
    results[0] = scaled(&norm, x, n.in[1], n.in[2]);
    return NULL;
}

/* operand, scale, offset: the batch, its means and its variances */
Error *define_batch_norm_training(Writer *w, Node n, ValueId *results)
{
    Norm norm = norm_of(w, &n);
    results[1] = mean(&norm, n.in[0]);
    ValueId away = centred(&norm, n.in[0], results[1]);
    results[2] = mean(&norm, put_two(w, OP_MUL, away, away));
    results[0] = scaled(&norm, normal(&norm, away, results[2]), n.in[1], n.in[2]);
    return NULL;
}

/* operand, scale, mean, variance, gradient of the output: those of operand, scale and offset */
Error *define_batch_norm_grad(Writer *w, Node n, ValueId *results)
{
    Norm norm = norm_of(w, &n);
    ValueId scale = n.in[1], variance = n.in[3], dy = n.in[4];
    ValueId away = centred(&norm, n.in[0], n.in[2]);
    ValueId along = mean(&norm, put_two(w, OP_MUL, dy, away));
    ValueId slope = put_two(w, OP_DIV, along, widened(&norm, variance));
    ValueId rest = put_two(w, OP_SUB, dy, spread(&norm, mean(&norm, dy)));
    rest = put_two(w, OP_SUB, rest, put_two(w, OP_MUL, away, spread(&norm, slope)));
    ValueId size = put_one(w, OP_SQRT, widened(&norm, variance));
    ValueId factor = put_two(w, OP_DIV, scale, size);
    results[0] = put_two(w, OP_MUL, spread(&norm, factor), rest);
    results[1] = sum(&norm, put_two(w, OP_MUL, dy, normal(&norm, away, variance)));
    results[2] = sum(&norm, dy);
    return NULL;
}
