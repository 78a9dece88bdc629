/* sort_body.h - one line sorted by numbers of one width; included by sort_keys.c for each width.
 *
 *     K                 the number
 *     RECORD            a number and a position in the line
 *     RECORD_OF(k, p)   the record of a number and a position
 *     NUMBER_IN(r)      its number
 *     POSITION_IN(r)    its position
 *     LOW               the lowest bit of the number in what records are sorted by
 *     NAME(f)           the name of f for this width */

#define T K
#define BITS(x) (x)
#define SORT(f) NAME(f##_numbers)
#include "engine/numerics/radix_body.h"

#define T RECORD
#define BITS(x) NUMBER_BITS(x)
#define SORT(f) NAME(f##_records)
#include "engine/numerics/radix_body.h"

/* The numbers of elements first .. first + n - 1, or of those that `order` names; later keys lie
 * below earlier ones. */
static void NAME(rank)(const Line *l, Keys keys, const uint32_t *order, int64_t first, int64_t n,
                       K *to)
{
    int64_t stride = l->plan->stride;
    for (int i = 0; i < keys.n; i++) {
        const Ranking r = keys.at[i];
#define NUMBER(KIND, U, at) (K) rank_##U(KIND, &r, ((const U *)l->in[r.array])[at])
#define FILL(KIND, U)                                                                              \
    if (i)                                                                                         \
        for (int64_t j = 0; j < n; j++)                                                            \
            to[j] = (K)(to[j] << sizeof(U) * CHAR_BIT % (sizeof(K) * CHAR_BIT) |                   \
                        NUMBER(KIND, U, (order ? order[first + j] : first + j) * stride));         \
    else if (order || stride != 1)                                                                 \
        for (int64_t j = 0; j < n; j++)                                                            \
            to[j] = NUMBER(KIND, U, (order ? order[first + j] : first + j) * stride);              \
    else if (n == BLOCK)                                                                           \
        for (int64_t j = 0; j < BLOCK; j++)                                                        \
            to[j] = NUMBER(KIND, U, first + j);                                                    \
    else                                                                                           \
        for (int64_t j = 0; j < n; j++)                                                            \
        to[j] = NUMBER(KIND, U, first + j)
        FOR_EACH_FORM(r, FILL)
#undef FILL
#undef NUMBER
    }
}

/* The array is its own key: sorted numbers become elements again, but for those whose number does
 * not tell which they were. */
static bool NAME(sort_alone)(Line *l, Keys keys)
{
    int64_t n = l->extent, stride = l->plan->stride;
    K *numbers = scratch(l, SCRATCH_RECORDS, sizeof(K) * 2 * (size_t)n);
    if (!numbers)
        return false;
    Ranking r = keys.at[0];
    for (int64_t first = 0; first < n; first += BLOCK)
        NAME(rank)(l, keys, NULL, first, n - first < BLOCK ? n - first : BLOCK, numbers + first);
    K *sorted = NAME(radix_numbers)(numbers, numbers + n, n, 0, r.bits);
#define BACK(KIND, U)                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
    ((U *)l->out[0])[i * stride] = unrank_##U(KIND, &r, (U)sorted[i])
    FOR_EACH_FORM(r, BACK)
#undef BACK
    if (r.one_zero || r.one_nan)
        restore_merged(l, r);
    return true;
}

/* The positions of a line's elements in sorted order, of those that stand in order before it. */
static bool NAME(sort_order)(Line *l, Keys keys, uint32_t *order, bool is_first)
{
    int64_t n = l->extent;
    RECORD *records = scratch(l, SCRATCH_RECORDS, sizeof(RECORD) * 2 * (size_t)n);
    if (!records)
        return false;
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t here = n - first < BLOCK ? n - first : BLOCK;
        K numbers[BLOCK];
        NAME(rank)(l, keys, is_first ? NULL : order, first, here, numbers);
        for (int64_t i = 0; i < here; i++) {
            uint32_t position = is_first ? (uint32_t)(first + i) : order[first + i];
            records[first + i] = RECORD_OF(numbers[i], position);
        }
    }
    RECORD *sorted = NAME(radix_records)(records, records + n, n, LOW, LOW + keys.bits);
    for (int64_t i = 0; i < n; i++)
        order[i] = POSITION_IN(sorted[i]);
    return true;
}

/* Numbers of the line from `first` on, a block of them or what is left; behind these as many of those that come
 * last as fill a group. */
static int64_t NAME(next_block)(const Line *l, Keys keys, int64_t first, K *numbers)
{
    int64_t rest = l->extent - first, here = rest < BLOCK ? rest : BLOCK;
    NAME(rank)(l, keys, NULL, first, here, numbers);
    for (int64_t i = here; i % GROUP; i++)
        numbers[i] = (K)-1;
    return here;
}

typedef K NAME(Few) __attribute__((vector_size(16))); /* that every machine has registers for */

/* Has any of a group its place before `limit`? */
static bool NAME(any_before)(const K *group, K limit)
{
    NAME(Few) found = { 0 }, few;
    uint64_t words[2];
    for (size_t i = 0; i < GROUP; i += sizeof few / sizeof(K)) {
        memcpy(&few, group + i, sizeof few);
        found |= (NAME(Few))(few < limit);
    }
    memcpy(words, &found, sizeof words);
    return words[0] | words[1];
}

/* Puts a number in its place among the first so far, behind its equals. */
static void NAME(insert)(RECORD *first_so_far, int64_t found, K number, uint32_t position)
{
    int64_t j = found - 1;
    for (; j > 0 && NUMBER_IN(first_so_far[j - 1]) > number; j--)
        first_so_far[j] = first_so_far[j - 1];
    first_so_far[j] = RECORD_OF(number, position);
}

/* The first few of a line, by one walk: each number that belongs among the first so far is put in
 * its place there, and the last one falls out. */
static void NAME(select_few)(const Line *l, Keys keys, uint32_t *order)
{
    int64_t n = l->extent, kept = l->kept, found = 0;
    RECORD first_so_far[FEW_KEPT];
    for (int64_t first = 0; first < n; first += BLOCK) {
        K numbers[BLOCK];
        int64_t here = NAME(next_block)(l, keys, first, numbers);
        for (int64_t group = 0; group < here; group += GROUP) {
            if (found == kept &&
                !NAME(any_before)(numbers + group, NUMBER_IN(first_so_far[kept - 1])))
                continue;
            for (int64_t i = group; i < group + GROUP && i < here; i++) {
                if (found == kept && numbers[i] >= NUMBER_IN(first_so_far[kept - 1]))
                    continue;
                found += found < kept;
                NAME(insert)(first_so_far, found, numbers[i], (uint32_t)(first + i));
            }
        }
    }
    for (int64_t i = 0; i < kept; i++)
        order[i] = POSITION_IN(first_so_far[i]);
}

/* The same for more of them: what comes before the last of the first so far is collected, and
 * sorted when there is no more room for it. */
static bool NAME(select_many)(Line *l, Keys keys, uint32_t *order)
{
    int64_t n = l->extent, kept = l->kept, most = 2 * kept + 2 * BLOCK, found = 0;
    RECORD *records = scratch(l, SCRATCH_RECORDS, sizeof(RECORD) * 2 * (size_t)most);
    if (!records)
        return false;
    bool has_limit = false;
    K limit = 0; /* later equals of the last one stay behind it */
    for (int64_t first = 0; first < n; first += BLOCK) {
        K numbers[BLOCK];
        int64_t here = NAME(next_block)(l, keys, first, numbers);
        for (int64_t group = 0; group < here; group += GROUP) {
            if (has_limit && !NAME(any_before)(numbers + group, limit))
                continue;
            for (int64_t i = group; i < group + GROUP && i < here; i++)
                if (!has_limit || numbers[i] < limit)
                    records[found++] = RECORD_OF(numbers[i], (uint32_t)(first + i));
        }
        if (found + BLOCK <= most)
            continue;
        RECORD *sorted = NAME(radix_records)(records, records + most, found, LOW, LOW + keys.bits);
        found = kept;
        if (sorted != records)
            memcpy(records, sorted, sizeof *records * (size_t)found);
        has_limit = true;
        limit = NUMBER_IN(records[kept - 1]);
    }
    RECORD *sorted = NAME(radix_records)(records, records + most, found, LOW, LOW + keys.bits);
    for (int64_t i = 0; i < kept; i++)
        order[i] = POSITION_IN(sorted[i]);
    return true;
}

static bool NAME(select_order)(Line *l, Keys keys, uint32_t *order)
{
    if (l->kept > FEW_KEPT)
        return NAME(select_many)(l, keys, order);
    NAME(select_few)(l, keys, order);
    return true;
}

#undef K
#undef RECORD
#undef RECORD_OF
#undef NUMBER_BITS
#undef NUMBER_IN
#undef POSITION_IN
#undef LOW
#undef NAME
