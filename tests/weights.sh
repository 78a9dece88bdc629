#!/bin/sh
# Programs compiled ahead whose weights are in a file, and programs for several batches: what they give, what is
# said of a file that is another, cut short or swapped, and that a killed process leaves nothing behind.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
fail() { echo "$*"; exit 1; }
ahead() { ${CC:-cc} -Wall -Wextra -Werror -O1 -Iinclude -I. -I"$at" "$@" $build/libtutti_rt.a -lm -ldl -pthread; }
expect() { # TEXT COMMAND ...: it fails, and says so
    words=$1
    shift
    "$@" > "$at/log" 2>&1 && fail "no error, but expected: $words"
    grep -qF -- "$words" "$at/log" || { cat "$at/log"; fail "expected: $words"; }
}

# w is six of 1, b six of 2, in a file as Python's safetensors writes it.
floats() { for _ in 1 2 3 4 5 6; do printf "$1"; done; }
ONE='\000\000\200\077' TWO='\000\000\000\100' THREE='\000\000\100\100'
weights() { # HEADER: with the two arrays behind it
    printf "\\$(printf %o ${#1})\\000\\000\\000\\000\\000\\000\\000%s" "$1"
    floats "$2"
    floats "$TWO"
}
array() { printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s]}' "$@"; }
weights "{$(array a.w F32 2,3 0,24),$(array b F32 2,3 24,48)}" "$ONE" > "$at/w.safetensors"

model=tests/fuzz/corpus/exported_fuzz/tree.jaxexp # f({a: {w}, b}, unused, rate) for cuda and cpu
$build/tutti compile $model -o "$at/outside.o" --header "$at/outside.h" --weights "$at/w.safetensors"
$build/tutti compile $model -o "$at/inside.o" --header "$at/inside.h" --weights "inside:$at/w.safetensors"
ahead -std=gnu17 -o "$at/weights" tests/ahead/weights.c "$at/outside.o" "$at/inside.o"
echo 0 1 2 3 4 5 12 > "$at/expected"
for flags in 0 1 2 3; do
    "$at/weights" "$at/w.safetensors" $flags > "$at/got"
    cmp "$at/expected" "$at/got" || fail "flags $flags: $(cat "$at/got")"
done

# For several batches, whose weights are the same.
$build/tutti compile tests/fuzz/corpus/exported_fuzz/batch.jaxexp -o "$at/batch.o" --header "$at/batch.h" --batch 1,2 \
    --weights "$at/w.safetensors" # f({a: {w}, b}, x) = x @ w + sum(b)
echo '#include "batch.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    float x[4] = { 1, 2, 3, 4 }, y[6];
    batch_arguments in = { .arg1 = x };
    batch_results out = { y };
    tutti_rt_weights *weights;
    const char *wrong = batch_open(argv[argc - 1], 0, &in, &weights);
    for (int n = 1; !wrong && n < 4; n++) {
        wrong = batch(0, n, &in, &out);
        for (int i = 0; !wrong && i < 3 * n; i++)
            printf("%g%c", (double)y[i], i + 1 < 3 * n ? 32 : 10);
    }
    puts(wrong);
}' > "$at/batch.c"
ahead -o "$at/batch" "$at/batch.c" "$at/batch.o"
"$at/batch" "$at/w.safetensors" > "$at/got"
printf '15 15 15\n15 15 15 19 19 19\nbatch is for batches of 1 and 2\n' | cmp - "$at/got" || fail "batches with weights: $(cat "$at/got")"

# Files that are not that one.
cp "$at/w.safetensors" "$at/x.safetensors"
printf '\101' | dd of="$at/x.safetensors" bs=1 seek=$(($(wc -c < "$at/x.safetensors") - 1)) conv=notrunc 2> /dev/null
expect 'x.safetensors is not ' "$at/weights" "$at/x.safetensors" 0
expect ': its CRC-32 is ' "$at/weights" "$at/x.safetensors" 0
"$at/weights" "$at/x.safetensors" 1 > "$at/log" && fail "other weights give the same numbers"
grep -qx 'inside: other numbers' "$at/log" || fail "expected other numbers: $(cat "$at/log")"
head -c -5 "$at/w.safetensors" > "$at/x.safetensors"
expect 'of 43 bytes of data' "$at/weights" "$at/x.safetensors" 1
head -c 20 "$at/w.safetensors" > "$at/x.safetensors"
expect 'x.safetensors ends early: its header has ' "$at/weights" "$at/x.safetensors" 0
weights "{$(array a.w F32 2,3 0,24),$(array c F32 2,3 24,48)}" "$ONE" > "$at/x.safetensors"
expect 'x.safetensors has no array b, f32[2,3], which is argument 1 of ' "$at/weights" "$at/x.safetensors" 1
weights "{$(array a.w F32 3,2 0,24),$(array b F32 2,3 24,48)}" "$ONE" > "$at/x.safetensors"
expect 'x.safetensors: a.w is f32[3,2], and argument 0 of ' "$at/weights" "$at/x.safetensors" 1
expect 'is f32[2,3]' "$at/weights" "$at/x.safetensors" 1
weights "{$(array a.w I32 2,3 0,24),$(array b F32 2,3 24,48)}" "$ONE" > "$at/y.safetensors"
expect 'y.safetensors: a.w is i32[2,3], and argument 0 of ' "$at/weights" "$at/y.safetensors" 1
expect 'none.safetensors' "$at/weights" "$at/none.safetensors" 0
expect 'a.w is f32[3,2], and tests/fuzz/corpus/exported_fuzz/tree.jaxexp takes f32[2,3]' \
    $build/tutti compile $model -o "$at/no.o" --weights "$at/x.safetensors"
weights "{$(array a.v F32 2,3 0,24),$(array b F32 2,3 24,48)}" "$ONE" > "$at/x.safetensors"
expect 'a.v: tests/fuzz/corpus/exported_fuzz/tree.jaxexp takes no array of that name; its first is 0.a.w' \
    $build/tutti compile $model -o "$at/no.o" --weights "inside:$at/x.safetensors"
expect '--weights: examples/lesson.mlir does not name its arguments' \
    $build/tutti compile examples/lesson.mlir -o "$at/no.o" --weights "$at/w.safetensors"

# Killed while the file is mapped, and started again; and the file replaced under a process that has it.
"$at/weights" "$at/w.safetensors" 1 30 > "$at/log" & killed=$!
while [ ! -s "$at/log" ]; do sleep 0.05; done
kill -9 $killed
wait $killed 2> /dev/null || true
"$at/weights" "$at/w.safetensors" 1 1 > "$at/again" & running=$!
while [ ! -s "$at/again" ]; do sleep 0.05; done
weights "{$(array a.w F32 2,3 0,24),$(array b F32 2,3 24,48)}" "$THREE" > "$at/x.safetensors"
mv "$at/x.safetensors" "$at/w.safetensors"
wait $running || fail "a replaced file: $(cat "$at/again")"
cmp "$at/expected" "$at/again" || fail "after a kill the numbers are others"

# Batches: of a plain program with an open extent, chosen when it is called.
$build/tutti compile tests/jax/open_mlp.mlirbc -o "$at/model.o" --header "$at/model.h" --name model --batch 1,4
ahead -std=gnu17 -o "$at/batches" tests/ahead/batches.c "$at/model.o"
"$at/batches"
expect 'has open extents: --batch says which' $build/tutti compile tests/jax/open_mlp.mlirbc -o "$at/no.o"
expect '--batch: examples/lesson.mlir has no open extent' $build/tutti compile examples/lesson.mlir -o "$at/no.o" --batch 4
expect 'has extents n and 2*m: --batch is for programs' \
    $build/tutti compile tests/fuzz/corpus/exported_fuzz/symbols.jaxexp -o "$at/no.o" --batch 4
expect '--batch has 4 twice' $build/tutti compile tests/jax/open_mlp.mlirbc -o "$at/no.o" --batch 4,4
expect '--weights needs a file' $build/tutti compile $model -o "$at/no.o" --weights inside:
