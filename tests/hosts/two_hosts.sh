#!/bin/bash
# two_hosts.sh - two hosts, as network namespaces with a link between them, over TCP.
#
#     lesson   the training lesson prints what one process prints
#     cut      the link goes down in the middle of a training: both name the other within 5 seconds
#     rate     at 1 Gbit/s a sum of 4 MB for each of 2 x 4 devices, beside what the wire needs
#
#     tests/hosts/two_hosts.sh [lesson] [cut] [rate] [-- MPI ...]
#
# As root, where the kernel allows it; else it says so, and nothing is tried.
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}")
. tests/hosts/mpi.sh
what=() mpis=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do what+=("$1"); shift; done
[ $# -gt 0 ] && shift
mpis=("$@")
[ ${#what[@]} -gt 0 ] || what=(lesson cut)
[ ${#mpis[@]} -gt 0 ] || mpis=(openmpi mpich)
space=tt$$- link=tv$$- at=$(mktemp -d) failures=0

clean()
{
    for i in 0 1; do ip netns del $space$i 2> /dev/null; done
    rm -rf "$at"
}
trap clean EXIT

for i in 0 1; do
    ip netns add $space$i 2> /dev/null || { echo "two_hosts.sh: no network namespaces here: not tried" >&2; exit 0; }
done
ip link add ${link}0 type veth peer name ${link}1 || exit 0
for i in 0 1; do
    ip link set $link$i netns $space$i
    ip -n $space$i addr add 10.99.0.$((i + 1))/24 dev $link$i
    ip -n $space$i link set $link$i up
    ip -n $space$i link set lo up
done

# What ssh would do: [options] ADDRESS COMMAND...
cat > "$at/remote" << REMOTE
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
i=\$((\${1##*.} - 1))
shift
exec ip netns exec $space\$i unshare -u bash -c "hostname h\$i; \$*"
REMOTE
chmod +x "$at/remote"

# play MPI COMMAND...: a process on each host; the launcher lets the others live.
play()
{
    local mpi=$1
    shift
    case $mpi in
        openmpi) ip netns exec ${space}0 unshare -u bash -c 'hostname h0; exec "$@"' play timeout -s KILL 60 \
            mpirun.openmpi --enable-recovery --mca plm_rsh_agent "$at/remote" --mca pml ob1 --mca btl tcp,self \
            --mca oob_tcp_if_include ${link}0,${link}1 --mca btl_tcp_if_include 10.99.0.0/24 \
            -x TUTTI_DEVICES --host 10.99.0.1,10.99.0.2 -n 2 "$@" ;;
        mpich) UCX_TLS=tcp,self UCX_NET_DEVICES=all ip netns exec ${space}0 timeout -s KILL 60 mpiexec.hydra \
            -disable-auto-cleanup -launcher rsh -launcher-exec "$at/remote" -hosts 10.99.0.1,10.99.0.2 \
            -iface ${link}0 -ppn 1 -n 2 "$@" ;;
    esac
}

bad()
{
    echo "$mpi: $*" >&2
    tail -15 "$at/said" >&2
    failures=$((failures + 1))
}

try_lesson()
{
    TUTTI_DEVICES=8 "$build/examples/11_hosts" > "$at/wanted"
    TUTTI_DEVICES=4 play "$mpi" "$build/examples/11_hosts" > "$at/got" 2> "$at/said" || bad "the lesson failed"
    cmp "$at/got" "$at/wanted" || bad "the lesson printed something else"
    echo "$mpi: the lesson, on two hosts"
}

try_cut()
{
    local begin now named
    rm -f "$at/run"*
    TUTTI_DEVICES=4 play "$mpi" "$build/tests/hosts/train" "$at/run.safetensors" 1000000 > "$at/said" 2>&1 &
    for ((i = 0; i < 500; i++)); do grep -q "^saved step 20," "$at/said" && break; sleep 0.05; done
    begin=$(date +%s%N)
    ip -n ${space}1 link set ${link}1 down
    # What the second host says cannot come over the link: its process must end too.
    for ((i = 0; i < 600; i++)); do
        named=$(grep -cE 'process 1 \(host h1, pid [0-9]+\) (does not answer|is gone)' "$at/said")
        [ "$named" -ge 1 ] && [ "$(pgrep -fc "^$build/tests/hosts/train $at/run")" = 0 ] && break
        sleep 0.02
    done
    now=$((($(date +%s%N) - begin) / 1000000))
    [ "$named" -ge 1 ] && [ $now -le ${LIMIT_MS:-8000} ] || bad "the link was cut, and after $now ms the others do not say so"
    ip -n ${space}1 link set ${link}1 up
    kill -KILL $(pgrep -f "$at/run") 2> /dev/null
    wait 2> /dev/null
    echo "$mpi: the link cut, both have ended after $now ms"
}

try_rate()
{
    for i in 0 1; do
        ip netns exec $space$i tc qdisc replace dev $link$i root tbf rate 1gbit burst 256kb latency 50ms || return
    done
    TUTTI_DEVICES=4 play "$mpi" "$build/bench/hosts" 4194304 20 67108864 3 > "$at/got" 2> "$at/said" || bad "the sums failed"
    for i in 0 1; do ip netns exec $space$i tc qdisc del dev $link$i root; done
    # Both directions are used at once; what goes up comes down, so each way has the bytes of one device.
    python3 - "$mpi" "$at/got" << 'PYTHON'
import json, statistics, sys
for line in open(sys.argv[2]):
    row = json.loads(line)
    ms, wire = statistics.median(row["ns"]) / 1e6, row["bytes"] * 8 / 1e6
    print(f"{sys.argv[1]}: sum of {row['bytes']} bytes: {ms:.1f} ms (best {min(row['ns']) / 1e6:.1f}), the wire alone "
          f"{wire:.1f} ms: {ms / wire:.2f}")
PYTHON
}

for mpi in "${mpis[@]}"; do
    mpi_is_there "$mpi" || { echo "two_hosts.sh: $mpi is not installed: not tried" >&2; continue; }
    for try in "${what[@]}"; do try_$try; done
done
[ $failures -eq 0 ]
