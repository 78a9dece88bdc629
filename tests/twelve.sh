#!/usr/bin/env bash
# The programs of examples/twelve print what JAX prints of their twins in Python, on 1, 2, 4 and 8 devices
# (tests/twelve/expected.py wrote that), and are at most 1.3 times as long.
#
#     tests/twelve.sh [DEVICES ...]      TUTTI_NEAR=1e-4: so near, for other plugins
set -u
cd "$(dirname "$0")/.."
. tests/near.bash
build=${BUILD:-build}
want=$(mktemp) out=$(mktemp)
trap 'rm -f "$want" "$out"' EXIT
wrong=0
python3 tests/twelve/characters.py 1.3 >"$out" || { cat "$out"; wrong=1; }
for text in tests/twelve/*.txt; do
    name=$(basename "$text" .txt)
    for n in ${*:-1 2 4 8}; do
        awk -v head="## TUTTI_DEVICES=$n" '/^## /{ on = $0 == head; next } on' "$text" >"$want"
        TUTTI_DEVICES=$n "$build/examples/twelve/$name" >"$out" 2>&1 || echo "exit status $?" >>"$out"
        if [ ! -s "$want" ] || ! near_by "${TUTTI_NEAR:-1.01e-5}" "$want" "$out"; then
            echo "$name on $n devices: not what JAX prints"
            wrong=1
        fi
    done
done
exit $wrong
