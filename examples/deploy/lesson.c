/* lesson.c - the lesson on four devices, without a compiler:
 *
 *     tutti compile examples/lesson.mlir -o lesson.o --header lesson.h
 *     cc examples/deploy/lesson.c lesson.o -o lesson -I. -ltutti_rt -lm -pthread
 */
#include "lesson.h"
#include <stdio.h>

int main(void)
{
    float x[LESSON_ARG0], y[LESSON_RESULT0];
    for (int i = 0; i < LESSON_ARG0; i++)
        x[i] = (float)i;
    lesson_arguments in = { .arg0 = x };
    lesson_results out = { .result0 = y };
    const char *wrong = lesson(NULL, &in, &out);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        return 1;
    }
    for (int i = 0; i < LESSON_RESULT0; i += 2)
        printf("%.8g %.8g\n", y[i], y[i + 1]);
}
