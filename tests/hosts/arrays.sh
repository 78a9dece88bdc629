#!/bin/bash
# arrays.sh - arrays of several processes print, save and restore as those of one: files of 1, 2 and 4
# processes are equal byte for byte, and each is read by another number of processes.
#
#     tests/hosts/arrays.sh MPI
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build} program=$build/tests/hosts/arrays
. tests/hosts/mpi.sh
mpi=$1 failures=0
mpi_is_there "$mpi" || { echo "arrays.sh: $mpi is not installed: not tried" >&2; exit 0; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT

# play PROCESSES WHAT FOLDER
play()
{
    if [ "$1" = 1 ]; then
        TUTTI_DEVICES=8 "$program" "$2" "$3"
    else
        TUTTI_DEVICES=$((8 / $1)) mpi_run "$mpi" "$1" "$program" "$2" "$3"
    fi
}

# same FILE FILE
same()
{
    cmp "$1" "$2" >&2 || { diff "$1" "$2" | head -20 >&2; failures=$((failures + 1)); }
}

for n in 1 2 4; do
    mkdir "$folder/$n"
    play $n save "$folder/$n" > "$folder/$n.saved" || failures=$((failures + 1))
    for file in 1.saved 1/state.safetensors 1/state.npz 1/rows.npy; do
        same "$folder/$file" "$folder/$n${file#1}"
    done
done
sed -n '/^saved:/,$p' "$folder/1.saved" > "$folder/wanted"
for pair in "4 1" "1 2" "2 4"; do
    set -- $pair # written by as many, read by as many
    play "$2" restore "$folder/$1" > "$folder/restored" || failures=$((failures + 1))
    sed '/^step 3$/d' "$folder/restored" | same "$folder/wanted" -
done

# Who has which devices.
TUTTI_DEVICES=4 mpi_run "$mpi" 2 "$build/tutti" devices | sed 's/^\(process [01]\) .*, pid [0-9]*/\1/' > "$folder/devices"
grep -qx 'process 1 | 4 | 5 | 6 | 7 |' "$folder/devices" && [ "$(wc -l < "$folder/devices")" = 4 ] ||
    { cat "$folder/devices" >&2; failures=$((failures + 1)); }
TUTTI_PRINT=all play 2 save "$folder/2" | grep -cx 'process [01]: devices [04] to [37] (here)' | grep -qx 2 ||
    failures=$((failures + 1))

# A file that is damaged is refused by all, of which each has looked at a part.
mkdir "$folder/bad" && cp "$folder/1/state.safetensors" "$folder/bad"
printf x | dd of="$folder/bad/state.safetensors" bs=1 seek=700 conv=notrunc 2> /dev/null
play 2 restore "$folder/bad" > /dev/null 2> "$folder/said" && failures=$((failures + 1))
[ "$(grep -c 'tt_restore: .*is damaged: its checksum is' "$folder/said")" = 2 ] ||
    { cat "$folder/said" >&2; failures=$((failures + 1)); }

# Each process in a folder of its own, as on hosts that share no file system: both say so.
apart='cd "$0/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"'
mkdir "$folder/0" && mv "$folder/1" "$folder/one" && mkdir "$folder/1"
cp "$folder/one/state.safetensors" "$folder/0"
for what in restore save; do
    TUTTI_DEVICES=4 mpi_run "$mpi" 2 bash -c "$apart" "$folder" "$(realpath "$program")" $what . > /dev/null 2> "$folder/said" &&
        failures=$((failures + 1))
    grep -q "process 1 does not\( see\|: it must\)" "$folder/said" ||
        { cat "$folder/said" >&2; failures=$((failures + 1)); }
done
echo "$mpi: arrays of 1, 2 and 4 processes, $failures failed"
[ $failures -eq 0 ]
