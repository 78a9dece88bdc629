#!/bin/sh
# How large the tree is, by folder, and whether it keeps its budget: no source file above
# 650 lines (tables apart), none of our functions far above a page.
set -eu
cd "$(dirname "$0")/.."
printf '%-24s %6s %7s %7s\n' folder files lines largest
for d in $(git ls-files '*.c' '*.h' '*.def' | xargs -n1 dirname | sort -u); do
    files=$(git ls-files "$d/*.c" "$d/*.h" "$d/*.def" | grep -v "^$d/.*/" || true)
    [ -n "$files" ] || continue
    echo "$files" | xargs wc -l | awk -v d="$d" '
        $2 != "total" { n++; s += $1; if ($1 > m) m = $1 }
        END { printf "%-24s %6d %7d %7d\n", d, n, s, m }'
done
over=$(git ls-files 'src/**/*.c' | xargs wc -l | awk '$2 != "total" && $1 > 650 { print $2 " has " $1 " lines" }')
[ -z "$over" ] || { echo "over budget (650 lines a file):"; echo "$over"; exit 1; }
