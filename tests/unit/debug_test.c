/* debug_test.c - what traced code says and checks while it runs: every line is what jax.debug.print
 * writes for the same function under the same transformations. */
#include "tests/front.h"

static int file, terminal; /* what standard output is while functions speak, and otherwise */

static void listen(void)
{
    fflush(stdout);
    CHECK(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
    CHECK(dup2(file, STDOUT_FILENO) >= 0);
}

/* What was said since. */
static const char *heard(void)
{
    static char text[4096];
    fflush(stdout);
    CHECK(dup2(terminal, STDOUT_FILENO) >= 0);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return text;
}
#define CHECK_SAYS(call, expected)                                                                 \
    do {                                                                                           \
        listen();                                                                                  \
        call;                                                                                      \
        CHECK_STR(heard(), expected);                                                              \
    } while (0)

static tt cube(tt x)
{
    tt y = tt_mul(x, x);
    tt_debug_print("y = {}, {{x}} = {}", y, x);
    return tt_mul(y, x);
}

static tt twice(tt x)
{
    tt_debug_print("first");
    cube(x); /* not used, and yet it speaks */
    tt_debug_print("then");
    return tt_mul(x, 2);
}

static tt turn(tt i, tt x)
{
    tt_debug_print("turn {}: {}", i, x);
    return tt_mul(x, 2);
}

static tt looped(tt x)
{
    return tt_fori(3, turn, x);
}

static tt calls(tt x)
{
    tt_call(tt_jit(cube), x); /* a private function, whose result nobody uses */
    return tt_add(x, 1);
}

static tt mapped(tt x)
{
    tt_debug_print("{}", x);
    tt sum = tt_psum(x, "i");
    tt_debug_print("sum {}", sum);
    return sum;
}

/* The first devices have most to do before each line, the third has a line less. */
static tt busy(tt i, tt x)
{
    (void)i;
    return tt_sin(x);
}

static tt says_more(tt x)
{
    tt_debug_print_ordered("more {}", x);
    return x;
}

static tt says_nothing(tt x)
{
    return x;
}

static tt in_order(tt x)
{
    tt d = tt_axis_index("i");
    for (int k = 0; k < 2; k++) {
        tt work = tt_fori_to(0, tt_mul(tt_sub(3, d), 20000), busy, tt_astype(x, TT_F32));
        tt_debug_print_ordered(k ? "line 1 of {}, {}" : "line 0 of {}, {}", d, tt_isfinite(work));
    }
    tt_cond(tt_equal(d, 2), says_nothing, says_more, x);
    tt_debug_print_ordered("last");
    return tt_psum(x, "i");
}

static void check_order(void)
{
    tt_fn f = tt_pmap(in_order, .axis_name = "i");
    for (int again = 0; again < 3; again++)
        CHECK_SAYS(tt_call(f, tt_arange(TT_I32, 4)),
                   "device 0: line 0 of 0, True\ndevice 1: line 0 of 1, True\n"
                   "device 2: line 0 of 2, True\ndevice 3: line 0 of 3, True\n"
                   "device 0: line 1 of 0, True\ndevice 1: line 1 of 1, True\n"
                   "device 2: line 1 of 2, True\ndevice 3: line 1 of 3, True\n"
                   "device 0: more 0\ndevice 1: more 1\ndevice 2: last\ndevice 3: more 3\n"
                   "device 0: last\ndevice 1: last\ndevice 3: last\n");
    CHECK_SAYS(tt_debug_print_ordered("now {}", tt_arange(TT_I32, 2)), "now [0 1]\n");
    CHECK_SAID("");
}

static void check_prints(void)
{
    CHECK_SAYS(tt_call(tt_jit(cube), tt_scalar(3)), "y = 9.0, {x} = 3.0\n");
    CHECK_SAYS(tt_call(tt_jit(twice), tt_arange(TT_F32, 3)),
               "first\ny = [0. 1. 4.], {x} = [0. 1. 2.]\nthen\n");
    CHECK_SAYS(tt_call(tt_grad(cube), tt_scalar(2)), "y = 4.0, {x} = 2.0\n");
    CHECK_SAYS(tt_call(tt_grad(tt_grad(cube)), tt_scalar(2)), "y = 4.0, {x} = 2.0\n");
    CHECK_SAYS(tt_call(tt_vmap(cube), tt_arange(TT_F32, 3)),
               "y = 0.0, {x} = 0.0\ny = 1.0, {x} = 1.0\ny = 4.0, {x} = 2.0\n");
    CHECK_SAYS(tt_call(tt_vmap(tt_grad(cube)), tt_arange(TT_F32, 2)),
               "y = 0.0, {x} = 0.0\ny = 1.0, {x} = 1.0\n");
    CHECK_SAYS(tt_call(tt_jit(looped), tt_scalar(1)), "turn 0: 1.0\nturn 1: 2.0\nturn 2: 4.0\n");
    CHECK_SAYS(tt_call(tt_grad(looped), tt_scalar(1)), "turn 0: 1.0\nturn 1: 2.0\nturn 2: 4.0\n");
    CHECK_SAYS(tt_call(tt_jit(calls), tt_scalar(2)), "y = 4.0, {x} = 2.0\n");
    CHECK_SAYS(cube(tt_scalar(5)), "y = 25.0, {x} = 5.0\n"); /* not traced: at once */
    CHECK_SAID("");
}

/* Each device's lines, in any order between devices, in the program's order for each. */
static void check_devices(void)
{
    tt x = tt_reshape(tt_arange(TT_I32, 8), 4, 2);
    listen();
    tt_call(tt_pmap(mapped, .axis_name = "i"), x);
    const char *text = heard();
    for (int d = 0; d < 4; d++) {
        char line[64], sum[64];
        snprintf(line, sizeof line, "device %d: [%d %d]\n", d, 2 * d, 2 * d + 1);
        snprintf(sum, sizeof sum, "device %d: sum [12 16]\n", d);
        CHECK(strstr(text, line) && strstr(text, sum));
        CHECK(strstr(text, line) < strstr(text, sum));
    }
    CHECK(strlen(text) == 4 * (strlen("device 0: [0 1]\n") + strlen("device 0: sum [12 16]\n")));
    /* Cut over devices, but not mapped: the whole array, once. */
    tt_mesh mesh = tt_mesh_of({ "x", 4 });
    CHECK_SAYS(tt_call(tt_jit(cube), tt_place(tt_arange(TT_F32, 4), mesh, "x")),
               "y = [0. 1. 4. 9.], {x} = [0. 1. 2. 3.]\n");
    CHECK_SAID("");
}

#define DEVICE(color, n) "\033[48;5;" #color ";97m" #n "\033[0m"
#define FOUR                                                                                       \
    "+-------+-------+-------+-------+\n| 0     | 1     | 2     | 3     |\n"                       \
    "+-------+-------+-------+-------+\n"

static void check_pictures(void)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt x = tt_place(tt_zeros(TT_F32, 4, 6), mesh, "x", "y"),
       y = tt_place(tt_arange(TT_I32, 4), mesh, "y");
    CHECK_SAYS(tt_show_sharding(x), "f32[4,6], on each device f32[2,3]\n+-------+-------+\n"
                                    "| 0     | 1     |\n+-------+-------+\n"
                                    "| 2     | 3     |\n+-------+-------+\n"
                                    "mesh x = 2, y = 2; spec (\"x\", \"y\")\n"
                                    "       y = 0  y = 1\nx = 0  0      1\nx = 1  2      3\n");
    /* Of two meshes that fit, the one that needs fewer axes; the order of axes is found too. */
    tt_mesh line = tt_mesh_of({ "line", 4 });
    CHECK_SAYS(tt_show_sharding(tt_place(tt_arange(TT_I32, 4), mesh, "x,y")),
               "i32[4], on each device i32[1]\n" FOUR "mesh line = 4; spec (\"line\")\n"
               "line = 0  line = 1  line = 2  line = 3\n0         1         2         3\n");
    CHECK_SAYS(tt_show_sharding(tt_place(tt_zeros(TT_I32, 1, 4), mesh, NULL, "y,x")),
               "i32[1,4], on each device i32[1,1]\n+-------+-------+-------+-------+\n"
               "| 0     | 2     | 1     | 3     |\n+-------+-------+-------+-------+\n"
               "mesh x = 2, y = 2; spec (NULL, \"y,x\")\n"
               "       y = 0  y = 1\nx = 0  0      1\nx = 1  2      3\n");
    CHECK_SAYS(tt_show_sharding(tt_place(tt_zeros(TT_I32, 4, 1, 1), line, NULL)),
               "i32[4,1,1], on each device i32[4,1,1]\n"
               "device 0: [0:4, 0:1, 0:1]\ndevice 1: [0:4, 0:1, 0:1]\n"
               "device 2: [0:4, 0:1, 0:1]\ndevice 3: [0:4, 0:1, 0:1]\n"
               "mesh line = 4; spec (NULL, NULL, NULL)\n"
               "line = 0  line = 1  line = 2  line = 3\n0         1         2         3\n");
    CHECK_SAYS(tt_show_sharding(tt_arange(TT_I32, 4)), /* on one device: on no mesh */
               "i32[4], on each device i32[4]\n+-------+\n| 0     |\n+-------+\n");
    setenv("TUTTI_COLOR", "always", 1); /* one device's alone have one */
    CHECK_SAYS(tt_show_sharding(y),
               "i32[4], on each device i32[2]\n+-------+-------+\n"
               "| 0,2   | 1,3   |\n+-------+-------+\n"
               "mesh x = 2, y = 2; spec (\"y\")\n       y = 0  y = 1\n"
               "x = 0  " DEVICE(25, 0) "      " DEVICE(
                   166, 1) "\n"
                           "x = 1  " DEVICE(28, 2) "      " DEVICE(90, 3) "\n");
    listen();
    tt_show_sharding(x);
    const char *text = heard();
    CHECK(strstr(text, "|\033[48;5;25;97m 0     \033[0m|\033[48;5;166;97m 1     \033[0m|\n"));
    unsetenv("TUTTI_COLOR");
    char path[] = "/tmp/tutti_XXXXXX", svg[4096] = "";
    int drawn = mkstemp(path);
    CHECK(drawn >= 0 && tt_save_sharding(path, x));
    CHECK(pread(drawn, svg, sizeof svg - 1, 0) > 0);
    CHECK(strstr(svg, "<text y=\"14\">f32[4,6], on each device f32[2,3]</text>"));
    CHECK(strstr(svg, "<rect x=\"64\" y=\"50\" width=\"64\" height=\"26\" fill=\"#b279a2\""));
    int cells = 0;
    for (const char *at = svg; (at = strstr(at, "<rect ")); at++)
        cells++;
    CHECK(cells == 8); /* four of the array, four of the mesh */
    CHECK(strstr(svg, ">mesh x = 2, y = 2; spec (&quot;x&quot;, &quot;y&quot;)</text>"));
    CHECK(strstr(svg, ">x = 1</text>") && strstr(svg, ">y = 1</text>"));
    unlink(path);
    CHECK(!tt_save_sharding("/nowhere/x.svg", x));
    CHECK(strstr(front_said(), "tt_save_sharding: /nowhere/x.svg cannot be written: No such file"));
    CHECK_SAID("");
}

static tt positive(tt x)
{
    tt_check(tt_greater(x, 0), "x = {}", x);
    return tt_log(x);
}

static void check_checks(void)
{
    tt_call(tt_jit(positive), tt_scalar(1));
    CHECK_SAID("");
    int line = __LINE__ + 1;
    tt_call(tt_jit(positive), tt_scalar(-1));
    char expected[200];
    snprintf(
        expected, sizeof expected,
        "tests/unit/debug_test.c:%d: in check_checks: tt_check, at tests/unit/debug_test.c:%d: "
        "x = -1.0",
        line, line - 9);
    CHECK_SAID(expected);
    tt_call(tt_vmap(positive), tt_sub(3, tt_arange(TT_F32, 5)));
    CHECK(strstr(front_said(), ": x = 0.0"));
    tt_call(tt_jit(positive), tt_sub(3, tt_arange(TT_F32, 5)));
    CHECK(strstr(front_said(), "x = [ 3.  2.  1.  0. -1.] (false at [3], 2 of 5 elements)"));
    tt_call(tt_pmap(positive), tt_sub(2, tt_arange(TT_F32, 3)));
    CHECK(strstr(front_said(), "device 2: tt_check, at "));
    tt_call(tt_grad(positive), tt_scalar(0));
    CHECK(strstr(front_said(), "tt_check, at "));
    positive(tt_scalar(-2)); /* not traced */
    CHECK(strstr(front_said(), ": in positive: tt_check: x = -2.0"));
}

static tt wrong(tt x)
{
    tt_debug_print("{} {}", x);
    return x;
}

static void check_misuse(void)
{
    tt_call(tt_jit(wrong), tt_scalar(1));
    CHECK(strstr(front_said(), "tt_debug_print: \"{} {}\" has 2 places {} for 1 values"));
    tt_debug_print("{x}");
    CHECK(strstr(front_said(), "\"{x}\": a value's place is {}, and a brace is written twice"));
    tt_check(tt_scalar(1), "one");
    CHECK(strstr(front_said(), "tt_check: the condition is f"));
    tt_debug_progress(tt_arange(TT_I32, 2), 10, "");
    CHECK(strstr(front_said(), "tt_debug_progress: the step is i32[2], and must be one integer"));
    tt_debug_print_n(NULL, NULL, 0);
    CHECK(strstr(front_said(), "tt_debug_print: the text is missing"));
}

static tt slow_turn(tt i, tt x)
{
    x = tt_add(x, 1);
    tt_debug_progress(tt_add(i, 1), 50, "x {}", x);
    return x;
}

static tt slow(tt x)
{
    return tt_fori(50, slow_turn, x);
}

/* Nobody looks at a terminal here: the last step alone is said, by one device. */
static void check_progress(void)
{
    int kept = dup(STDERR_FILENO);
    listen();
    CHECK(dup2(file, STDERR_FILENO) >= 0);
    tt_call(tt_pmap(slow), tt_arange(TT_F32, 4));
    CHECK(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    const char *text = heard();
    CHECK(strncmp(text, "50/50  ", 7) == 0 && strstr(text, "/s  x 5"));
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    CHECK_SAID("");
}

int main(void)
{
    char path[] = "/tmp/tutti_XXXXXX";
    file = mkstemp(path);
    terminal = dup(STDOUT_FILENO);
    CHECK(file >= 0 && terminal >= 0);
    unlink(path);
    front_start(4);
    check_prints();
    check_devices();
    check_order();
    check_pictures();
    check_checks();
    check_misuse();
    check_progress();
    return check_done();
}
