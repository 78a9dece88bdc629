#!/bin/sh
# The engine's table of contents is true: the rows of src/engine/compile.c that change the module are
# the passes that `tutti dump` knows and its help names, in that order, and each of them is seen to
# change a program that has something for it.
set -u
cd "$(dirname "$0")/.."
tutti=${BUILD:-build}/tutti
program=tests/dump/every_pass_2.mlir
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

fail() {
    echo "$*"
    bad=1
}

# same WHAT A B: two lists of names.
same() {
    [ "$2" = "$3" ] || fail "$1: '$3', expected '$2'"
}

rows=$(sed -n '/^#define MODULE_PASSES/,/^#define TABLE_PASSES/s/^ *ROW(\([a-z_]*\),.*/\1/p' \
    src/engine/compile.c | tr '\n' ' ')
known=$($tutti dump $program --after=? 2>&1 | sed 's/.*the passes are: //; s/, /\n/g' | tr '\n' ' ')
same 'the passes that dump knows' "$rows" "$known"
help=$($tutti dump --help | sed -n '/--after=PASS/,/in this order/p' | tr -c 'a-z_\n' '\n' |
    grep -xF "$(printf '%s\n' $rows)" | tr '\n' ' ')
same "the passes that dump's help names" "$rows" "$help"

# seen PASS WORDS BEFORE AFTER: how often the words are there before the pass, and after it.
seen() {
    was=$(grep -cF -- "$2" "$dir/$before") now=$(grep -cF -- "$2" "$dir/$1")
    [ "$was $now" = "$3 $4" ] ||
        fail "$1: '$2' stands $was times before it and $now times after, expected $3 and $4"
}

before=read
$tutti dump $program >"$dir/read" || fail 'the program cannot be read'
for pass in $rows; do
    $tutti dump $program --after="$pass" >"$dir/$pass" || fail "$pass: dump failed"
    case $pass in
    refine) seen $pass 'call @double' 1 0 ;;
    sink_captures) seen $pass 'stablehlo.multiply' 2 3 ;;
    simplify) seen $pass 'stablehlo.multiply' 3 1 ;;
    place) seen $pass 'sdy.manual_computation' 1 0 ;;
    polish) seen $pass 'stablehlo.dot_general' 1 0 ;;
    drop_barriers) seen $pass 'stablehlo.optimization_barrier' 1 0 ;;
    hoist_replicated) seen $pass 'tutti.global' 0 1 ;;
    drop_invariant_carries) seen $pass ':2 = stablehlo.while' 2 3 ;;
    hoist_invariants) seen $pass '    %13 = stablehlo.reduce(' 0 1 ;;
    overwrite_rows) seen $pass 'dense<7.000000e+00> : tensor<4x4xf32>' 1 0 ;;
    unroll_rotations) seen $pass 'stablehlo.sine' 1 3 ;;
    split_columns) seen $pass 'stablehlo.concatenate' 1 0 ;;
    fuse) seen $pass 'tutti.fusion' 0 21 ;;
    join_collectives) seen $pass 'stablehlo.all_reduce' 2 1 ;;
    *) fail "$pass: $program has nothing for it to do, or this test does not say what" ;;
    esac
    before=$pass
done
exit $bad
