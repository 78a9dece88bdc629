/* arith.h - arithmetic on values in registers, for every element type.
 *
 * x and y are values of element type e with any number of lanes.  Results are not yet rounded
 * to narrow types: finish() does that at the end of an operation's formula. */
#ifndef TUTTI_ENGINE_CODEGEN_ARITH_H
#define TUTTI_ENGINE_CODEGEN_ARITH_H
#include "engine/kernels/kernel.h"

bool is_float(Element e);
bool is_complex(Element e);
bool is_unsigned(Element e); /* bool too */

V arith_neg(Kernel *k, Element e, V x);
V arith_add(Kernel *k, Element e, V x, V y);
V arith_sub(Kernel *k, Element e, V x, V y);
V arith_mul(Kernel *k, Element e, V x, V y);
V arith_div(Kernel *k, Element e, V x, V y);
V arith_rem(Kernel *k, Element e, V x, V y);
V arith_max(Kernel *k, Element e, V x, V y);
V arith_min(Kernel *k, Element e, V x, V y);
V arith_abs(Kernel *k, Element e, V x); /* of a complex: its real length */
V arith_sign(Kernel *k, Element e, V x);
V arith_compare(Kernel *k, Element e, int direction, bool is_total, V x, V y); /* EQ, NE ... */
V arith_select(Kernel *k, V condition, V x, V y); /* complex too */
V arith_convert(Kernel *k, Element from, Element to, V x);

/* Parts of complex numbers. */
V real_part(Kernel *k, V x);
V imag_part(Kernel *k, V x);
V complex_of(Kernel *k, V re, V im);

/* Floats of one lane type, contracted where the machine can. */
V fadd(Kernel *k, V x, V y);
V fsub(Kernel *k, V x, V y);
V fmul(Kernel *k, V x, V y);
V fdiv(Kernel *k, V x, V y);
V fma3(Kernel *k, V x, V y, V z); /* x * y + z */
V fabs1(Kernel *k, V x);
V is_nan(Kernel *k, V x);
V same_bits(Kernel *k, V x, bool as_float); /* between f32 and i32, f64 and i64 */
V bits_of(Kernel *k, Element e, V v); /* as many as e has in memory; of a real type */
V value_of_bits(Kernel *k, Element e, V bits);
/* Code between these two is run only if any of the lanes is true; there n `values` are made anew,
 * and behind it they are those or the usual ones. */
typedef struct Rare {
    LLVMBasicBlockRef before, after;
} Rare;
Rare rare_begin(Kernel *k, V lanes);
void rare_end(Kernel *k, const Rare *r, int n, const V *usual, V *values);
LLVMTypeRef like_type(Kernel *k, V x, LLVMTypeRef one); /* as many lanes of another type */
V to_f64(Kernel *k, V x);
V to_f32(Kernel *k, V x);
#endif
