/* exported_test.c - files of jax.export (tests/jax/export.py wrote them): names, types, what main takes;
 * and what is said of broken ones. */
#include "files/exported.h"

#include "tests/check.h"
#include "tests/fuzz/file_bytes.h"

#include <stdlib.h>

static char *bytes_of(const char *name, Str *out)
{
    char path[128];
    snprintf(path, sizeof path, "tests/fuzz/corpus/exported_fuzz/%s", name);
    char *bytes = file_bytes(path, &out->n);
    CHECK(bytes);
    out->at = bytes;
    return bytes;
}

static void test_tree(void)
{
    Str file;
    char *bytes = bytes_of("tree.jaxexp", &file);
    Arena *arena = arena_new();
    Exported *e = NULL;
    CHECK(exported_is(file) && !exported_read(file, "x", arena, &e));
    static const char *const names[] = { "0.a.w", "0.b", "1", "2" };
    static const int params[] = { 1, 2, -1, 3 };
    CHECK(e && e->nargs == 4 && e->nresults == 2 && e->nparams == 4 && e->platform_param == 0);
    for (int i = 0; e && i < 4; i++) {
        CHECK_STR(e->args[i].name.at, names[i]);
        CHECK_STR(e->args[i].type.at, "f32[2,3]");
        CHECK(e->args[i].param == params[i]);
    }
    CHECK(e && str_is(e->results[0].name, "0") && str_is(e->results[1].name, "1.0"));
    CHECK(e && exported_platform(e, STR("cuda")) == 0 && exported_platform(e, STR("tutti")) == 1);
    CHECK(e && e->module.n > 8 && memcmp(e->module.at, "ML\xEFR", 4) == 0 && !e->vjp);
    arena_free(arena);
    free(bytes);
}

static void test_others(void)
{
    Str file;
    Arena *arena = arena_new();
    Exported *e = NULL;
    char *bytes = bytes_of("symbols.jaxexp", &file);
    CHECK(!exported_read(file, "x", arena, &e) && e->nargs == 2 && e->platform_param == -1);
    CHECK_STR(e->args[0].type.at, "f32[n,2*m]");
    CHECK_STR(e->args[1].type.at, "key<fry>[]");
    CHECK(e->args[0].param == 0 && e->nparams == e->args[1].param + 1);
    free(bytes);
    bytes = bytes_of("gradient.jaxexp", &file);
    CHECK(!exported_read(file, "x", arena, &e) && e->vjp && !e->vjp->vjp);
    CHECK(e->vjp && e->vjp->nargs == 2 && e->vjp->nresults == 1);
    free(bytes);
    arena_free(arena);
    CHECK(!exported_is(STR("func.func @main() { return }                                     ")));
    CHECK(!exported_is(STR("ML\xEFR                                                           ")));
    CHECK(!exported_is(STR("")));
}

/* One byte is another: whatever it is, the file is read or refused, and each of these is said of some. */
static const char *const said[] = {
    "x is not a whole file of jax.export: it has no root",
    "x is not a whole file of jax.export: it has no program",
    "x is not a whole file of jax.export: a tree leads nowhere",
    "x is not a whole file of jax.export: a tree has a node of no known kind",
    "x is not a whole file of jax.export: a tree has more leaves than there are types",
    "x is not a whole file of jax.export: a tree has other leaves than there are types",
    "x is not a whole file of jax.export: a dictionary has other names than values",
    "x is not a whole file of jax.export: a type is not there",
    "x is not a whole file of jax.export: it keeps arguments that it does not have",
    "x has calling convention 255 of jax.export; 9 and 10 are known here",
};
enum { NSAID = sizeof said / sizeof *said };

static void try_bytes(Str file, bool *heard)
{
    Arena *arena = arena_new();
    Exported *e = NULL;
    Error *error = exported_read(file, "x", arena, &e);
    for (int i = 0; error && i < NSAID; i++)
        heard[i] |= strcmp(error_text(error), said[i]) == 0;
    error_free(error);
    arena_free(arena);
}

static void test_broken(void)
{
    static const unsigned char others[] = { 0, 1, 9, 0x7F, 0xFF };
    bool heard[NSAID] = { false };
    Str file;
    char *bytes = bytes_of("tree.jaxexp", &file);
    for (size_t i = 0; i < file.n; i++)
        for (size_t k = 0; k < sizeof others; k++) {
            char was = bytes[i];
            bytes[i] = (char)others[k];
            try_bytes(file, heard);
            bytes[i] = was;
        }
    for (size_t n = 0; n < file.n; n += 7)
        try_bytes((Str){ bytes, n }, heard);
    for (int i = 0; i < NSAID; i++) {
        if (!heard[i])
            printf("never said: %s\n", said[i]);
        CHECK(heard[i]);
    }
    free(bytes);
}

int main(void)
{
    test_tree();
    test_others();
    test_broken();
    return check_done();
}
