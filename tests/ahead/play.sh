#!/bin/sh
# Programs compiled ahead, linked into one executable by the C compiler alone, and played: what they
# give is compared, bit for bit, with what `tutti run` gives.
#     tests/ahead/play.sh [--link FLAGS] [--cpu CPU] PROGRAM ...
# For another machine: CC its compiler, PLAY the folder of its libraries, RUN what plays its executables,
# COMPILER an engine that makes its code.
# A program that is refused is named, with the reason, and counts as failed unless tests/ahead/refused
# has a line for it.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags= cpu=native RUN=${RUN:-}
while :; do
    case "$1" in
    --link) flags=$2; shift 2 ;;
    --cpu) cpu=$2; shift 2 ;;
    *) break ;;
    esac
done
export TUTTI_LAPACK=own # as libtutti_rt has it
{ echo '#include "tests/ahead/programs.h"'; } > "$work/table.c"
: > "$work/rows"; : > "$work/refused"
number=0
for program in "$@"; do
    number=$((number + 1))
    name=p$number
    if TUTTI_PLUGIN=${COMPILER:-$build/pjrt_plugin_tutti.so} $build/tutti compile "$program" -o "$work/$name.o" --name $name --cpu $cpu 2> "$work/error"; then
        echo "extern const tutti_rt_program ${name}_program;" >> "$work/table.c"
        random=false
        case "$program" in *rng*) random=true ;; esac
        echo "    { \"$name\", &${name}_program, $random }," >> "$work/rows"
        echo "$name $program" >> "$work/names"
    else
        echo "$program: $(cat "$work/error")" >> "$work/refused"
    fi
done
{ echo 'const Linked linked[] = {'; cat "$work/rows"; echo '    { 0 },'; echo '};'; } >> "$work/table.c"
${CC:-cc} -std=gnu17 -O1 -Isrc -Iinclude -I. -Wl,--gc-sections -o "$work/play" tests/ahead/play.c "$work/table.c" \
    "$work"/p*.o ${PLAY:-$build}/libtutti_rt.a ${PLAY:-$build}/libplay.a $flags -lm -ldl -pthread
bad=0
play() {
    $RUN "$work/play" "$work" "$1" >> "$work/said" && return
    [ $? = 1 ] || echo "$(cat "$work/begun"): the process died of it" >> "$work/said"
    bad=1
}
play 0
play -1 # all on the calling thread
for who in threads late at-once; do play $who; done # threads that are lent
sort -u "$work/said" | while read -r name rest; do
    echo "$(sed -n "s/^${name%:} //p" "$work/names"): $rest"
done
while read -r name program; do
    n=$(find "$work/$name" -name 'result_*.npy' | wc -l)
    [ "$n" -gt 0 ] || continue
    case "$program" in *rng*) continue ;; esac
    inputs=$(cat "$work/$name/arguments")
    set --
    while [ "$inputs" -gt 0 ]; do set -- "$@" --input random; inputs=$((inputs - 1)); done
    rm -rf "$work/there"
    $build/tutti run "$program" "$@" --out "$work/there" > "$work/ran" 2>&1 || { echo "$program: $(cat "$work/ran")"; echo x >> "$work/bad"; continue; }
    for file in "$work/$name"/result_*.npy; do
        grep -q "$(basename "$file"): .*they differ" "$work/ran" && continue
        cmp -s "$file" "$work/there/$(basename "$file")" && continue
        echo "$program: $(basename "$file" .npy) is not what tutti run gives"
        echo x >> "$work/bad"
    done
done < "$work/names"
while IFS= read -r line; do
    program=${line%%:*}
    grep -qxF "$(basename "$program")" tests/ahead/refused && continue
    echo "refused: $line"
    echo x >> "$work/bad"
done < "$work/refused"
echo "$(wc -l < "$work/names") programs compiled ahead and played, $(wc -l < "$work/refused") refused"
[ ! -e "$work/bad" ] && [ $bad = 0 ]
