/* ordering.h - what other public operations need of sorting. */
#ifndef TUTTI_FRONT_API_ORDERING_H
#define TUTTI_FRONT_API_ORDERING_H
#include <tutti.h>

/* Inside a body: i32 values along axis 0 in the order of their keys, equal ones as they were. */
tt sort_by(tt keys, tt values);
#endif
