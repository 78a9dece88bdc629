#!/bin/sh
# ARCHITECTURE.md names every source file there is, and none that is not; and its table of what is
# shared and mutable names every file that declares a lock, an atomic or something found once.
set -eu
cd "$(dirname "$0")/.."
listed=$(grep -oE '^- `[a-z0-9_/.]+\.(c|cpp|h|def|map)`' ARCHITECTURE.md | tr -d '`' | sed 's/^- //' | sort)
there=$(git ls-files 'src/*' 'cli/*' 'include/*' | grep -E '\.(c|cpp|h|def|map)$' | sort)
status=0
for f in $there; do
    # A header is named by its .c: `base/arena.[ch]` style entries are written as the .c.
    case $f in
    *.h) [ -f "${f%.h}.c" ] || [ -f "${f%.h}.cpp" ] && continue ;;
    esac
    echo "$listed" | grep -qxF "$f" || { echo "ARCHITECTURE.md does not name $f"; status=1; }
done
for f in $listed; do
    [ -f "$f" ] || { echo "ARCHITECTURE.md names $f, which is not there"; status=1; }
done
table=$(sed -n '/^### What is shared and mutable/,/^## /p' ARCHITECTURE.md)
for f in $(git grep -lE '_Atomic|pthread_(mutex|once|cond)_t [a-z]|(^| )Lock [a-z_]+;' -- 'src/*.c' 'src/*.h'); do
    echo "$table" | grep -qF "\`${f#src/}\`" ||
        { echo "ARCHITECTURE.md: what is shared and mutable does not name $f"; status=1; }
done
for f in $(echo "$table" | grep -oE '`[a-z_]+/[a-z0-9_/]+\.[ch]`' | tr -d '`'); do
    [ -f "src/$f" ] || { echo "ARCHITECTURE.md: what is shared and mutable names $f, which is not there"; status=1; }
done
exit $status
