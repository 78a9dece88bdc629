/* erf_inv.c - the inverse of the error function, made of operations.
 *
 * M. Giles, "Approximating the erfinv function": with w = -log(1 - x^2), erf_inv(x) / x is a
 * polynomial in w for small w and in sqrt w beyond, with other coefficients.  JAX hands the same
 * formula to its backends, operation by operation, so normal random numbers are its numbers. */
#include "front/api/random.h"

#include <math.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Highest power first. */
static const double single_near[] = {
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727,    1.50140941,
};
static const double single_far[] = {
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613,   0.00943887047,  1.00167406,    2.83297682,
};
static const double double_near[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693,     1.6536545626831027356,
};
static const double double_middle[] = {
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635,
};
static const double double_far[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
    2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977,      4.8499064014085844221,
};

static tt less(tt w, double bound)
{
    return build_compare(LT, w, build_number(type_at(w), bound));
}

static tt minus(tt x, double by)
{
    return build2(OP_SUB, x, build_number(type_at(x), by));
}

static tt single(tt w)
{
    Type t = type_at(w);
    tt near = less(w, 5), at = build_select(near, minus(w, 2.5), minus(build1(OP_SQRT, w), 3));
    tt p = NO_VALUE;
    for (int i = 0; i < COUNT(single_near); i++) {
        tt c = build_select(near, build_number(t, single_near[i]), build_number(t, single_far[i]));
        p = i ? build2(OP_ADD, c, build2(OP_MUL, p, at)) : c;
    }
    return p;
}

static tt polynomial(tt w, int n, const double *coefficients)
{
    Type t = type_at(w);
    tt p = build_number(t, coefficients[0]);
    for (int i = 1; i < n; i++)
        p = build2(OP_ADD, build_number(t, coefficients[i]), build2(OP_MUL, p, w));
    return p;
}

static tt full(tt w)
{
    tt root = build1(OP_SQRT, w);
    tt near = polynomial(minus(w, 3.125), COUNT(double_near), double_near);
    tt middle = polynomial(minus(root, 3.25), COUNT(double_middle), double_middle);
    tt far = polynomial(minus(root, 5), COUNT(double_far), double_far);
    return build_select(less(w, 6.25), near, build_select(less(w, 16), middle, far));
}

tt erf_inv(tt x)
{
    Type t = type_at(x);
    if (t.element != F32 && t.element != F64)
        return build_convert(erf_inv(build_convert(x, F32)), t.element);
    tt w = build1(OP_NEG, build1(OP_LOG1P, build2(OP_MUL, x, build1(OP_NEG, x))));
    tt y = build2(OP_MUL, t.element == F64 ? full(w) : single(w), x);
    tt at_end = build_compare(EQ, build1(OP_ABS, x), build_number(t, 1));
    return build_select(at_end, build2(OP_MUL, x, build_number(t, INFINITY)), y);
}
