#!/bin/sh
# Programs compiled ahead: objects that a C compiler links without LLVM, and what they give.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
fail() { echo "$*"; exit 1; }

# Equal to what tutti run gives, or by their own checks: loops, branches, every collective, sorts, random
# bits, linear algebra, messages, programs for many devices.
programs=$(ls examples/lesson.mlir tests/programs/*.mlir tests/jax/*.mlirbc | grep -v -e /open -e pure_callback)
tests/ahead/play.sh $programs > "$at/log" 2>&1 || { cat "$at/log"; exit 1; }
grep -qE '^([7-9][0-9]|[1-9][0-9][0-9]) programs compiled ahead and played, 0 refused$' "$at/log" || fail "$(tail -1 "$at/log")"

# A program that does not check out is told of, so the ones above were looked at.
sed 's/dense<\[0, 1\]>/dense<[0, 2]>/' > "$at/wrong.mlir" <<'END'
func.func public @main() {
  %iota = stablehlo.iota dim = 0 : tensor<2xi32>
  %expected = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_eq(%iota, %expected) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}
END
tests/ahead/play.sh "$at/wrong.mlir" > "$at/log" 2>&1 && fail "a wrong program passed"
grep -q 'wrong.mlir: .*check.expect_eq' "$at/log" || { cat "$at/log"; fail "expected: the check that failed"; }

# The same bytes, wherever the process that made them lay in memory: nothing of it is in them.  One symbol
# to be seen, and no word of x86 or LLVM to be linked.
for i in 1 2; do $build/tutti compile examples/lesson.mlir -o "$at/$i.o" --name lesson --header "$at/lesson.h"; done
cmp "$at/1.o" "$at/2.o" || fail "an object differs from one compilation to the next"
shown=$(nm -g --defined-only "$at/1.o" | sed 's/.* //')
[ "$shown" = lesson_program ] || fail "an object shows: $shown"
others=$(nm -u "$at/1.o" | sed 's/.* //' | grep -v '^tutti_rt_' || true)
[ -z "$others" ] || fail "an object wants: $others"

# The example: linked by the C compiler alone, shared and static.
ahead() { ${CC:-cc} -Wall -Wextra -Werror -O1 -Iinclude -I. -I"$at" "$@" -lm -ldl -pthread; }
printf '0 1.841471\n4.9092975 9.14112\n15.243197 24.041077\n35.720585 49.656986\n' > "$at/expected"
for how in "-L$build -ltutti_rt -Wl,-rpath,$(realpath $build)" "-static -Wl,--gc-sections -Wl,-z,noseparate-code $build/libtutti_rt.a"; do
    ahead -o "$at/lesson" examples/deploy/lesson.c "$at/1.o" $how
    "$at/lesson" > "$at/got"
    cmp "$at/expected" "$at/got" || fail "the example, $how, prints other numbers"
done
strip "$at/lesson"
size=$(wc -c < "$at/lesson")
[ "$size" -lt 900000 ] || fail "the static example has $size bytes"

# A program names the collectives that it has, no others.
$build/tutti compile tests/jax/train_step_pmean_4.mlirbc -o "$at/train.o" --name train
named=$(nm -u "$at/train.o" | grep -oE '(plan|perform)_.*')
[ "$named" = plan_all_reduce ] || fail "the training step names: $named"

# A library of another making does not link.
objcopy --redefine-sym "$(nm "$at/1.o" | grep -o 'tutti_rt_abi_.*')=tutti_rt_abi_of_others" "$at/1.o" "$at/other.o"
ahead -o "$at/lesson" examples/deploy/lesson.c "$at/other.o" $build/libtutti_rt.a 2> "$at/log" && fail "a wrong library links"
grep -q 'tutti_rt_abi_of_others' "$at/log" || { cat "$at/log"; fail "expected: the name of its making"; }

# Two programs and the library tutti in one process; messages; custom calls; pieces.
$build/tutti compile examples/custom_call.mlir -o "$at/custom.o" --name custom_call --header "$at/custom_call.h"
for name in endless products; do
    $build/tutti compile tests/ahead/$name.mlir -o "$at/$name.o" --header "$at/$name.h"
done
ahead -std=gnu17 -o "$at/linked" tests/ahead/linked.c "$at/1.o" "$at/custom.o" "$at/endless.o" "$at/products.o" -L$build -ltutti $build/libtutti_rt.a \
    -Wl,-rpath,"$(realpath $build)"
"$at/linked"

# Functions of C saved and loaded; an object of them linked as that of a program.
ahead -std=gnu17 -o "$at/saved" tests/ahead/saved.c -L$build -ltutti -Wl,-rpath,"$(realpath $build)"
"$at/saved" "$at"
"$at/saved" "$at" tests/ahead/endless.mlir
# The same where there is no compiler: an engine without LLVM is found where there is no other.
mkdir "$at/machine"
cp $build/libtutti.so.0 $build/libtutti_rt.so.0 $build/pjrt_plugin_tutti_rt.so "$at/machine"
ahead -std=gnu17 -o "$at/machine/loaded" tests/ahead/loaded.c -L$build -ltutti -Wl,-rpath,'$ORIGIN'
for file in "$at"/machine/*; do
    ! env LD_LIBRARY_PATH="$at/machine" ldd "$file" | grep -e LLVM -e 'not found' || fail "$file wants that"
done
"$at/machine/loaded" "$at" > "$at/got" 2> "$at/log" || { cat "$at/got" "$at/log"; fail "loaded without a compiler"; }
grep -q 'tt_add: .* is not compiled, and this engine, pjrt_plugin_tutti_rt.so, holds no compiler' "$at/log" || { cat "$at/log"; exit 1; }
TUTTI_PLUGIN=$(realpath $build)/pjrt_plugin_tutti.so "$at/machine/loaded" "$at" > "$at/compiler" 2> "$at/log"
cmp "$at/compiler" "$at/got" || fail "without a compiler there are other numbers"
TUTTI_PLUGIN=$build/pjrt_plugin_tutti_rt.so $build/tutti compile examples/lesson.mlir -o "$at/no.o" 2> "$at/log" && fail "an object without a compiler"
grep -q 'holds no compiler' "$at/log" || { cat "$at/log"; exit 1; }
echo '#include "mean.h"
int main(void) { float x[MEAN_ARG0] = { 0 }, y[MEAN_RESULT0];
return mean(0, &(mean_arguments){ x }, &(mean_results){ y }) != 0 || y[3] != 0; }' > "$at/mean.c"
ahead -o "$at/mean" "$at/mean.c" "$at/mean.o" $build/libtutti_rt.a
"$at/mean" || fail "the saved function in a program"

# A C compiler of several words.
CC="env ${CC:-cc} -O1" $build/tutti compile examples/lesson.mlir -o "$at/words.so" --name words
nm -D "$at/words.so" | grep -q ' words_program$' || fail "CC of several words"

# For other processors of this kind, and what there is not.
for cpu in x86-64-v2 x86-64-v3; do
    tests/ahead/play.sh --cpu $cpu examples/lesson.mlir tests/programs/psum_while_case_8.mlir tests/programs/dot_small.mlir \
        > "$at/log" 2>&1 || { cat "$at/log"; fail "--cpu $cpu"; }
done
# Several, of which the machine's best is chosen: as an archive, as one object, as a shared library.
for file in all.a all.o all.so; do
    $build/tutti compile examples/lesson.mlir -o "$at/$file" --name lesson --header "$at/lesson.h" --cpu x86-64-v2,x86-64-v4,x86-64-v3
    ahead -o "$at/lesson" examples/deploy/lesson.c "$at/$file" -L$build -ltutti_rt -Wl,-rpath,"$at:$(realpath $build)"
    "$at/lesson" > "$at/got"
    cmp "$at/expected" "$at/got" || fail "the lesson of $file prints other numbers"
    shown=$(nm -g --defined-only "$at/$file" | sed -n 's/.* //; /_program$/p' | sort | tr '\n' ' ')
    [ "${shown%tutti_program }" = "lesson_program lesson_v2_program lesson_v3_program " ] || fail "$file shows: $shown"
done

$build/tutti compile examples/lesson.mlir -o "$at/no.o" --cpu vax 2> "$at/log" && fail "there is a vax"
grep -q "no code is made for 'vax'; it is made for x86-64-v4, x86-64-v3, x86-64-v2, aarch64, and native" "$at/log" || { cat "$at/log"; exit 1; }
$build/tutti compile examples/lesson.mlir -o "$at/no.obj" 2> "$at/log" && fail "there is a no.obj"
grep -q 'no.obj cannot be written: its end says what it is to be: .o, .a or .so' "$at/log" || { cat "$at/log"; exit 1; }
$build/tutti compile examples/lesson.mlir -o "$at/no.o" --devices 3 2> "$at/log" && fail "three devices"
grep -q 'lesson.mlir is for 4 devices, not for 3' "$at/log" || { cat "$at/log"; exit 1; }
