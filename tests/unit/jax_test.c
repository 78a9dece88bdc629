/* Programs of JAX: the same module, whether read from bytecode or from text.
 *
 * tests/jax/NAME.mlirbc are the bytes that JAX 0.10.2 handed to a plugin and NAME.mlir is the
 * text that StableHLO's own tools made of them; tests/fuzz/corpus/bytecode_fuzz holds some of
 * the texts again, written by those tools as NAME.VERSION.mlirbc for older readers.  Run from
 * the root of the repository. */
#include "../check.h"
#include "hlo/module.h"

#include <glob.h>
#include <stdlib.h>

static Module *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    if (!file)
        return NULL;
    static char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    Module *m = NULL;
    Error *error = read_program(bytes, n, path, &m);
    if (!error)
        error = module_check(m);
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
    return m;
}

static void compare(const char *bytecode, const char *text)
{
    Module *a = read_file(bytecode), *b = read_file(text);
    Text from_bytecode = { 0 }, from_text = { 0 };
    if (a && b) {
        module_print(&from_bytecode, a, false);
        module_print(&from_text, b, false);
        CHECK_STR(text_cstr(&from_bytecode), text_cstr(&from_text));
        CHECK(a->npartitions == b->npartitions && a->nmeshes == b->nmeshes);
    }
    text_free(&from_bytecode);
    text_free(&from_text);
    module_free(a);
    module_free(b);
}

/* Each file of the pattern with the text of the same name up to its first dot. */
static void compare_all(const char *pattern, size_t at_least)
{
    glob_t found;
    CHECK(glob(pattern, 0, NULL, &found) == 0);
    CHECK(found.gl_pathc >= at_least);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        char text[256];
        snprintf(text, sizeof text, "tests/jax/%.*s.mlir", (int)strcspn(name, "."), name);
        compare(found.gl_pathv[i], text);
    }
    globfree(&found);
}

int main(void)
{
    compare_all("tests/jax/*.mlirbc", 16);
    compare_all("tests/fuzz/corpus/bytecode_fuzz/*.mlirbc", 15);
    return check_done();
}
