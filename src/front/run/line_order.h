/* line_order.h - lines that the devices of a run say, in the order of the program.
 *
 * Devices run side by side, so their lines come as they come.  Ordered ones are held back until it is
 * their turn: the first line of every device, by number, then the second of every device, and so on. */
#ifndef TUTTI_FRONT_RUN_LINE_ORDER_H
#define TUTTI_FRONT_RUN_LINE_ORDER_H
#include "base/text.h"

/* The lines of one run; lives from before its launch until it has ended. */
typedef struct LineOrder {
    int id;                 /* what the run is launched with */
    int first, n;           /* its devices in this process */
    int turn;               /* whose line comes next: 0 to n - 1 */
    struct LineQueue *held; /* [n]: what each has said before its turn; NULL: nobody has */
    struct LineOrder *next;
} LineOrder;

void line_order_begin(LineOrder *o, int first, int n);
/* What is still held is said: devices that took another way through the program have said less. */
void line_order_end(LineOrder *o);
/* A line of a device in the run of that number; -1: of all of them. */
void line_order_say(int id, int device, Str line);
void line_say(Str line); /* without order: at once, so that lines of devices do not mix */
#endif
