#!/bin/sh
# TUTTI_PRECISION: products and convolutions ask for it, in StableHLO that our own engine reads; else they do not.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build}
[ "$build" = build ] || exit 0 # once is enough: it is about text
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
cat >"$at/products.c" <<'END'
#include <tutti.h>
static tt products(tt x) { return tt_add(tt_matmul(x, x), tt_sum(tt_conv(tt_reshape(x, 1, 3, 3, 1), tt_reshape(x, 3, 3, 1, 1)))); }
int main(void)
{
    tt x = tt_reshape(tt_arange(TT_F32, 9), 3, 3);
    tt_printf("%s", tt_lower(products, x));
    tt_printf("sum %g\n", tt_sum(tt_call(products, x)));
}
END
gcc -std=gnu17 -Iinclude "$at/products.c" -o "$at/products" -L$build -ltutti -Wl,-rpath,"$PWD/$build" || exit 1
TUTTI_PRECISION=highest "$at/products" >"$at/highest" 2>&1 || { cat "$at/highest"; exit 1; }
grep -q 'contracting_dims = .*, precision = \[HIGHEST, HIGHEST\]' "$at/highest" || { cat "$at/highest"; exit 1; }
grep -q 'precision_config = \[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>\]' "$at/highest" || { cat "$at/highest"; exit 1; }
"$at/products" >"$at/plain" 2>&1
grep -q precision "$at/plain" && { echo "precision where none was asked for"; exit 1; }
[ "$(grep '^sum' "$at/plain")" = "$(grep '^sum' "$at/highest")" ] || { echo "other numbers"; exit 1; }
TUTTI_PRECISION=most "$at/products" 2>&1 | grep -q "TUTTI_PRECISION is 'most'; default, high and highest are possible"
