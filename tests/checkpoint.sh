#!/usr/bin/env bash
# A training that is killed at random moments goes on from the last checkpoint that it said it had
# saved, or the one after it, and ends with the numbers of one that was left alone, to the last bit.
#
# Every second kill comes at any moment from the start on, the others at any from the run's first save on: a busy
# machine may take longer to start than the former wait.
#
#     KILLS=200 tests/checkpoint.sh
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build} # of the library; the engine is always build/'s
[ "$build" = build ] || export TUTTI_PLUGIN=${TUTTI_PLUGIN:-build/pjrt_plugin_tutti.so}
kills=${KILLS:-15} steps=100000 program=$build/examples/checkpoint
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
RANDOM=${SEED:-7}
last=-1 # the last step that was said to be saved

look() { # at what one run said
    local from now
    from=$(sed -n 's/^from step //p' "$at/said")
    [ -n "$from" ] || return 0 # killed before it began
    if [ "$from" -lt $((last + 1)) ] || [ "$from" -gt $((last + 2)) ]; then
        echo "the last step saved was $last, and it went on from $from"
        exit 1
    fi
    last=$((from - 1))
    now=$(sed -n 's/^saved step \([0-9]*\), .*$/\1/p' "$at/said" | tail -1)
    [ -z "$now" ] || last=$now
}

for ((i = 0; i < kills; i++)); do
    "$program" "$at/run.safetensors" $steps > "$at/said" 2>&1 &
    pid=$!
    for ((wait = 0; i % 2 == 0 && wait < 6000; wait++)); do
        grep -q '^saved step' "$at/said" && break
        sleep 0.01
    done
    sleep "0.$(printf '%03d' $((100 + RANDOM % 500)))"
    kill -9 $pid
    wait $pid 2> /dev/null
    look
done
[ "$last" -ge 0 ] || { echo "it was killed $kills times, and saved nothing"; cat "$at/said"; exit 1; }
"$program" "$at/run.safetensors" $((last + 5)) > "$at/said" 2>&1 || { cat "$at/said"; exit 1; }
look
"$program" "$at/alone.safetensors" $((last + 1)) > "$at/said" 2>&1 || { cat "$at/said"; exit 1; }
cmp "$at/run.safetensors" "$at/alone.safetensors" || { echo "other numbers than a run left alone"; exit 1; }
[ ! -e "$at/run.safetensors.part" ] || { echo "something is left aside"; exit 1; }
echo "killed $kills times, $last steps"
