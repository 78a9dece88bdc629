/* batches.c - one program for several batches (tests/ahead.sh): a row gives the same in each. */
#include "model.h"

#include "tests/check.h"

int main(void)
{
    float w[MODEL_B4_ARG0], v[MODEL_B4_ARG1], x[MODEL_B4_ARG2], four[MODEL_B4_RESULT0], sums[3];
    float one[MODEL_B1_RESULT0];
    for (int i = 0; i < MODEL_B4_ARG0; i++)
        w[i] = (float)(i % 5) - 2;
    for (int i = 0; i < MODEL_B4_ARG1; i++)
        v[i] = (float)(i % 3) - 1;
    for (int i = 0; i < MODEL_B4_ARG2; i++)
        x[i] = (float)(i % 7) / 4;
    model_arguments in = { w, v, x };
    CHECK(!model(NULL, 4, &in, &(model_results){ four, sums }));
    CHECK(MODEL_B4_RESULT0 == 4 * MODEL_B1_RESULT0);
    for (int i = 0; i < 4; i++) {
        in.arg2 = x + i * MODEL_B1_ARG2;
        CHECK(!model(NULL, 1, &in, &(model_results){ one, sums }));
        CHECK(memcmp(one, four + i * MODEL_B1_RESULT0, sizeof one) == 0);
    }
    const char *wrong = model(NULL, 3, &in, &(model_results){ four, sums });
    CHECK(wrong && strcmp(wrong, "model is for batches of 1 and 4") == 0);
    return check_done();
}
