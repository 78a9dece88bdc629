/* small_orthogonal_body.h - QR factors, eigenvalues and singular values of small matrices, a matrix in
 * each lane.
 *
 * Included by small_matrices_body.h, whose words it uses.  Eigenvalues and singular values are
 * Jacobi's: planes are rotated one after the other until all are orthogonal, the same steps in every
 * lane.  A lane that is done is rotated by nothing, so that it does not depend on its neighbours. */

ATTR static inline V NAME(absolute)(V x)
{
    return CHOOSE(x < 0, -x, x);
}

/* Powers of two near 1 / most and near most, lane by lane: multiplied by the first, the largest
 * element is about 1, and nothing is rounded. */
ATTR static inline void NAME(scales)(V most, V *down, V *up)
{
    I mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
    M exponent = (M)most >> mantissa, least = (M){ 0 } + 2, top = (M){ 0 } + (2 * bias - 2);
    exponent = CHOOSE_INT(exponent < least, least, exponent);
    exponent = CHOOSE_INT(exponent > top, top, exponent);
    *up = (V)(exponent << mantissa);
    *down = (V)((2 * bias - exponent) << mantissa);
}

/* a, of n elements, becomes about 1; *up brings it back. */
ATTR static void NAME(scale)(int64_t n, T *a, V *up)
{
    V most = (V){ 0 }, down;
    for (int64_t i = 0; i < n; i++) {
        V x = NAME(absolute)(NAME(load)(a, i));
        most = CHOOSE(x > most, x, most);
    }
    NAME(scales)(most, &down, up);
    for (int64_t i = 0; i < n; i++)
        NAME(store)(a, i, NAME(load)(a, i) * down);
}

/* By how much a plane turns; half is the tangent of half the angle. */
typedef struct NAME(Turn) {
    V sine, half, tangent;
} NAME(Turn);

/* Two elements turn in their plane: x' = cosine x - sine y, y' = sine x + cosine y.  Written so that
 * a small angle rounds little. */
ATTR static inline void NAME(turn)(T *a, int64_t x, int64_t y, const NAME(Turn) * t)
{
    V first = NAME(load)(a, x), other = NAME(load)(a, y);
    NAME(store)(a, x, first - t->sine * (other + t->half * first));
    NAME(store)(a, y, other + t->sine * (first - t->half * other));
}

/* n elements of two lines. */
ATTR static inline void NAME(rotate)(T *a, int64_t x, int64_t y, int64_t step, int64_t n,
                                     const NAME(Turn) * t)
{
    for (int64_t i = 0; i < n; i++)
        NAME(turn)(a, x + i * step, y + i * step, t);
}

/* The rotation that makes the off-diagonal element of ((x, both), (both, y)) zero: x falls by the
 * tangent times both, and y rises.  None in lanes that are done. */
ATTR static inline NAME(Turn) NAME(angle)(V x, V y, V both, M is_done)
{
    V one = (V){ 0 } + 1, none = (V){ 0 };
    M is_idle = is_done | (both == 0);
    V slope = (y - x) / CHOOSE(is_idle, one, both + both);
    V t = one / (NAME(absolute)(slope) + NAME(root)(slope * slope + one));
    t = CHOOSE(is_idle, none, CHOOSE(slope < 0, -t, t));
    V cosine = one / NAME(root)(t * t + one), sine = t * cosine;
    return (NAME(Turn)){ sine, sine / (one + cosine), t };
}

/* One sweep over the planes of a symmetric matrix of which the upper triangle counts; the rows of
 * vectors (NULL: none are wanted) turn along. */
ATTR static void NAME(eigen_sweep)(int64_t n, T *a, T *vectors, M is_done)
{
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
            V x = NAME(load)(a, p * n + p), y = NAME(load)(a, q * n + q);
            V both = NAME(load)(a, p * n + q);
            NAME(Turn) turn = NAME(angle)(x, y, both, is_done);
            NAME(store)(a, p * n + p, x - turn.tangent * both);
            NAME(store)(a, q * n + q, y + turn.tangent * both);
            NAME(store)(a, p * n + q, CHOOSE(is_done, both, (V){ 0 }));
            NAME(rotate)(a, p, q, n, p, &turn);
            for (int64_t k = p + 1; k < q; k++)
                NAME(turn)(a, p * n + k, k * n + q, &turn);
            NAME(rotate)(a, p * n + q + 1, q * n + q + 1, 1, n - q - 1, &turn);
            if (vectors)
                NAME(rotate)(vectors, p * n, q * n, 1, n, &turn);
        }
}

/* Lanes in which what is off the diagonal is as good as nothing, beside all of it; a lane that is
 * not finite is done too. */
ATTR static M NAME(eigen_is_done)(int64_t n, const T *a)
{
    T epsilon = sizeof(T) == 4 ? (T)0x1p-26 : (T)0x1p-55;
    V off = (V){ 0 }, all = (V){ 0 };
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            V x = NAME(load)(a, i * n + j);
            all += x * x;
            if (j > i)
                off += x * x;
        }
    return NOT(off > all * (epsilon * epsilon));
}

ATTR static bool NAME(is_all)(M m)
{
    for (int lane = 0; lane < LANES; lane++)
        if (!m[lane])
            return false;
    return true;
}

ATTR static void NAME(identity)(int64_t n, T *a)
{
    for (int64_t i = 0; i < n * n; i++)
        NAME(store)(a, i, (V){ 0 } + (T)(i % (n + 1) == 0));
}

enum { NAME(MOST_SWEEPS) = 30 };

/* What a lane of n elements that are all finite adds up to when each is multiplied by zero. */
ATTR static V NAME(nothing_of)(int64_t n, const T *a)
{
    V sum = (V){ 0 };
    for (int64_t i = 0; i < n; i++)
        sum += NAME(load)(a, i) * 0;
    return sum;
}

/* The eigenvalues, and the eigenvectors in the rows of vectors (NULL: none are wanted); in no order.
 * All are nan where an element is not finite.  info: 1 where the sweeps did not suffice. */
ATTR static void NAME(eigen)(int64_t n, bool is_lower, void *matrix, void *turned,
                             void *eigenvalues, int32_t *info)
{
    T *a = matrix, *vectors = turned, *values = eigenvalues;
    V up;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (is_lower)
                NAME(store)(a, j * n + i, NAME(load)(a, i * n + j));
            else
                NAME(store)(a, i * n + j, NAME(load)(a, j * n + i));
    V nothing = NAME(nothing_of)(n * n, a);
    NAME(scale)(n * n, a, &up);
    if (vectors)
        NAME(identity)(n, vectors);
    M is_done = NAME(eigen_is_done)(n, a);
    for (int i = 0; i < NAME(MOST_SWEEPS) && !NAME(is_all)(is_done); i++) {
        NAME(eigen_sweep)(n, a, vectors, is_done);
        is_done |= NAME(eigen_is_done)(n, a);
    }
    for (int64_t i = 0; i < n; i++)
        NAME(store)(values, i, NAME(load)(a, i * n + i) * up + nothing);
    for (int64_t i = 0; i < n * n && vectors; i++)
        NAME(store)(vectors, i, NAME(load)(vectors, i) + nothing);
    for (int lane = 0; lane < LANES; lane++)
        info[lane] = !is_done[lane];
}

ATTR static inline V NAME(dot)(const T *a, int64_t x, int64_t y, int64_t n)
{
    V sum = (V){ 0 };
    for (int64_t i = 0; i < n; i++)
        sum += NAME(load)(a, x + i) * NAME(load)(a, y + i);
    return sum;
}

/* One sweep over pairs of rows, which become orthogonal to each other.  Lanes in which all were. */
ATTR static M NAME(singular_sweep)(int64_t rows, int64_t n, T *a, T *vectors, M is_done)
{
    T epsilon = sizeof(T) == 4 ? (T)0x1p-21 : (T)0x1p-50;
    M is_orthogonal = ~(M){ 0 };
    V squares[SMALL_ROWS];
    for (int64_t p = 0; p < rows; p++)
        squares[p] = NAME(dot)(a, p * n, p * n, n);
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = p + 1; q < rows; q++) {
            V both = NAME(dot)(a, p * n, q * n, n);
            M is_far = both * both > squares[p] * squares[q] * (epsilon * epsilon);
            is_orthogonal &= NOT(is_far);
            NAME(Turn) turn = NAME(angle)(squares[p], squares[q], both, is_done);
            squares[p] -= turn.tangent * both;
            squares[q] += turn.tangent * both;
            NAME(rotate)(a, p * n, q * n, 1, n, &turn);
            if (vectors)
                NAME(rotate)(vectors, p * rows, q * rows, 1, rows, &turn);
        }
    return is_orthogonal;
}

/* rows x n, no more rows than columns: the rows become orthogonal, each as long as its singular value
 * (values); and of that row, the vectors' row is what it is of those before.  Then the rows have length 1.
 * info: 1 where the sweeps did not suffice, or a value is as good as zero: its row is no direction. */
ATTR static void NAME(singular)(int64_t rows, int64_t n, void *matrix, void *turned, void *lengths,
                                int32_t *info)
{
    T *a = matrix, *vectors = turned, *values = lengths;
    T least = sizeof(T) == 4 ? (T)0x1p-16 : (T)0x1p-40;
    V up, most = (V){ 0 }, fewest = (V){ 0 } + (T)INFINITY;
    NAME(scale)(rows * n, a, &up);
    if (vectors)
        NAME(identity)(rows, vectors);
    M is_done = (M){ 0 };
    for (int i = 0; i < NAME(MOST_SWEEPS) && !NAME(is_all)(is_done); i++)
        is_done |= NAME(singular_sweep)(rows, n, a, vectors, is_done);
    for (int64_t p = 0; p < rows; p++) {
        V value = NAME(root)(NAME(dot)(a, p * n, p * n, n));
        most = CHOOSE(value > most, value, most);
        fewest = CHOOSE(value < fewest, value, fewest);
        NAME(store)(values, p, value * up);
        for (int64_t i = 0; i < n; i++)
            NAME(store)(a, p * n + i, NAME(load)(a, p * n + i) / value);
    }
    M is_good = is_done & (fewest > most * least);
    for (int lane = 0; lane < LANES; lane++)
        info[lane] = !is_good[lane];
}

/* ---- order ---- */

/* The n values of each lane in order, falling or rising; order[LANES][SMALL_ROWS]: where they were. */
ATTR static void NAME(arrange)(int64_t n, bool is_falling, void *numbers, int32_t *order)
{
    T *values = numbers;
    for (int lane = 0; lane < LANES; lane++)
        for (int64_t i = 0; i < n; i++) {
            T x = values[i * LANES + lane];
            int32_t *places = order + lane * SMALL_ROWS;
            int64_t j = i;
            for (; j > 0; j--) {
                T before = values[(j - 1) * LANES + lane];
                if (is_falling ? !(before < x) : !(before > x))
                    break;
                values[j * LANES + lane] = before;
                places[j] = places[j - 1];
            }
            values[j * LANES + lane] = x;
            places[j] = (int32_t)i;
        }
}

/* The rows of one lane's matrix of rows x n, in that order, as rows or as columns of `to`. */
ATTR static void NAME(give)(int64_t rows, int64_t n, const void *matrix, int lane,
                            const int32_t *order, bool as_columns, void *to)
{
    const T *a = (const T *)matrix + lane;
    T *out = to;
    for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < n; i++)
            out[as_columns ? i * rows + j : j * n + i] =
                a[(order[lane * SMALL_ROWS + j] * n + i) * LANES];
}

/* ---- reflectors, as LAPACK has them: I - tau v v^T, v with a 1 on the diagonal ---- */

/* The rows from k on of columns from `first` to n take part in the reflection by column k of v. */
ATTR static inline void NAME(reflect)(int64_t rows, int64_t n, const T *v, int64_t v_step, T *a,
                                      int64_t k, int64_t first, V tau)
{
    for (int64_t j = first; j < n; j++) {
        V sum = NAME(load)(a, k * n + j);
        for (int64_t i = k + 1; i < rows; i++)
            sum += NAME(load)(v, i * v_step + k) * NAME(load)(a, i * n + j);
        sum *= tau;
        NAME(store)(a, k * n + j, NAME(load)(a, k * n + j) - sum);
        for (int64_t i = k + 1; i < rows; i++)
            NAME(store)(a, i * n + j,
                        NAME(load)(a, i * n + j) - sum * NAME(load)(v, i * v_step + k));
    }
}

/* Of what stands below the diagonal in column k. */
ATTR static V NAME(sum_of_squares)(int64_t rows, int64_t n, const T *a, int64_t k)
{
    V sum = (V){ 0 };
    for (int64_t i = k + 1; i < rows; i++)
        sum += NAME(load)(a, i * n + k) * NAME(load)(a, i * n + k);
    return sum;
}

/* Column k from its diagonal on, whose squares add up to `square`, times a power of two in lanes where that is so little
 * that squares may have been lost.  Returns what brings it back. */
ATTR static V NAME(lift)(int64_t rows, int64_t n, T *a, int64_t k, V square)
{
    V one = (V){ 0 } + 1, up = one * (sizeof(T) == 4 ? (T)0x1p86f : (T)0x1p600);
    M is_little = square < (sizeof(T) == 4 ? (T)0x1p-80f : (T)0x1p-900);
    up = CHOOSE(is_little, up, one);
    for (int64_t i = k; i < rows && !NAME(is_all)(NOT(is_little)); i++)
        NAME(store)(a, i * n + k, NAME(load)(a, i * n + k) * up);
    return one / up;
}

/* rows x n in place: R above, the reflectors below; taus[least of both]. */
ATTR static void NAME(qr)(int64_t rows, int64_t n, void *matrix, void *factors)
{
    T *a = matrix, *taus = factors;
    V up, one = (V){ 0 } + 1, none = (V){ 0 };
    NAME(scale)(rows * n, a, &up);
    for (int64_t k = 0; k < rows && k < n; k++) {
        V alpha = NAME(load)(a, k * n + k), square = NAME(sum_of_squares)(rows, n, a, k);
        V down = NAME(lift)(rows, n, a, k, alpha * alpha + square);
        alpha = NAME(load)(a, k * n + k);
        square = NAME(sum_of_squares)(rows, n, a, k);
        V norm = NAME(root)(alpha * alpha + square);
        M is_idle = square == 0;
        V beta = CHOOSE(is_idle, alpha, CHOOSE(alpha < 0, norm, -norm));
        V tau = CHOOSE(is_idle, none, (beta - alpha) / beta);
        V by = CHOOSE(is_idle, one, alpha - beta);
        for (int64_t i = k + 1; i < rows; i++)
            NAME(store)(a, i * n + k, NAME(load)(a, i * n + k) / by);
        NAME(reflect)(rows, n, a, n, a, k, k + 1, tau);
        NAME(store)(a, k * n + k, beta * down);
        NAME(store)(taus, k, tau);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i; j < n; j++)
            NAME(store)(a, i * n + j, NAME(load)(a, i * n + j) * up);
}

/* q, rows x n: the first n columns of the product of the first k reflectors. */
ATTR static void NAME(product)(int64_t rows, int64_t n, int64_t k, const void *reflectors,
                               const void *factors, void *q)
{
    T *a = q;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++)
            NAME(store)(a, i * n + j, (V){ 0 } + (T)(i == j));
    while (k--)
        NAME(reflect)(rows, n, reflectors, n, a, k, k, NAME(load)(factors, k));
}
