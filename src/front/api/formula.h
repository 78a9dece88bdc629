/* formula.h - public functions that are one formula of other public functions.
 *
 *     FORMULA1(silu, tt_mul(x, tt_sigmoid(x)))        defines tt_silu(tt x)
 *
 * The operands x, y and z are made real floats first; c->x[0] is the number of FORMULA1_BY.  Derivatives are
 * those of what the formula is made of. */
#ifndef TUTTI_FRONT_API_FORMULA_H
#define TUTTI_FRONT_API_FORMULA_H
#include "front/api/numpy.h"
#include "front/value/library.h"

static inline tt number(double x)
{
    return tt_scalar(x);
}

/* A function of the library's own for tt_custom_jvp, tt_while and the like; user: one of its constants. */
typedef int Apply(void *user, const tt_tree *args, int nargs, tt *results, int room);

static inline tt_fn function(const char *name, Apply *apply, const char *user)
{
    return tt_fn_new(&(tt_closure){
        .size = sizeof(tt_closure), .apply = apply, .user = (void *)user, .name = name });
}

#define FORMULA_BODY(name, n, formula)                                                             \
    static void name##_body(const tt *in, tt *out, const void *config)                             \
    {                                                                                              \
        const Numbers *c = config;                                                                 \
        tt of[3];                                                                                  \
        if (!as_floats(c->who, n, in, of))                                                         \
            return;                                                                                \
        tt x = of[0], y = of[(n) > 1 ? 1 : 0], z = of[(n) > 2 ? 2 : 0];                            \
        (void)y, (void)z;                                                                          \
        *out = formula;                                                                            \
    }
#define FORMULA1(name, formula)                                                                    \
    FORMULA_BODY(name, 1, formula)                                                                 \
    tt tt_##name(tt x)                                                                             \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return EAGER_BY("tt_" #name, name##_body, NULL, x);                                        \
    }
#define FORMULA2(name, formula)                                                                    \
    FORMULA_BODY(name, 2, formula)                                                                 \
    tt tt_##name(tt x, tt y)                                                                       \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return EAGER_BY("tt_" #name, name##_body, NULL, x, y);                                     \
    }
#define FORMULA3(name, formula)                                                                    \
    FORMULA_BODY(name, 3, formula)                                                                 \
    tt tt_##name(tt x, tt y, tt z)                                                                 \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return EAGER_BY("tt_" #name, name##_body, NULL, x, y, z);                                  \
    }
#define FORMULA1_BY(name, formula)                                                                 \
    FORMULA_BODY(name, 1, formula)                                                                 \
    tt tt_##name(tt x, double by)                                                                  \
    {                                                                                              \
        PUBLIC;                                                                                    \
        Numbers c = numbers_of("tt_" #name, NULL);                                                 \
        c.x[0] = by;                                                                               \
        return EAGER(c.who, name##_body, &c, x);                                                   \
    }
#endif
