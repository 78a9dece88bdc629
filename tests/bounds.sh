#!/bin/sh
# Code that checks its bounds: programs that check themselves, and random ones, as for this machine
# and for older ones.
set -eu
cd "$(dirname "$0")/.."
export TUTTI_CHECK=bounds
levels="sse"
grep -qw avx2 /proc/cpuinfo && levels="$levels avx2"
for level in '' $levels; do
    TUTTI_CPU_LEVEL=$level ${BUILD:-build}/tutti check tests/programs/*.mlir
    TUTTI_CPU_LEVEL=$level ${BUILD:-build}/tests/random/random_test 1 500
done
