#!/bin/sh
# exercise.sh FILE BUILD - builds the exercise and judges it on 1, 2, 4 and 8 devices.
set -u
file=$1 build=$2
here=$(dirname "$0")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
${CC:-cc} -std=gnu17 -Wall -Iinclude -Iexamples -o "$out/exercise" "$file" "$here/exercise/judge.c" \
    -L"$build" -ltutti -lm -Wl,-rpath,"$PWD/$build" || exit 1
bad=0
for n in 1 2 4 8; do
    TUTTI_PLUGIN=$build/pjrt_plugin_tutti.so TUTTI_DEVICES=$n "$out/exercise" || bad=1
done
if [ $bad = 0 ]; then
    echo "All is right, on 1, 2, 4 and 8 devices."
else
    echo "Not yet: edit $file, and ask again."
fi
exit $bad
