#!/bin/sh
# TUTTI_CHECK=nans: the run ends with the operation that made the first NaN, its line, the array and
# the place in it; without a NaN everything is as it was.
set -u
cd "$(dirname "$0")/.."
tutti=${BUILD:-build}/tutti
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# said PROGRAM TEXT INPUT...: the run fails and says so.
said() {
    program=$1 text=$2
    shift 2
    if TUTTI_CHECK=nans $tutti run tests/nans/$program.mlir "$@" >"$dir/out" 2>&1; then
        echo "$program: there was no error"
        bad=1
    elif ! grep -qF "$text" "$dir/out"; then
        echo "$program: expected: $text"
        cat "$dir/out"
        bad=1
    fi
    # Without the check it runs to its end.
    $tutti run tests/nans/$program.mlir "$@" >"$dir/out" 2>&1 || { echo "$program fails by itself"; bad=1; }
}

said log 'log (tests/nans/log.mlir:6:10) made the first NaN: its result, f32[4], has one at [1]' --input zeros
said loop_2 'device 1: sqrt (tests/nans/loop_2.mlir:18:17) made the first NaN: its result, f32[1], has one at [0]' --input zeros
said sum_2 'all_reduce (tests/nans/sum_2.mlir:13:14) made the first NaN: its result, f32[1], has one at [0]' --input zeros

printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }" >"$dir/nan.npy"
printf '\000\000\000\000\000\000\000\000\000\000\300\177\000\000\000\000' >>"$dir/nan.npy"
said log 'argument 0, f32[4], has a NaN at [2]' --input "$dir/nan.npy"

# Nothing is found where nothing is wrong, and the results are the same.
TUTTI_CHECK=nans $tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4 >"$dir/checked" 2>&1
$tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4 >"$dir/plain" 2>&1
diff "$dir/checked" "$dir/plain" || bad=1
for program in psum_while_case_8 hoist_4 scan several_operands_4 linear; do
    TUTTI_CHECK=nans $tutti check tests/programs/$program.mlir >"$dir/out" 2>&1 || { cat "$dir/out"; bad=1; }
done
exit $bad
