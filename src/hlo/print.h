/* print.h - what the files of the printer share.
 *
 *   print.c        the module, functions, regions, names of values
 *   print_form.c   one operation in the form that StableHLO prints it in
 *   print_conv.c   convolutions in that form
 *   print_props.c  the attributes of the generic form */
#ifndef TUTTI_HLO_PRINT_H
#define TUTTI_HLO_PRINT_H
#include "hlo/module.h"

typedef struct Printer {
    Text *out;
    const Module *m;
    bool with_locations;
    int indent;
    uint32_t *names;        /* [value]: its number, in its node's or region's count */
    uint32_t nargs, nnodes; /* numbers given so far in the function */
} Printer;

void print_symbol(Printer *p, Str name); /* @name, @"odd name" */
void print_value(Printer *p, ValueId v); /* %3, %3#1, %arg0 */
void print_values(Printer *p, int n, const ValueId *at);
void print_types(Printer *p, int n, const ValueId *at); /* T, T */
void print_function_type(Printer *p, const Node *node); /* (T, T) -> T */
void print_args(Printer *p, RegionId r);                /* (%arg1: T, %arg2: T) */
void name_args(Printer *p, RegionId r);                 /* gives them their numbers */
/* { ... } with the body one step further in.  The arguments have names; a label is printed
 * when with_label and there are any. */
void print_region(Printer *p, RegionId r, bool with_label);
void print_list(Printer *p, Ints list); /* [1, 2] */
/* {own, ...} with the node's extra attributes among them. */
void print_with_extra(Printer *p, const Node *node, Text *own);
void print_convolution(Printer *p, const Node *node);           /* behind its name */
void print_conv_numbers(Printer *p, const ConvolutionAttrs *a); /* [b, 0, f]x[0, i, o]->[b, 0, f] */

/* Everything behind the results: name to types, without the location. */
void print_form(Printer *p, NodeId n);
/* What stands between <{ and }>: StableHLO's names, grouped as it groups them. */
void print_props(Printer *p, const Node *node);
#endif
