#!/bin/bash
# kills.sh - a training with checkpoints loses a process at random moments, in random ways.  Every other
# process says within 5 seconds who it was; nothing hangs, nobody is left; the next run, of another
# number of processes, goes on from the last checkpoint; and what it ends with is to the last bit what
# one process that was left alone ends with.
#
# Whoever is killed under MPICH's launcher may take the others with it: when it sees the dead process's
# connection close before it has its status, it kills them all at once, whatever it is told.
#
#     KILLS=100 SEED=1 tests/hosts/kills.sh [MPI ...]
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}")
. tests/hosts/mpi.sh
limit=${LIMIT_MS:-8000} # a busy machine is given time; LIMIT_MS=5500 on one of one's own
kills=${KILLS:-4} program=$build/tests/hosts/train
mpis=()
for mpi in ${*:-openmpi mpich}; do
    mpi_is_there "$mpi" && mpis+=("$mpi") || echo "kills.sh: $mpi is not installed: not tried" >&2
done
[ ${#mpis[@]} -gt 0 ] || exit 0
at=$(mktemp -d) && trap 'rm -rf "$at"' EXIT
file=$at/run.safetensors
RANDOM=${SEED:-1}
ways=(kill stop exit0 exit3 error)
failures=0 last=-1 slowest=0 ended=0

bad()
{
    echo "round $round, $mpi, $n processes, process $victim, $way after $ms ms: $*" >&2
    tail -12 "$at/said" >&2
    failures=$((failures + 1))
}

# How many of the others have named the lost process.
named()
{
    grep -cE "process $victim \(host [^,]*, pid [0-9]+\) (is gone|does not answer|has ended)|process $victim has left|process $victim could not do" "$at/said"
}

# What the run went on from, and came to.
look()
{
    local from now
    from=$(sed -n 's/^from step //p' "$at/said")
    [ -n "$from" ] || return 0 # lost before it began
    [ "$from" -ge $((last + 1)) ] && [ "$from" -le $((last + 6)) ] ||
        bad "the last step saved was $last, and it went on from $from"
    last=$((from - 1))
    now=$(sed -n 's/^saved step \([0-9]*\), .*$/\1/p' "$at/said" | tail -1)
    [ -z "$now" ] || last=$now
}

for ((round = 0; round < kills; round++)); do
    mpi=${mpis[$((round % ${#mpis[@]}))]} n=$((2 + RANDOM % 3)) way=${ways[$((RANDOM % 5))]}
    [ "$kills" -ge 5 ] || way=${ways[$round]}
    victim=$((RANDOM % n)) ms=$((RANDOM % 1000))
    rm -f "$file.now"
    TUTTI_DEVICES=$((12 / n)) mpi_run_on "$mpi" $n "$program" "$file" 1000000 $way $victim $ms \
        > "$at/said" 2>&1 &
    launcher=$!
    while [ ! -e "$file.now" ] && kill -0 $launcher 2> /dev/null; do sleep 0.02; done
    [ -e "$file.now" ] || bad "it ended before"
    begin=$(stat -c %.Y "$file.now" 2> /dev/null || date +%s.%N)
    # The others: all but the lost one.
    for ((i = 0; i < 600; i++)); do
        count=$(named)
        { [ "$count" -ge $((n - 1)) ] || ! kill -0 $launcher 2> /dev/null; } && break
        sleep 0.02
    done
    count=$(named)
    took=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%d", (b - a) * 1000 }')
    if [ "$count" -lt $((n - 1)) ] && [ "$mpi $way" = "mpich kill" ] && [ "$took" -le 1000 ]; then
        ended=$((ended + 1))
    elif [ "$count" -lt $((n - 1)) ]; then
        bad "$count of $((n - 1)) others have named it after $took ms"
    fi
    [ "$took" -le $limit ] || bad "it was named after $took ms"
    [ "$took" -le $slowest ] || slowest=$took
    [ $way != stop ] || { sleep 0.3; kill -KILL $(pgrep -f "^$program $file .* $victim $ms") 2> /dev/null; }
    for ((i = 0; i < 100; i++)); do kill -0 $launcher 2> /dev/null && sleep 0.1 || break; done
    ! kill -0 $launcher 2> /dev/null || bad "it has not ended 10 s later"
    kill -KILL $launcher 2> /dev/null
    wait $launcher 2> /dev/null
    if pids=$(pgrep -f "^$program $file"); then
        bad "processes are left: $pids"
        kill -KILL $pids
    fi
    look
done
way=none mpi=${mpis[0]} n=3
TUTTI_DEVICES=4 mpi_run "$mpi" $n "$program" "$file" $((last + 7)) > "$at/said" 2>&1 || bad "the last run failed"
look
TUTTI_DEVICES=12 "$program" "$at/alone.safetensors" $((last + 1)) > "$at/said" 2>&1 || bad "alone it fails"
cmp "$file" "$at/alone.safetensors" || bad "other numbers than of one process left alone"
[ ! -e "$file.part" ] || bad "something is left aside"
echo "$kills processes lost in $last steps, named after at most $slowest ms, $ended times ended by the launcher, $failures failures"
[ $failures -eq 0 ]
