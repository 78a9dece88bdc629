/* print_test.c - arrays print as NumPy prints them: the cases of tests/front/print_cases.txt, which
 * tests/front/print_cases.py had NumPy write. */
#include "front/value/array.h"
#include "ops/number.h"
#include "tests/front.h"

#include <stdio.h>
#include <stdlib.h>

static char *line; /* the one last read, without its end */
static size_t room;

static bool next_line(FILE *file)
{
    ssize_t n = getline(&line, &room, file);
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = 0;
    return n > 0;
}

static Type read_type(int64_t *dims)
{
    char *space = strchr(line, ' ');
    Type type = { F32, 0, dims };
    CHECK(element_find((Str){ line, (size_t)(space - line) }, &type.element));
    for (char *at = space + 1; *at && *at != '-'; at += *at == ',')
        dims[type.rank++] = strtoll(at, &at, 10);
    return type;
}

static void *read_data(Type type)
{
    size_t n = type_bytes(type), bytes = (size_t)element_info[type.element].bytes;
    unsigned char *data = calloc(1, n + 16);
    double start, step;
    if (sscanf(line, "ramp %lf %lf", &start, &step) == 2) {
        for (size_t i = 0; i < n / bytes; i++)
            if (element_info[type.element].kind == FLOAT)
                number_set_float(type.element, start + (double)i * step, data + i * bytes);
            else
                number_set_int(type.element, (int64_t)(start + (double)i * step), data + i * bytes);
    } else {
        unsigned byte;
        for (size_t i = 0; i < n && sscanf(line + 2 * i, "%2x", &byte) == 1; i++)
            data[i] = (unsigned char)byte;
    }
    return data;
}

static void run_case(FILE *file, int number)
{
    int64_t dims[TT_MAX_RANK];
    Type type = read_type(dims);
    CHECK(next_line(file));
    void *data = read_data(type);
    Text expected = { 0 }, printed = { 0 };
    while (next_line(file) && line[0] == '|')
        text_printf(&expected, "%s%s", expected.n ? "\n" : "", line + 1);
    Array *a = array_from_host(type, data, layout_single(0));
    if (a && array_print(&printed, a) && strcmp(text_cstr(&printed), text_cstr(&expected)) != 0) {
        printf("case %d, %s\n", number, type_name(type));
        CHECK_STR(text_cstr(&printed), text_cstr(&expected));
    }
    CHECK(a != NULL);
    if (a)
        array_release(a);
    text_free(&expected);
    text_free(&printed);
    free(data);
}

int main(void)
{
    front_start(1);
    FILE *file = fopen("tests/front/print_cases.txt", "r");
    CHECK(file != NULL);
    int n = 0;
    while (file && next_line(file))
        run_case(file, n++);
    CHECK(n > 300);
    if (file)
        fclose(file);
    free(line);
    return check_done();
}
