#!/bin/sh
# order.sh TRACED LIBENGINE OUT PROGRAM...: writes to OUT the functions of LLVM that the programs
# run, in the order of their first calls, one name a line.  TRACED is an engine with trace.c in it.
#
# Functions of LIBENGINE, our own, are left out: the linker keeps them together as it is, and the
# list then changes with LLVM only.  Code for AVX2 takes other ways through LLVM than code for
# AVX-512, so the programs run once as the machine is and once at that level.
set -eu
traced=$1 ours=$2 out=$3
shift 3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for level in "" avx2; do
    for program; do
        TUTTI_CALLED=$work/called TUTTI_CPU_LEVEL=$level TUTTI_PLUGIN=$traced TUTTI_DEVICES=4 \
            timeout 60 "$program" >"$work/log" 2>&1 && continue
        echo "$program fails on the traced engine (exit status $?):" >&2
        tail -n 5 "$work/log" >&2
        exit 1
    done
done
nm --defined-only "$ours" 2>"$work/log" | awk 'NF == 3 { print $3 }' >"$work/ours"
awk 'NR == FNR { ours[$0]; next } !($0 in ours) && !seen[$0]++' "$work/ours" "$work/called" >"$out"
echo "$out: $(wc -l <"$out") functions"
