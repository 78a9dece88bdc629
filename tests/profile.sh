#!/bin/sh
# What is slow is told: a device with more to do than the others, a kernel, a collective at which
# devices wait, each from the first five lines of the table and from the timeline; by the command line,
# and by the environment for any program.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

fail() {
    echo "$*"
    bad=1
}

# told WHERE PATTERN: one of the first five lines says it.
told() {
    head -5 "$1" | grep -qE "$2" || fail "$1: no line is like '$2':
$(head -5 "$1")"
}

for workers in 1 3; do
    TUTTI_WORKERS=$workers $build/tutti run tests/profile/slow_device_4.mlir --out "$dir" \
        --trace "$dir/device.json" --profile >"$dir/out" 2>"$dir/device" || fail "slow_device: $(cat "$dir/device")"
    told "$dir/device" '^device +device 2 is busiest'
    told "$dir/device" '^kernel +while \(.*slow_device_4.mlir:'
    told "$dir/device" '^collective +all_reduce \(.*slow_device_4.mlir:30:.* device 2 had most to do before 1 of them, the slowest [34]\.'
    python3 tests/profile/check.py "$dir/device.json" 4 2 2 || fail "device.json, $workers workers"
done

$build/tutti run tests/profile/slow_kernel_4.mlir --input random --input random --out "$dir" \
    --trace "$dir/kernel.json" --profile >"$dir/out" 2>"$dir/kernel" || fail "slow_kernel: $(cat "$dir/kernel")"
told "$dir/kernel" '^kernel +dot_general \(.*slow_kernel_4.mlir:[67]:'
python3 tests/profile/check.py "$dir/kernel.json" 4 1 --kernel dot_general || fail kernel.json

$build/tutti run tests/profile/imbalanced_4.mlir --out "$dir" --trace "$dir/waits.json" --profile >"$dir/out" 2>"$dir/waits" ||
    fail "imbalanced: $(cat "$dir/waits")"
told "$dir/waits" '^collective +all_reduce \(.*imbalanced_4.mlir:25:.* device 1 had most to do before 1 of them, the slowest [34]\.'
python3 tests/profile/check.py "$dir/waits.json" 4 2 --waits 25=1 43=3 || fail waits.json

# What a device did, waited, was ready and idle adds up to what was recorded, to 1 %.
for table in device kernel waits; do
    awk -v table=$table '/^device +busy/ { on = 1; next } on && $1 !~ /^[0-9]+$/ { exit }
        on { sum = $4 + $7 + $10 + $13; n++; if (sum < 99 || sum > 101) { print table ": device " $1 ": " sum " %"; bad = 1 } }
        END { exit bad || n != 4 }' "$dir/$table" || fail "the devices of $table do not add up"
done

$build/tutti run tests/profile/slow_kernel_4.mlir --input random --input random --out "$dir" \
    --trace "$dir/kernel.pftrace" >"$dir/out" 2>&1 || fail "kernel.pftrace: $(cat "$dir/out")"
python3 tests/profile/pftrace.py "$dir/kernel.pftrace" "$dir/kernel.json" || fail kernel.pftrace

TUTTI_DEVICES=4 TUTTI_TRACE=$dir/train.json TUTTI_PROFILE=1 $build/examples/04_train >"$dir/out" 2>"$dir/train" ||
    fail "04_train: $(cat "$dir/train")"
told "$dir/train" '^collective +all_reduce \(examples/04_train.c:45\).* in 61 meetings'
told "$dir/train" '^time .* runs on 4 devices'
python3 tests/profile/check.py "$dir/train.json" || fail train.json

# A name that says nothing is told at once, not after the run.
TUTTI_TRACE=$dir/trace.what $build/tutti run examples/lesson.mlir --input zeros 2>"$dir/wrong" >/dev/null && fail "trace.what was taken"
grep -q "TUTTI_TRACE: a trace goes to a file whose name ends in one of .json" "$dir/wrong" || fail "$(cat "$dir/wrong")"
$build/tutti run examples/lesson.mlir --input zeros --trace "$dir/no/such.json" 2>"$dir/wrong" >/dev/null && fail "no/such.json was written"
grep -q "such.json cannot be written: No such file" "$dir/wrong" || fail "$(cat "$dir/wrong")"
exit $bad
