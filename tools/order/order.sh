#!/bin/sh
# order.sh TRACED OUT PROGRAM...: writes to OUT the functions of the engine that the programs run,
# one name a line, those of the first program first.  TRACED is an engine with trace.c in it.
#
# The engine is right in any order, so where this cannot be had it is said, OUT is left empty, and
# the build goes on; tests/memory.sh then fails.
set -u
traced=$1 out=$2
shift 2
: >"$out.all"
for program; do
    TUTTI_TRACE=$out.all TUTTI_PLUGIN=$traced TUTTI_DEVICES=4 \
        timeout 60 "$program" >"$out.log" 2>&1 && continue
    echo "$program fails on the traced engine (exit status $?):" >&2
    tail -n 5 "$out.log" >&2
    echo "so LLVM's functions stay where they are, and small programs take 20 MB more" >&2
    : >"$out"
    exit 0
done
awk '!seen[$0]++' "$out.all" >"$out"
