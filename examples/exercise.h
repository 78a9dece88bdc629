/* exercise.h - what exercise.c fills in, and tools/exercise/judge.c looks at. */
#include <tutti.h>

tt center(tt x);
tt step(tt w, tt x, tt y);
tt winner(tt x);
