#!/bin/sh
# TUTTI_PRECISION: products and convolutions that say no .precision ask for it, in StableHLO that our own engine
# reads; else they do not.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build}
[ "$build" = build ] || exit 0 # once is enough: it is about text
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
cat >"$at/products.c" <<'END'
#include <tutti.h>
static tt products(tt x) { return tt_add(tt_matmul(x, x), tt_sum(tt_conv(tt_reshape(x, 1, 3, 3, 1), tt_reshape(x, 3, 3, 1, 1)))); }
static tt says(tt x) { return tt_add(tt_matmul(x, x, .precision = TT_DEFAULT), tt_einsum("ij,jk", x, x, .precision = TT_HIGH)); }
int main(void)
{
    tt x = tt_reshape(tt_arange(TT_F32, 9), 3, 3);
    tt_printf("%s", tt_lower(products, x));
    tt_printf("sum %g\n", tt_sum(tt_call(products, x)));
    tt_fn loaded = tt_load("tests/jax/precision.mlir");
    tt_printf("%s%s", tt_lower(says, x), tt_lower(loaded, tt_ones(TT_F32, 4, 4), tt_ones(TT_F32, 4, 4), tt_ones(TT_F32, 3, 3, 1, 2)));
}
END
gcc -std=gnu17 -Iinclude "$at/products.c" -o "$at/products" -L$build -ltutti -Wl,-rpath,"$PWD/$build" || exit 1
TUTTI_PRECISION=highest "$at/products" >"$at/highest" 2>&1 || { cat "$at/highest"; exit 1; }
grep -q 'contracting_dims = .*, precision = \[HIGHEST, HIGHEST\]' "$at/highest" || { cat "$at/highest"; exit 1; }
grep -q 'precision_config = \[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>\]' "$at/highest" || { cat "$at/highest"; exit 1; }
# What says its own keeps it; an operand of a loaded program that has the default takes the variable's.
said=$(grep -oE 'precision = \[[A-Z, ]*\]' "$at/highest" | LC_ALL=C sort | uniq -c | tr -s ' \n' ' ')
[ "$said" = " 1 precision = [DEFAULT, DEFAULT] 1 precision = [HIGH, HIGHEST] 1 precision = [HIGH, HIGH] 3 precision = [HIGHEST, HIGHEST] " ] ||
    { echo "$said"; cat "$at/highest"; exit 1; }
"$at/products" >"$at/plain" 2>&1
sed '/^sum/q' "$at/plain" | grep -q precision && { echo "precision where none was asked for"; exit 1; }
[ "$(grep '^sum' "$at/plain")" = "$(grep '^sum' "$at/highest")" ] || { echo "other numbers"; exit 1; }
# What a loaded product's algorithm asks for is kept as a precision that is no less exact, from text and from bytecode.
for file in tests/jax/algorithm.mlir tests/jax/algorithm.mlirbc; do
    said=$($build/tutti dump $file | grep -oE '(precision = [^:]*)? : \(tensor' | tr -d '\n')
    [ "$said" = "precision = [HIGHEST, HIGHEST] : (tensorprecision = [HIGH, HIGH] : (tensor : (tensorprecision = [HIGHEST, HIGHEST] : (tensor" ] ||
        { echo "$file: $said"; exit 1; }
done
TUTTI_PRECISION=most "$at/products" 2>&1 | grep -q "TUTTI_PRECISION is 'most'; default, high and highest are possible"
