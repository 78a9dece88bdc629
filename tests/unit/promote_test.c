/* promote_test.c - operands meet in JAX's types: tests/front/promote_cases.txt, which JAX wrote. */
#include "front/value/value.h"
#include "tests/check.h"

#include <stdio.h>

static Shape shape_of(const char *name)
{
    Shape s = { .rank = 1, .dims = { 2 } };
    if (strchr(name, '*')) { /* a number from C, in 64 bits */
        s.rank = 0;
        s.is_weak = true;
        s.element = name[0] == 'i' ? I64 : name[0] == 'f' ? F64 : C128;
    } else {
        CHECK(element_find(str_of(name), &s.element));
    }
    return s;
}

static const char *met_name(Promoted met)
{
    if (!met.is_weak)
        return element_info[met.element].name;
    switch (element_info[met.element].kind) {
    case FLOAT: return "float*";
    case COMPLEX: return "complex*";
    default: return "int*";
    }
}

int main(void)
{
    FILE *file = fopen("tests/front/promote_cases.txt", "r");
    CHECK(file != NULL);
    char a[32], b[32], expected[32];
    int n = 0;
    for (; file && fscanf(file, "%31s %31s %31s", a, b, expected) == 3; n++) {
        Shape both[] = { shape_of(a), shape_of(b) };
        Promoted met = promote_types(2, both);
        if (strcmp(met_name(met), expected) != 0)
            printf("%s and %s:\n", a, b);
        CHECK_STR(met_name(met), expected);
        bool all_weak = both[0].is_weak && both[1].is_weak;
        if (met.is_weak) /* numbers alone stay wide; with an array they take the default width */
            CHECK(element_info[met.element].bits ==
                  (element_info[met.element].kind == COMPLEX ? 64 : 32) * (all_weak ? 2 : 1));
    }
    CHECK(n == 18 * 18);
    if (file)
        fclose(file);
    Shape ints = { .element = I32 }, wide = { .element = U64 }, flag = { .element = I1 };
    CHECK(promote_inexact(1, &ints).element == F32 && promote_inexact(1, &wide).element == F64);
    CHECK(promote_inexact(1, &flag).element == F32);
    return check_done();
}
