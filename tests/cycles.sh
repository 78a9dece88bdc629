#!/bin/sh
# Compile, run, free, again and again in one process: memory does not grow, whether programs are few
# or all different (random ones).  CYCLES=10000 for the long version.
set -eu
cd "$(dirname "$0")/.."
tutti=${BUILD:-build}/tutti
programs="tests/programs/dot_small.mlir tests/programs/captured.mlir tests/programs/linear.mlir
    tests/programs/psum_while_case_8.mlir tests/programs/all_gather_groups_4.mlir"
cycles=${CYCLES:-300}
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# peak N: the most memory, in KiB, that a process needs that runs N programs one after the other.
peak() {
    list= n=0
    while [ "$n" -lt "$1" ]; do
        for p in $programs; do
            list="$list $p" n=$((n + 1))
        done
    done
    # shellcheck disable=SC2086
    if ! $tutti check --stats $list >"$said" 2>&1; then
        cat "$said" >&2
        return 1
    fi
    sed -n 's/^peak_kib //p' "$said"
}

few=$(peak 50)
many=$(peak "$cycles")
[ -n "$few" ] && [ -n "$many" ] || { echo "the engine does not say its peak_kib"; exit 1; }
echo "peak memory: $few KiB for 50 programs, $many KiB for $cycles"
[ "$((many - few))" -lt 4096 ]
"${BUILD:-build}/tests/random/random_test" --again 1 "$cycles"
