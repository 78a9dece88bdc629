#!/bin/sh
# The programs in docs/howto/deploy.md, saving.md and training.md are examples/custom_call.c, checkpoint.c and
# minibatches.c, and print what the pages say.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build} # of the library; the engine is always build/'s
[ "$build" = build ] || export TUTTI_PLUGIN=${TUTTI_PLUGIN:-build/pjrt_plugin_tutti.so}
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
block() { # the block of page $1 that begins with line $2
    awk -v head="$2" '!on && begins && $0 == head { on = 1 } on && /^```$/ { exit } on
        { begins = /^```./ }' "docs/howto/$1.md"
}
same() { # page, example: code and output; lines of the page that begin with $ are run
    sed 1d "examples/$2.c" | diff - "$at/code" || { echo "$1.md has other code than $2.c"; exit 1; }
    sed -n 's/^\$ build/"$build"/p' "$at/page" >"$at/commands"
    build=$build bash -e "$at/commands" >"$at/output" 2>&1 || { cat "$at/output"; exit 1; }
    grep -v '^\$ ' "$at/page" | diff - "$at/output" || { echo "$1.md has other output"; exit 1; }
}
block deploy '#include <stdio.h>' >"$at/code"
block deploy '$ build/examples/custom_call' >"$at/page"
same deploy custom_call
sed '1,/^ \*\//d' examples/deploy/lesson.c >"$at/code" # which tests/ahead.sh runs
block deploy '#include "lesson.h"' | diff "$at/code" - || { echo "deploy.md has other code than lesson.c"; exit 1; }
block saving '#include <stdio.h>' >"$at/code"
block saving '$ build/examples/checkpoint /tmp/run.safetensors 3' | sed "s|/tmp|$at|" >"$at/page"
same saving checkpoint
block training '#include <stdio.h>' >"$at/code"
block training '$ build/examples/minibatches' >"$at/page"
same training minibatches
