#!/usr/bin/env bash
# Whole programs, the command line and the lessons, with the n-th request for memory refused that
# their own side of the seam makes: what they print is right as far as it goes, and they end well,
# or with status 1 and a message that says why.  For `make hostile`, whose build it runs.
#
#     programs.sh SAMPLES MOST MODE ...     SAMPLES of the first MOST, "": all; MODE: once, all
set -u
cd "$(dirname "$0")/../.."
samples=${1:-$2} most=$2
shift 2
export TUTTI_DEVICES=4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0 tried=0 refused=0

# More of the first requests than of the later ones: there everything is begun.
requests() { # ASKED: how many the command makes
    awk -v k="$samples" -v most="$most" -v asked="$1" 'BEGIN {
        if (most > asked) most = asked
        if (k > most) k = most
        for (i = 1; i <= k; i++) print k < most ? i + int((most - k) * (i / k) ^ 3) : i }'
}

# Is it well?  What a check says of a program that failed stands on standard output.
judge() { # STATUS: and $dir/out, $dir/err
    if [ "$1" = 0 ]; then
        cmp -s "$dir/right" "$dir/out"
        return
    fi
    refused=$((refused + 1))
    [ "$1" = 1 ] && grep -qE 'no memory|does not start' "$dir/out" "$dir/err" || return 1
    grep -q '^FAIL ' "$dir/out" || cmp -s -n "$(stat -c %s "$dir/out")" "$dir/right" "$dir/out"
}

try() { # SUFFIX COMMAND...: TUTTI_FAIL_front=nSUFFIX; a run finds no file that the one before wrote
    local suffix=$1 n status
    shift
    rm -f "$dir/state"*
    TUTTI_FAIL_front_ASKED=$dir/asked timeout 60 "$@" >"$dir/right" 2>"$dir/err" || { echo "$*: fails"; cat "$dir/err"; bad=1; return; }
    for n in $(requests "$(cat "$dir/asked")"); do
        rm -f "$dir/state"*
        TUTTI_FAIL_front=$n$suffix timeout 60 "$@" >"$dir/out" 2>"$dir/err"
        status=$?
        tried=$((tried + 1))
        judge $status && continue
        echo "$*: request $n$suffix is refused, and it ends with status $status and says:"
        head -n 20 "$dir/out" "$dir/err"
        bad=1
    done
}

build=${BUILD:-build/hostile}
for mode; do
    suffix=
    [ "$mode" = all ] && suffix=+
    try "$suffix" "$build/tutti" run examples/lesson.mlir --input examples/lesson.npy
    try "$suffix" "$build/tutti" run examples/lesson.mlir --input random --out "$dir/results"
    try "$suffix" "$build/tutti" check tests/programs/all_gather_groups_4.mlir \
        tests/programs/send_recv_4.mlir
    try "$suffix" "$build/tutti" dump examples/lesson.mlir --after=fuse
    try "$suffix" "$build/tutti" devices
    for lesson in examples/*.c; do
        case $lesson in
        */exercise.c) ;; # a reader's to fill in
        */checkpoint.c) try "$suffix" "$build/examples/checkpoint" "$dir/state.safetensors" 3 ;;
        *) try "$suffix" "$build/examples/$(basename "$lesson" .c)" ;;
        esac
    done
done
echo "programs: $tried requests refused, $refused programs ended by it"
exit $bad
