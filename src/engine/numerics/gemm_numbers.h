/* gemm_numbers.h - numbers of one element type, real or complex, and vectors of them: what is made of tiles
 * besides products is written in these words, once for both.
 *
 * Included by gemm_body.h, for one element type and one instruction set.  Complex numbers lie in memory as they are,
 * their parts in turn; the product of one and a vector of them is its real part times that, and its imaginary
 * part times the same vector turned by a right angle. */

/* See gemm_body.h. */
/* clang-format off */

/* Numbers of a vector. */
enum { NAME(NUMBERS) = NAME(LANES) / SPLIT };

static T NAME(magnitude)(T x)
{
    return x < 0 ? -x : x;
}

#if SPLIT == 1
typedef T NAME(Number);
/* What divides many numbers. */
typedef T NAME(Divisor);

static NAME(Number) NAME(real_number)(T x)
{
    return x;
}

static T NAME(real)(NAME(Number) x)
{
    return x;
}

static NAME(Number) NAME(conjugate)(NAME(Number) x)
{
    return x;
}

static bool NAME(is_real)(__attribute__((unused)) NAME(Number) x)
{
    return true;
}

static NAME(Number) NAME(less)(NAME(Number) x, NAME(Number) y)
{
    return x - y;
}

static NAME(Number) NAME(times)(NAME(Number) x, NAME(Number) y)
{
    return x * y;
}

static NAME(Number) NAME(over_real)(NAME(Number) x, T y)
{
    return x / y;
}

static NAME(Number) NAME(inverse)(NAME(Number) x)
{
    return 1 / x;
}

static NAME(Divisor) NAME(divisor)(NAME(Number) x)
{
    return x;
}

static NAME(Number) NAME(divided)(NAME(Number) x, NAME(Divisor) by)
{
    return x / by;
}

/* How large a pivot is, and the square of an absolute value. */
static T NAME(size)(NAME(Number) x)
{
    return NAME(magnitude)(x);
}

static T NAME(square)(NAME(Number) x)
{
    return x * x;
}

static NAME(Number) NAME(shifted)(NAME(Number) x, int exponent)
{
    return (T)ldexp((double)x, exponent);
}

#else
typedef struct NAME(Number) {
    T re, im;
} NAME(Number);
typedef NAME(Number) NAME(Divisor); /* one over the number */

static NAME(Number) NAME(real_number)(T x)
{
    return (NAME(Number)){ x, 0 };
}

static T NAME(real)(NAME(Number) x)
{
    return x.re;
}

static NAME(Number) NAME(conjugate)(NAME(Number) x)
{
    return (NAME(Number)){ x.re, -x.im };
}

static bool NAME(is_real)(NAME(Number) x)
{
    return x.im == 0;
}

static NAME(Number) NAME(less)(NAME(Number) x, NAME(Number) y)
{
    return (NAME(Number)){ x.re - y.re, x.im - y.im };
}

static NAME(Number) NAME(times)(NAME(Number) x, NAME(Number) y)
{
    return (NAME(Number)){ x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re };
}

static NAME(Number) NAME(over_real)(NAME(Number) x, T y)
{
    return (NAME(Number)){ x.re / y, x.im / y };
}

/* The larger part is divided by, so that no square leaves the range of numbers. */
static NAME(Number) NAME(inverse)(NAME(Number) x)
{
    if (NAME(magnitude)(x.re) >= NAME(magnitude)(x.im)) {
        T part = x.im / x.re, by = 1 / (x.re + x.im * part);
        return (NAME(Number)){ by, -part * by };
    }
    T part = x.re / x.im, by = 1 / (x.im + x.re * part);
    return (NAME(Number)){ part * by, -by };
}

static NAME(Divisor) NAME(divisor)(NAME(Number) x)
{
    return NAME(inverse)(x);
}

static NAME(Number) NAME(divided)(NAME(Number) x, NAME(Divisor) by)
{
    return NAME(times)(x, by);
}

static T NAME(size)(NAME(Number) x)
{
    return NAME(magnitude)(x.re) + NAME(magnitude)(x.im);
}

static T NAME(square)(NAME(Number) x)
{
    return x.re * x.re + x.im * x.im;
}

static NAME(Number) NAME(shifted)(NAME(Number) x, int exponent)
{
    return (NAME(Number)){ (T)ldexp((double)x.re, exponent), (T)ldexp((double)x.im, exponent) };
}

/* Each number times i. */
ATTR static inline NAME(Vec) NAME(right_angle)(NAME(Vec) v)
{
    NAME(Mask) swap;
    NAME(Vec) sign = { 0 };
    for (int l = 0; l < NAME(LANES); l++) {
        swap[l] = l ^ 1;
        sign[l] = l & 1 ? 1 : -1;
    }
    return __builtin_shuffle(v, swap) * sign;
}
#endif

static bool NAME(is_zero)(NAME(Number) x)
{
    return NAME(size)(x) == 0;
}

/* ---- vectors ---- */

/* A vector that many numbers are multiplied by; of complex ones also turned by a right angle. */
typedef struct NAME(Multiplied) {
    NAME(Vec) parts[SPLIT];
} NAME(Multiplied);

ATTR static inline __attribute__((always_inline)) NAME(Multiplied) NAME(multiplied)(NAME(Vec) v)
{
#if SPLIT == 1
    return (NAME(Multiplied)){ { v } };
#else
    return (NAME(Multiplied)){ { v, NAME(right_angle)(v) } };
#endif
}

ATTR static inline __attribute__((always_inline)) NAME(Vec) NAME(by_number)(const NAME(Multiplied) *v, NAME(Number) x)
{
#if SPLIT == 1
    return v->parts[0] * x;
#else
    return v->parts[0] * x.re + v->parts[1] * x.im;
#endif
}

ATTR static inline __attribute__((always_inline)) NAME(Vec) NAME(scaled)(NAME(Vec) v, NAME(Number) x)
{
    NAME(Multiplied) m = NAME(multiplied)(v);
    return NAME(by_number)(&m, x);
}

/* Vectors times the conjugates of numbers, added up: what the real parts made, and what the imaginary ones. */
typedef struct NAME(Sums) {
    NAME(Vec) parts[SPLIT];
} NAME(Sums);

ATTR static inline __attribute__((always_inline)) void NAME(add_product)(NAME(Sums) *s, NAME(Vec) v, NAME(Number) x)
{
#if SPLIT == 1
    s->parts[0] += v * x;
#else
    s->parts[0] += v * x.re;
    s->parts[1] += v * x.im;
#endif
}

/* Of four such sums. */
ATTR static inline __attribute__((always_inline)) NAME(Vec) NAME(sum_of_four)(const NAME(Sums) *s)
{
    NAME(Vec) sum = (s[0].parts[0] + s[1].parts[0]) + (s[2].parts[0] + s[3].parts[0]);
#if SPLIT == 2
    sum -= NAME(right_angle)((s[0].parts[1] + s[1].parts[1]) + (s[2].parts[1] + s[3].parts[1]));
#endif
    return sum;
}
