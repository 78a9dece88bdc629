#!/usr/bin/env bash
# A small program takes little memory: the functions that the lessons run lie side by side in the
# engine, so most of LLVM is never mapped (docs/design/2026-11-15-memory.md).  19 MiB are usual for
# the lesson, 37 and more without the order.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
limit=28 # MiB

# How many of the names this LLVM has, what these functions take, and how far they lie apart.
nm -S -t d --defined-only "$build/pjrt_plugin_tutti.so" | awk '
    NR == FNR { wanted[$1]; n++; next }
    $3 ~ /[tTwW]/ && $4 in wanted && !($4 in known) {
        known[$4]; found++
        if ($1 in seen) next
        seen[$1]; bytes += $2
        if (!low || $1 + 0 < low) low = $1 + 0
        if ($1 + $2 > high) high = $1 + $2
    }
    END {
        printf "%d functions, %d of them in this LLVM, %.1f MB, lie within %.1f MB\n",
            n, found, bytes / 1e6, (high - low) / 1e6
        exit !(found > 0.9 * n && high - low < 1.5 * bytes)
    }' tools/order/functions.txt - || {
    echo "nearly all must be there, side by side; for another LLVM: make order"; exit 1; }

TUTTI_DEVICES=4 TUTTI_WORKERS=2 python3 - "$build/examples/02_pmap" "$limit" <<'END'
import os, subprocess, sys
program, limit = sys.argv[1], int(sys.argv[2])
process = subprocess.Popen([program], stdout=subprocess.DEVNULL)
_, status, use = os.wait4(process.pid, 0)
peak = use.ru_maxrss / 1024
print(f"{program}: exit status {status}, {peak:.1f} MiB at its peak, {limit} allowed")
sys.exit(status != 0 or peak > limit)
END
