#!/bin/sh
# Sums and extremes, transposes, matrix products, triangular systems and convolutions by the instructions of older machines.
set -eu
cd "$(dirname "$0")/.."
levels="sse"
grep -qw avx2 /proc/cpuinfo && levels="$levels avx2"
grep -qw avx512bw /proc/cpuinfo && levels="$levels avx512"
grep -qw amx_tile /proc/cpuinfo && levels="$levels dots" # else they are what the machine has
for level in $levels; do
    export TUTTI_CPU_LEVEL="$level"
    ${BUILD:-build}/tests/unit/gemm_test
    ${BUILD:-build}/tests/unit/plain_reduce_test
    ${BUILD:-build}/tests/unit/kernel_test plain_transpose
    ${BUILD:-build}/tests/unit/factors_test
    ${BUILD:-build}/tests/unit/ops_test -k DOT
    ${BUILD:-build}/tests/unit/ops_test -k CONVOLUTION
done
