#!/bin/bash
# faults.sh - a process dies, is stopped, ends too early, comes late or runs another program: every other
# one says who, and ends.
#
#     tests/hosts/faults.sh MPI [fault ...]
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}") # the whole path: it tells our processes from others
. tests/hosts/mpi.sh
mpi=$1
shift
mpi_is_there "$mpi" || { echo "faults.sh: $mpi is not installed: not tried" >&2; exit 0; }
[ $# -gt 0 ] || set -- none kill stop exit0 exit3 skip late other swap branch circle large
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
failures=0
for fault in "$@"; do
    case $fault in
        kill) says='process 2 (host .*, pid [0-9]*) is gone; devices 4 to 5 were its' ;;
        stop) says='process 2 (host .*, pid [0-9]*) does not answer' ;;
        exit*|skip) says='process 2 (host .*, pid [0-9]*) has ended; devices 4 to 5 were its' ;;
        late) says='process 0: .* waits for process 2 (host .*, pid [0-9]*), which has not begun this run' ;;
        other) says='process \(2 (host .*, pid [0-9]*) waits for process [01]\|[01] (host .*, pid [0-9]*) waits for process 2\) in .*they wait for each other' ;;
        swap) says='process [0-2] (host .*, pid [0-9]*) waits for process [0-2] in .*they wait for each other; all must run the same programs' ;;
        circle) says='process [0-2] (host .*, pid [0-9]*) waits for process [0-2] in .*, process [0-2] (host .*, pid [0-9]*) waits for process [0-2] in .*they wait for each other; all must come to the same collectives' ;;
        branch) says='process [0-2] (host .*, pid [0-9]*) waits for process [0-2] in .*they wait for each other; all must come to the same collectives' ;;
        large) says='process 2 (host .*, pid [0-9]*) has ended; devices 4 to 5 were its' ;;
        none|flight) says='process 0 has summed' ;;
    esac
    begin=$SECONDS
    TUTTI_DEVICES=2 mpi_run_on "$mpi" 3 "$build/tests/hosts/fault" "$fault" > "$folder/out" 2>&1 &
    # a launcher waits for a process that is stopped, so nobody waits for the launcher then
    while kill -0 $! 2> /dev/null && { [ "$fault" != stop ] || ! grep -q "$says" "$folder/out"; }; do
        sleep 0.1
    done
    [ "$fault" = stop ] && sleep 1 && kill -KILL $(pgrep -f "$build/tests/hosts/fault $fault")
    wait $! 2> /dev/null
    took=$((SECONDS - begin))
    if ! grep -q "$says" "$folder/out" || [ $took -gt 20 ]; then
        echo "$mpi, $fault: after $took s nobody says '$says':" >&2
        head -20 "$folder/out" >&2
        failures=$((failures + 1))
    fi
    if pids=$(pgrep -f "$build/tests/hosts/fault $fault"); then
        echo "$mpi, $fault: processes are left: $pids" >&2
        failures=$((failures + 1))
        kill -KILL $pids
    fi
done
echo "$mpi: $# faults, $failures not named"
[ $failures -eq 0 ]
