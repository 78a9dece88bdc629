#!/bin/sh
# Programs that check themselves, on 1, 2 and 4 workers, with and without random yields; and by the
# evaluator.
set -eu
cd "$(dirname "$0")/.."
for workers in 1 2 4; do
    TUTTI_WORKERS=$workers ${BUILD:-build}/tutti check tests/programs/*.mlir
    TUTTI_WORKERS=$workers TUTTI_YIELD=1 ${BUILD:-build}/tutti check tests/programs/*.mlir
done
${BUILD:-build}/tutti check --eval tests/programs/*.mlir
