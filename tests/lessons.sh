#!/usr/bin/env bash
# The lessons print what JAX prints: on 1, 2, 4, 8 and 64 devices, against tests/lessons/NAME.txt
# (made by expected.py, which says on how many each was tried).  Text and elements must be equal to
# the last digit; the lessons named in `sums` add up many numbers, and there numbers need agree to 5
# digits only.
#
#     tests/lessons.sh [DEVICES ...]     TUTTI_NEAR=1e-4: so near, for other plugins
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build} # of the library; the engine is always build/'s
[ "$build" = build ] || export TUTTI_PLUGIN=${TUTTI_PLUGIN:-build/pjrt_plugin_tutti.so}
sums=" gpt batch_norm parallel 04_train 06_data 08_run_file 09_kmeans 10_images 11_hosts "
out=$(mktemp) want=$(mktemp)
trap 'rm -f "$out" "$want"' EXIT
wrong=0

. tests/near.bash
for text in tests/lessons/*.txt; do
    name=$(basename "$text" .txt)
    [[ -n ${TUTTI_NEAR:-} && $name == 01_devices ]] && continue # it names the plugin's devices
    for n in ${*:-$(sed -n 's/^## TUTTI_DEVICES=//p' "$text")}; do
        awk -v head="## TUTTI_DEVICES=$n" '/^## /{ on = $0 == head; next } on' "$text" > "$want"
        TUTTI_DEVICES=$n "$build/examples/$name" > "$out" 2>&1 || echo "exit status $?" >> "$out"
        compare="diff"
        [[ $sums == *" $name "* || -n ${TUTTI_NEAR:-} ]] && compare="near_by ${TUTTI_NEAR:-1.01e-5}"
        if [ ! -s "$want" ] || ! $compare "$want" "$out"; then
            echo "$name on $n devices: not what JAX prints"
            wrong=1
        fi
    done
done
exit $wrong
