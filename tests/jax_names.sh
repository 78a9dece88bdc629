#!/bin/sh
# Every name of ours that docs/jax_names.md and docs/jax_usage.md give is in the headers.
set -eu
cd "$(dirname "$0")/.."
bad=0
names=$(grep -oE '\b(tt|TT)_[A-Za-z0-9_]*[A-Za-z0-9]' docs/jax_names.md | sort -u)
[ "$(printf '%s\n' "$names" | wc -l)" -ge 150 ] || { echo "docs/jax_names.md names too few"; exit 1; }
for name in $names; do
    grep -qE "(^|[^A-Za-z0-9_])$name([^A-Za-z0-9_]|\$)" include/tutti.h include/tutti_sugar.h ||
        { echo "docs/jax_names.md gives $name, which the headers do not have"; bad=1; }
done
python3 tools/jax_names.py || bad=1
exit $bad
