#!/bin/sh
# make exercise: a right answer is found right on every number of devices; an empty one and one in which
# each device works for itself are told what is wrong.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build}
[ "$build" = build ] || exit 0 # once is enough: it is about words
out=$(mktemp)
trap 'rm -f "$out"' EXIT
bad=0
fail() {
    echo "$*"
    cat "$out"
    bad=1
}
tools/exercise.sh tests/exercise/solution.c $build >"$out" 2>&1 || fail "the solution is not taken"
grep -q "All is right, on 1, 2, 4 and 8 devices" "$out" || fail "the solution is not praised"
[ "$(grep -c ': right$' "$out")" = 12 ] || fail "not all was judged"
tools/exercise.sh examples/exercise.c $build >"$out" 2>&1 && fail "the empty exercise is taken"
[ "$(grep -c 'is right\.$' "$out")" -ge 8 ] || fail "the empty exercise is not told"
tools/exercise.sh tests/exercise/alone.c $build >"$out" 2>&1 && fail "each for itself is taken"
grep -q "the devices go different ways: average their gradients" "$out" || fail "it is not told that gradients differ"
grep -q "tt_pmean(..., \"i\") takes it over all devices" "$out" || fail "it is not told which mean"
exit $bad
