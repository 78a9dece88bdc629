/* tensor.c - elements of tensors of any type, read and written as numbers. */
#include "engine/tensor.h"

#include <string.h>

Carrier element_carrier(Element e)
{
    switch (element_info[e].kind) {
    case BOOLEAN:
    case SIGNED:
    case UNSIGNED: return CARRY_INT;
    case FLOAT: return CARRY_FLOAT;
    case COMPLEX: return CARRY_COMPLEX;
    default: return CARRY_NOTHING;
    }
}

uint64_t bits_at(Tensor t, int64_t i)
{
    size_t bytes = (size_t)element_info[t.type.element].bytes;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)t.data + (size_t)i * bytes, bytes);
    return bits;
}

void bits_set(Tensor t, int64_t i, uint64_t bits)
{
    size_t bytes = (size_t)element_info[t.type.element].bytes;
    memcpy((char *)t.data + (size_t)i * bytes, &bits, bytes);
}

int64_t int_at(Tensor t, int64_t i)
{
    return int_wrap((int64_t)bits_at(t, i), &element_info[t.type.element]);
}

void int_set(Tensor t, int64_t i, int64_t x)
{
    bits_set(t, i, (uint64_t)int_wrap(x, &element_info[t.type.element]));
}

double float_at(Tensor t, int64_t i)
{
    Element e = t.type.element;
    return number_float(e, (const char *)t.data + i * element_info[e].bytes);
}

void float_set(Tensor t, int64_t i, double x)
{
    Element e = t.type.element;
    number_set_float(e, x, (char *)t.data + i * element_info[e].bytes);
}

Complex complex_at(Tensor t, int64_t i)
{
    Element part = element_part(t.type.element);
    const char *at = (const char *)t.data + i * element_info[t.type.element].bytes;
    return CMPLX(number_float(part, at), number_float(part, at + element_info[part].bytes));
}

void complex_set(Tensor t, int64_t i, Complex x)
{
    Element part = element_part(t.type.element);
    char *at = (char *)t.data + i * element_info[t.type.element].bytes;
    number_set_float(part, creal(x), at);
    number_set_float(part, cimag(x), at + element_info[part].bytes);
}

int64_t float_rank(Tensor t, int64_t i)
{
    uint64_t bits = bits_at(t, i), sign = float_sign_bit(t.type.element);
    int64_t size = (int64_t)(bits & ~sign);
    return bits & sign ? -size - 1 : size;
}

Complex number_at(Tensor t, int64_t i)
{
    bool is_real = element_carrier(t.type.element) == CARRY_FLOAT;
    return is_real ? CMPLX(float_at(t, i), 0) : complex_at(t, i);
}

void number_set(Tensor t, int64_t i, Complex x)
{
    if (element_carrier(t.type.element) == CARRY_FLOAT)
        float_set(t, i, creal(x));
    else
        complex_set(t, i, x);
}

void element_copy(Tensor to, int64_t i, Tensor from, int64_t j)
{
    size_t bytes = (size_t)element_info[to.type.element].bytes;
    memcpy((char *)to.data + (size_t)i * bytes, (const char *)from.data + (size_t)j * bytes, bytes);
}

static void convert_int(Tensor to, int64_t i, int64_t x, bool is_unsigned)
{
    switch (element_carrier(to.type.element)) {
    case CARRY_INT: int_set(to, i, to.type.element == I1 ? x != 0 : x); break;
    case CARRY_FLOAT:
        if (to.type.element == F64) /* the sticky bit would be one rounding too many */
            float_set(to, i, is_unsigned ? (double)(uint64_t)x : (double)x);
        else
            float_set(to, i, int_to_double(x, is_unsigned));
        break;
    default: complex_set(to, i, CMPLX(is_unsigned ? (double)(uint64_t)x : (double)x, 0));
    }
}

static void convert_complex(Tensor to, int64_t i, Complex x)
{
    const ElementInfo *t = &element_info[to.type.element];
    switch (element_carrier(to.type.element)) {
    case CARRY_INT:
        int_set(to, i, t->kind == BOOLEAN ? creal(x) != 0 : int_from_double(creal(x), t));
        break;
    case CARRY_FLOAT: float_set(to, i, creal(x)); break;
    default: complex_set(to, i, x);
    }
}

void convert_element(Tensor to, int64_t i, Tensor from, int64_t j)
{
    Element e = from.type.element;
    if (element_carrier(e) == CARRY_INT)
        convert_int(to, i, int_at(from, j), element_info[e].kind != SIGNED);
    else if (element_carrier(e) == CARRY_FLOAT)
        convert_complex(to, i, CMPLX(float_at(from, j), 0));
    else
        convert_complex(to, i, complex_at(from, j));
}

bool index_next(int rank, const int64_t *dims, int64_t *index)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

int64_t index_flat(int rank, const int64_t *index, const int64_t *strides)
{
    int64_t flat = 0;
    for (int i = 0; i < rank; i++)
        flat += index[i] * strides[i];
    return flat;
}
