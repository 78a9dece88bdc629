#!/bin/bash
# lessons.sh - every lesson, and a program of all collectives, with its eight devices in several processes prints, once, the bytes that one
# process prints.  For each MPI that is installed: OpenMPI and MPICH, 2 x 4 and 4 x 2 and 8 x 1.
#
#     tests/hosts/lessons.sh [mpi ...] [-- ranks ...]        e.g. openmpi mpich -- 2 4 8
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
. tests/hosts/mpi.sh
mpis=() ranks=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do mpis+=("$1"); shift; done
[ $# -gt 0 ] && shift
ranks=("$@")
[ ${#mpis[@]} -gt 0 ] || mpis=(openmpi mpich)
[ ${#ranks[@]} -gt 0 ] || ranks=(2 4)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
failures=0 played=0
for mpi in "${mpis[@]}"; do
    mpi_is_there "$mpi" || { echo "lessons.sh: $mpi is not installed: not tried" >&2; continue; }
    for program in "$build"/examples/[01]?_* "$build/tests/hosts/collectives"; do
        name=$(basename "$program")
        [ -x "$program" ] && { [ -f "examples/$name.c" ] || [ -f "tests/hosts/$name.c" ]; } || continue
        [ -f "$folder/$name" ] || TUTTI_DEVICES=8 "$program" > "$folder/$name" 2>&1
        for n in "${ranks[@]}"; do
            TUTTI_DEVICES=$((8 / n)) mpi_run "$mpi" "$n" "$program" > "$folder/got" 2> "$folder/err"
            code=$?
            played=$((played + 1))
            if [ $code -ne 0 ] || ! cmp -s "$folder/got" "$folder/$name"; then
                echo "$mpi, $n processes: $name returned $code, or printed something else:" >&2
                { diff "$folder/$name" "$folder/got"; cat "$folder/err"; } | head -20 >&2
                failures=$((failures + 1))
            fi
        done
    done
done
echo "$played runs of lessons in several processes, $failures failed"
[ $failures -eq 0 ]
