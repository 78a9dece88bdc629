/* if_shorthand.h - rows of kind SHORT, told from the others where ops.def is read.
 *
 * IF_SHORT_##kind(yes, no) in an OP macro: their column `eval` names a definition (hlo/define),
 * that of all other rows a rule of the evaluator. */
#ifndef TUTTI_OPS_IF_SHORTHAND_H
#define TUTTI_OPS_IF_SHORTHAND_H
#define IF_SHORT_MAP(yes, no) no
#define IF_SHORT_VIEW(yes, no) no
#define IF_SHORT_FOLD(yes, no) no
#define IF_SHORT_BLOCK(yes, no) no
#define IF_SHORT_FLOW(yes, no) no
#define IF_SHORT_COLLECTIVE(yes, no) no
#define IF_SHORT_MARK(yes, no) no
#define IF_SHORT_SHORT(yes, no) yes
#endif
