/* print.c - arrays as NumPy prints them, digit for digit and column for column.
 *
 *     [[ 0.   1. ]        Every number gets the fewest digits that read back as itself, at most 8
 *      [-2.5  3. ]]       behind the point.  One form serves all numbers of an array: points stand
 *                         below points, and when the largest is 1000 times the smallest, or very
 *                         large or small, all are written with an exponent.
 *
 * Two walks over the elements that will be shown: the first measures, the second writes.  Lines
 * are wrapped at 75 columns; above 1000 elements only three at either end of an axis are shown. */
#include "base/guard.h"
#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "ops/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRECISION = 8, THRESHOLD = 1000, EDGE = 3, LINE_WIDTH = 75, ROOM = 400 };

/* ---- One number. */

/* digits d1 d2 ... mean d1.d2... times ten to the exponent. */
typedef struct Decimal {
    char digits[20];
    int n, exponent;
} Decimal;

static bool reads_back(Element e, const Decimal *d, double magnitude)
{
    char text[40];
    snprintf(text, sizeof text, "%c.%se%d", d->digits[0], d->n > 1 ? d->digits + 1 : "0",
             d->exponent);
    if (e == F32)
        return strtof(text, NULL) == (float)magnitude;
    double back = strtod(text, NULL);
    if (e == F16) {
        unsigned char half[2];
        number_set_float(F16, back, half);
        back = number_float(F16, half);
    }
    return back == magnitude;
}

static Decimal rounded(double magnitude, int n)
{
    char text[40];
    Decimal d = { .n = n };
    snprintf(text, sizeof text, "%.*e", n - 1, magnitude);
    d.digits[0] = text[0];
    if (n > 1)
        memcpy(d.digits + 1, text + 2, (size_t)(n - 1));
    d.exponent = atoi(strchr(text, 'e') + 1);
    return d;
}

static Decimal next_above(Decimal d)
{
    int i = d.n - 1;
    while (i >= 0 && d.digits[i] == '9')
        d.digits[i--] = '0';
    if (i >= 0) {
        d.digits[i]++;
    } else {
        d.digits[0] = '1';
        d.exponent++;
    }
    return d;
}

/* The fewest digits that read back as the number.  Below a power of two floats stand closer than
 * above it, so there the nearest decimal may fail where the next one above does not. */
static Decimal shortest(Element e, double magnitude)
{
    Decimal d = { "0", 1, 0 };
    for (int n = 1; magnitude != 0 && n <= 17; n++) {
        d = rounded(magnitude, n);
        if (reads_back(e, &d, magnitude))
            break;
        Decimal above = next_above(d);
        if (reads_back(e, &above, magnitude))
            return above;
    }
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.digits[--d.n] = 0;
    return d;
}

/* A number in pieces: sign and digits before the point, digits behind it, and "-05". */
typedef struct NumberText {
    char whole[ROOM], fraction[ROOM], exponent[8];
} NumberText;

static void trim_zeros(char *digits)
{
    for (size_t n = strlen(digits); n && digits[n - 1] == '0';)
        digits[--n] = 0;
}

/* At most `most` digits behind the point (more are rounded off), none of them a zero at the end. */
static void format_positional(const Decimal *d, double magnitude, int most, NumberText *p)
{
    char *whole = p->whole + strlen(p->whole);
    if (d->n - 1 - d->exponent > most) {
        char text[ROOM];
        snprintf(text, sizeof text, "%.*f", most, magnitude);
        char *point = strchr(text, '.');
        *point = 0;
        strcpy(whole, text);
        strcpy(p->fraction, point + 1);
    } else if (d->exponent < 0) {
        strcpy(whole, "0");
        sprintf(p->fraction, "%0*d%s", -d->exponent - 1, 0, d->digits);
        if (d->exponent == -1) /* "%0*d" writes at least one digit */
            strcpy(p->fraction, d->digits);
    } else {
        int n = d->exponent + 1;
        for (int i = 0; i < n; i++)
            whole[i] = i < d->n ? d->digits[i] : '0';
        whole[n] = 0;
        strcpy(p->fraction, d->n > n ? d->digits + n : "");
    }
    trim_zeros(p->fraction);
}

static void format_scientific(const Decimal *d, double magnitude, int most, NumberText *p)
{
    Decimal shown = d->n - 1 > most ? rounded(magnitude, most + 1) : *d;
    size_t n = strlen(p->whole);
    p->whole[n] = shown.digits[0];
    p->whole[n + 1] = 0;
    strcpy(p->fraction, shown.digits + 1);
    trim_zeros(p->fraction);
    snprintf(p->exponent, sizeof p->exponent, "%+03d", shown.exponent);
}

static NumberText format_number(Element e, double x, bool scientific, bool plus, int most)
{
    NumberText p = { "", "", "" };
    strcpy(p.whole, signbit(x) ? "-" : plus ? "+" : "");
    Decimal d = shortest(e, fabs(x));
    if (scientific)
        format_scientific(&d, fabs(x), most, &p);
    else
        format_positional(&d, fabs(x), most, &p);
    return p;
}

/* ---- The form of all floats of an array. */

typedef struct Form {
    Element element;
    bool plus; /* write the sign always: imaginary parts */
    bool has_finite, has_other, has_minus_infinity;
    double largest, smallest; /* finite and not zero, in magnitude; 0: none */
    bool scientific;
    int left, right; /* columns before and behind the point */
    int exponent;    /* digits of the exponent */
} Form;

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static double power_cutoff(Element e, int most)
{
    int precision = e == F16 ? 3 : e == F32 ? 6 : 15;
    return pow(10, precision < most ? precision : most);
}

static void form_look(Form *f, double x)
{
    if (!isfinite(x)) {
        f->has_other = true;
        f->has_minus_infinity |= isinf(x) && x < 0;
        return;
    }
    f->has_finite = true;
    double magnitude = fabs(x);
    if (magnitude == 0)
        return;
    f->largest = fmax(f->largest, magnitude);
    f->smallest = f->smallest == 0 ? magnitude : fmin(f->smallest, magnitude);
}

static void form_choose(Form *f)
{
    if (f->smallest == 0)
        return;
    double ratio = f->largest / f->smallest;
    if (f->element == F32)
        ratio = (float)ratio;
    f->scientific =
        f->largest >= power_cutoff(f->element, PRECISION) || f->smallest < 0.0001 || ratio > 1000;
}

static void form_measure(Form *f, double x)
{
    if (!isfinite(x))
        return;
    NumberText p = format_number(f->element, x, f->scientific, f->plus, PRECISION);
    f->left = max_int(f->left, (int)strlen(p.whole));
    f->right = max_int(f->right, (int)strlen(p.fraction));
    f->exponent = max_int(f->exponent, (int)strlen(p.exponent) - 1);
}

/* Room for nan and inf. */
static void form_end(Form *f)
{
    if (!f->has_other)
        return;
    int behind = f->right + 1 + (f->scientific ? f->exponent + 2 : 0);
    f->left = max_int(f->left, 3 - behind);
    f->left = max_int(f->left, 3 + (f->plus || f->has_minus_infinity) - behind);
}

static void form_write(const Form *f, Text *out, double x)
{
    int tail = f->scientific ? f->exponent + 2 : 0;
    if (!isfinite(x)) {
        const char *word = isnan(x)  ? (f->plus ? "+nan" : "nan")
                           : x < 0   ? "-inf"
                           : f->plus ? "+inf"
                                     : "inf";
        text_printf(out, "%*s", f->left + 1 + f->right + tail, word);
        return;
    }
    NumberText p = format_number(f->element, x, f->scientific, f->plus, PRECISION);
    if (f->scientific) { /* all with as many digits as the longest, and those are true ones */
        Decimal d = shortest(f->element, fabs(x));
        if (x != 0 && d.n != f->right + 1)
            d = rounded(fabs(x), f->right + 1);
        text_printf(out, "%*.*s%c.%s", f->left - 1, (int)strlen(p.whole) - 1, p.whole, d.digits[0],
                    d.digits + 1);
        for (int i = d.n - 1; i < f->right; i++)
            text_add(out, "0", 1);
        text_printf(out, "e%c%0*d", d.exponent < 0 ? '-' : '+', f->exponent, abs(d.exponent));
        return;
    }
    text_printf(out, "%*s.%s", f->left, p.whole, p.fraction);
    text_printf(out, "%*s", f->right - (int)strlen(p.fraction), "");
}

/* ---- One array. */

typedef struct Printer {
    Type type;
    int64_t strides[TT_MAX_RANK];
    const char *data;
    bool is_long; /* show the ends only */
    int width;    /* of integers */
    Form real, imaginary;
    Text *out;
    size_t line; /* where the line being written begins */
} Printer;

typedef void Visit(Printer *p, const char *at);

/* Every element that will be shown. */
static void visit(Printer *p, int axis, const char *at, Visit *f)
{
    if (axis == p->type.rank) {
        f(p, at);
        return;
    }
    int64_t n = p->type.dims[axis];
    for (int64_t i = 0; i < n; i++) {
        if (p->is_long && n > 2 * EDGE && i == EDGE)
            i = n - EDGE;
        visit(p, axis + 1, at + i * p->strides[axis], f);
    }
}

static void print_int(Text *out, Element e, const char *at, int width)
{
    int64_t x = number_int(e, at);
    if (e == U64)
        text_printf(out, "%*" PRIu64, width, (uint64_t)x);
    else
        text_printf(out, "%*" PRId64, width, x);
}

static bool is_plain_float(Element e)
{
    return e == F16 || e == F32 || e == F64;
}

static void look(Printer *p, const char *at)
{
    Element e = p->type.element, part = element_part(e);
    if (is_plain_float(part))
        form_look(&p->real, number_float(part, at));
    if (element_info[e].kind == COMPLEX)
        form_look(&p->imaginary, number_float(part, at + element_info[part].bytes));
}

static void measure(Printer *p, const char *at)
{
    Element e = p->type.element, part = element_part(e);
    if (element_info[e].kind == SIGNED || element_info[e].kind == UNSIGNED) {
        Text text = { 0 };
        print_int(&text, e, at, 0);
        p->width = max_int(p->width, (int)text.n);
        text_free(&text);
    } else if (is_plain_float(part)) {
        form_measure(&p->real, number_float(part, at));
        if (part != e)
            form_measure(&p->imaginary, number_float(part, at + element_info[part].bytes));
    }
}

static void write_complex(Printer *p, Text *out, const char *at)
{
    Element part = element_part(p->type.element);
    form_write(&p->real, out, number_float(part, at));
    form_write(&p->imaginary, out, number_float(part, at + element_info[part].bytes));
    size_t blanks = 0; /* the j stands before them */
    while (out->at[out->n - 1 - blanks] == ' ')
        blanks++;
    out->n -= blanks;
    text_printf(out, "j%*s", (int)blanks, "");
}

static void write_element(Printer *p, Text *out, const char *at)
{
    Element e = p->type.element;
    switch (element_info[e].kind) {
    case BOOLEAN: text_printf(out, *at ? " True" : "False"); return;
    case SIGNED:
    case UNSIGNED: print_int(out, e, at, p->width); return;
    case COMPLEX: write_complex(p, out, at); return;
    default: break;
    }
    if (is_plain_float(e))
        form_write(&p->real, out, number_float(e, at));
    else
        text_printf(out, "%.6g", number_float(e, at)); /* types that NumPy itself does not know */
}

/* Puts a word into the line, on the next one if it does not fit; a line's end has no blanks. */
static void add_word(Printer *p, const Text *word, int indent, int width)
{
    Text *out = p->out;
    size_t column = out->n - p->line;
    if (column + word->n > (size_t)width && column > (size_t)indent) {
        while (out->at[out->n - 1] == ' ')
            out->n--;
        text_printf(out, "\n");
        p->line = out->n;
        text_printf(out, "%*s", indent, "");
    }
    text_add(out, word->at, word->n);
}

static void write_row(Printer *p, const char *at, int indent, int width)
{
    int axis = p->type.rank - 1;
    int64_t n = p->type.dims[axis];
    Text word = { 0 };
    for (int64_t i = 0; i < n; i++) {
        if (i)
            text_printf(p->out, " ");
        word.n = 0;
        if (p->is_long && n > 2 * EDGE && i == EDGE) {
            text_printf(&word, "...");
            i = n - EDGE - 1;
        } else {
            write_element(p, &word, at + i * p->strides[axis]);
        }
        add_word(p, &word, indent, width);
    }
    text_free(&word);
}

static void write_from(Printer *p, int axis, const char *at)
{
    int left = p->type.rank - axis;
    text_printf(p->out, "[");
    if (left == 1) {
        write_row(p, at, axis + 1, LINE_WIDTH - axis - 1);
    } else {
        int64_t n = p->type.dims[axis];
        for (int64_t i = 0; i < n; i++) {
            for (int k = 1; i && k < left; k++)
                text_printf(p->out, "\n");
            p->line = i ? p->out->n : p->line;
            text_printf(p->out, "%*s", i ? axis + 1 : 0, "");
            if (p->is_long && n > 2 * EDGE && i == EDGE) {
                text_printf(p->out, "...");
                i = n - EDGE - 1;
            } else {
                write_from(p, axis + 1, at + i * p->strides[axis]);
            }
        }
    }
    text_printf(p->out, "]");
}

/* ---- A scalar stands alone, and without columns. */

static void print_float(Text *out, Element e, double x, bool with_zero)
{
    double magnitude = fabs(x);
    if (!isfinite(x)) {
        text_printf(out, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    bool scientific = magnitude != 0 &&
                      (magnitude < 1e-4 || magnitude >= (e == F64 ? 1e16 : power_cutoff(e, 16)));
    NumberText p = format_number(e, x, scientific, false, ROOM);
    text_printf(out, "%s%s%s", p.whole, *p.fraction ? "." : "", p.fraction);
    if (scientific)
        text_printf(out, "e%s", p.exponent);
    else if (with_zero && !*p.fraction)
        text_printf(out, ".0");
}

static void print_complex(Text *out, Element part, double re, double im)
{
    bool is_pair = re != 0 || signbit(re);
    text_printf(out, is_pair ? "(" : "");
    if (is_pair)
        print_float(out, part, re, false);
    if (is_pair && !(signbit(im) && !isnan(im)))
        text_printf(out, "+");
    print_float(out, part, im, false);
    text_printf(out, is_pair ? "j)" : "j");
}

static void print_scalar(Text *out, Element e, const char *at)
{
    Element part = element_part(e);
    if (e == I1)
        text_printf(out, *at ? "True" : "False");
    else if (e != part)
        print_complex(out, part, number_float(part, at),
                      number_float(part, at + element_info[part].bytes));
    else if (is_plain_float(e))
        print_float(out, e, number_float(e, at), true);
    else if (element_info[e].kind == FLOAT)
        text_printf(out, "%.6g", number_float(e, at));
    else
        print_int(out, e, at, 0);
}

void elements_print(Text *out, Type type, const void *data)
{
    int64_t count = type_count(type);
    if (type.rank == 0) {
        print_scalar(out, type.element, data);
        return;
    }
    if (count == 0) {
        text_printf(out, "[]");
        return;
    }
    Printer p = {
        .type = type, .data = data, .is_long = count > THRESHOLD, .out = out, .line = out->n
    };
    type_strides(type, p.strides);
    for (int i = 0; i < type.rank; i++)
        p.strides[i] *= element_info[type.element].bytes;
    p.real.element = p.imaginary.element = element_part(type.element);
    p.imaginary.plus = true;
    visit(&p, 0, data, look);
    form_choose(&p.real);
    form_choose(&p.imaginary);
    visit(&p, 0, data, measure);
    form_end(&p.real);
    form_end(&p.imaginary);
    write_from(&p, 0, data);
}

bool array_print(Text *out, Array *a)
{
    void *data = heap_try(type_bytes(a->type) + 1);
    if (!data)
        report_broken("no memory on the host for %s", type_text(a->type));
    bool read = array_read(a, data);
    if (read)
        elements_print(out, a->type, data);
    heap_free(data);
    return read;
}

/* Behind the % of a conversion: where its letter stands; *used: how many arguments it takes before its own. */
static const char *conversion_letter(const char *at, int *used)
{
    static const char digits[] = "0123456789";
    at += strspn(at, "-+ #0'");
    *used = *at == '*';
    at += *at == '*' ? 1 : strspn(at, digits);
    if (*at == '.') {
        at++;
        *used += *at == '*';
        at += *at == '*' ? 1 : strspn(at, digits);
    }
    return at + strspn(at, "hlqjzt");
}

/* Do arrays, whose elements are doubles, stand where the format writes doubles?  False: reported. */
static bool arrays_are_doubles(uint32_t arrays, const char *format)
{
    for (const char *at = strchr(format, '%'); at && arrays; at = strchr(at, '%')) {
        int used;
        const char *letter = conversion_letter(at + 1, &used);
        if (!*letter || *letter == '%' || *letter == 'm') {
            at = letter + (*letter != 0);
            continue;
        }
        bool is_double = strchr("aAeEfFgG", *letter) != NULL;
        if (arrays & ((1u << used) - 1) || (arrays >> used & 1 && !is_double))
            return report_broken("tt_printf: %.*s is given an array: its one element is a double, "
                                 "which %%g and "
                                 "%%.3f write, and %%.0f if it is a whole number",
                                 (int)(letter - at) + 1, at),
                   false;
        arrays >>= used + 1;
        at = letter + 1;
    }
    return true;
}

void tt_printf_n(uint32_t arrays, const char *format, ...)
{
    PUBLIC;
    if (!arrays_are_doubles(arrays, format))
        return;
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

void tt_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}
