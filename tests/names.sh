#!/bin/sh
# A file that a comment or a document names is there: text that outlives a rename misleads its reader.
# Taken: names with .c, .h or .def in comments of the sources and in the documents.  A design page
# may name what has gone since (it is dated), and these stand for a user's own files.
set -eu
cd "$(dirname "$0")/.."
users='model.h lesson.h program.c train.c predict.c f.c x.c name.c x_test.c lesson.c'
have=$(git ls-files | sed 's|.*/||' | sort -u)
bad=0
named=$({ grep -rhoE '^ *(/\*| \*).*' src include cli --include='*.[ch]' --include='*.def'
          cat README.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md docs/howto/*.md; } |
        grep -v '#include' |
        grep -oE '(^|[^A-Za-z0-9_./<"*])[a-z][a-z0-9_/]*\.(c|h|def)([^A-Za-z0-9_(]|$)' |
        grep -oE '[a-z][a-z0-9_/]*\.(c|h|def)' | sort -u)
count=0
for name in $named; do
    count=$((count + 1))
    base=${name##*/}
    case " $users " in *" $base "*) continue ;; esac
    if ! printf '%s\n' "$have" | grep -qx "$base"; then
        echo "$name is named but is not in the tree:"
        grep -rnF "$base" src include cli README.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md docs/howto | head -3
        bad=1
    fi
done
[ "$count" -ge 200 ] || { echo "only $count names were found"; bad=1; }
exit $bad
