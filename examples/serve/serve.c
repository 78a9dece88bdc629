/* serve.c - a trained model that answers lines: two numbers in, the probabilities of both classes out.
 *
 * Points are taken as many as the program takes at once (64, cut over four devices), or as there are until the
 * input ends or an empty line asks for answers.  `socat TCP-LISTEN:8000,fork EXEC:./serve` puts it on a network. */
#include "model.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS = 2, POINTS = MODEL_ARG0 / NUMBERS };

/* Answers the first n points; what is left in the batch is of no meaning.  False: it was said why. */
static int answer(const float *points, int n)
{
    float said[MODEL_RESULT];
    model_arguments in = { .arg0 = points };
    model_results out = { .result = said };
    const char *wrong = model(NULL, &in, &out);
    if (wrong)
        fprintf(stderr, "serve: %s\n", wrong);
    for (int i = 0; i < n && !wrong; i++)
        printf("%.9g %.9g\n", said[2 * i], said[2 * i + 1]);
    return fflush(stdout) == 0 && !wrong;
}

int main(void)
{
    float points[MODEL_ARG0] = { 0 };
    char line[256];
    int n = 0;
    while (fgets(line, sizeof line, stdin)) {
        int numbers = sscanf(line, "%f %f", &points[NUMBERS * n], &points[NUMBERS * n + 1]);
        int is_empty = line[strspn(line, " \t\r\n")] == 0;
        if (numbers == NUMBERS)
            n++;
        else if (!is_empty)
            printf("two numbers are wanted\n");
        if (n == POINTS || (is_empty && n > 0)) {
            if (!answer(points, n))
                return 1;
            n = 0;
        }
    }
    return n > 0 && !answer(points, n);
}
