/* schedules.c - rates by the step, as optax has them.
 *
 * A step may be a traced integer: the rate is then computed by the program, and a training step need
 * not be compiled anew for another. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

enum { MOST_DROPS = 16 };

typedef struct Config {
    double start, warm, total, end; /* of an exponential: every is total, factor end */
    int64_t ndrops;
    tt_drop drops[MOST_DROPS];
} Config;

static tt number(double x)
{
    return tt_scalar(x);
}

static Config config_of(double start, double warm, double total, double end)
{
    Config c;
    memset(&c, 0, sizeof c); /* compared as bytes */
    c.start = start;
    c.warm = warm;
    c.total = total;
    c.end = end;
    return c;
}

static tt as_float(tt step)
{
    return tt_astype(step, TT_F32);
}

/* From 1 at 0 to 0 at 1, as a cosine goes. */
static tt wave(tt far)
{
    tt angle = tt_mul(number(3.14159265358979323846), tt_clip(far, number(0), number(1)));
    return tt_mul(number(0.5), tt_add(number(1), tt_cos(angle)));
}

static void cosine_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    tt step = as_float(in[0]),
       far = tt_div(tt_sub(step, number(c->warm)), number(c->total - c->warm));
    tt down = tt_add(number(c->end), tt_mul(number(c->start - c->end), wave(far)));
    if (c->warm == 0) {
        *out = down;
        return;
    }
    tt up = tt_div(tt_mul(number(c->start), step), number(c->warm));
    *out = tt_where(tt_less(step, number(c->warm)), up, down);
}

tt tt_warmup_cosine(tt step, double peak, double warm, double total, double end)
{
    PUBLIC;
    Config c = config_of(peak, warm, total, end);
    if (!(total > warm && warm >= 0))
        return report_broken("tt_warmup_cosine: %g steps up, %g in all: there are more in all",
                             warm, total);
    return EAGER("tt_warmup_cosine", cosine_body, &c, step);
}

/* False: reported. */
static bool has_steps(const char *who, double total)
{
    return total > 0 || (report_broken("%s: over %g steps: there must be some", who, total), false);
}

tt tt_cosine_rate(tt step, double start, double total, double end)
{
    PUBLIC;
    Config c = config_of(start, 0, total, end);
    return has_steps("tt_cosine_rate", total) ? EAGER("tt_cosine_rate", cosine_body, &c, step)
                                              : NO_VALUE;
}

static void linear_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    tt gone = tt_clip(tt_div(as_float(in[0]), number(c->total)), number(0), number(1));
    *out = tt_add(tt_mul(number(c->start - c->end), tt_sub(number(1), gone)), number(c->end));
}

tt tt_linear_rate(tt step, double start, double total, double end)
{
    PUBLIC;
    Config c = config_of(start, 0, total, end);
    return has_steps("tt_linear_rate", total) ? EAGER("tt_linear_rate", linear_body, &c, step)
                                              : NO_VALUE;
}

static void exponential_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    tt times = tt_div(as_float(in[0]), number(c->total));
    *out = tt_mul(number(c->start), tt_pow(number(c->end), times));
}

tt tt_exponential_rate(tt step, double start, double every, double factor)
{
    PUBLIC;
    Config c = config_of(start, 0, every, factor);
    return has_steps("tt_exponential_rate", every)
               ? EAGER("tt_exponential_rate", exponential_body, &c, step)
               : NO_VALUE;
}

static void piecewise_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    *out = tt_astype(number(c->start), TT_F32);
    for (int64_t i = 0; i < c->ndrops; i++)
        *out = tt_where(tt_less(in[0], tt_integer(c->drops[i].at)), *out,
                        tt_mul(*out, number(c->drops[i].factor)));
}

tt tt_piecewise_rate_n(tt step, double start, const tt_drop *drops, int n)
{
    PUBLIC;
    Config c = config_of(start, 0, 0, 0);
    if (n < 0 || n > MOST_DROPS)
        return report_broken("tt_piecewise_rate: %d drops; there may be %d", n, MOST_DROPS);
    c.ndrops = n;
    if (n)
        memcpy(c.drops, drops, sizeof *drops * (size_t)n);
    return EAGER("tt_piecewise_rate", piecewise_body, &c, step);
}
