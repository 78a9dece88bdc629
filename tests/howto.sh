#!/bin/sh
# The program in docs/howto/deploy.md that defines a custom call is examples/custom_call.c, and prints
# what the page says.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build} # of the library; the engine is always build/'s
[ "$build" = build ] || export TUTTI_PLUGIN=${TUTTI_PLUGIN:-build/pjrt_plugin_tutti.so}
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
block() { # the block of the page that begins with this line
    awk -v head="$1" '!on && $0 == head { on = 1 } on && /^```$/ { exit } on' docs/howto/deploy.md
}
sed 1d examples/custom_call.c >"$at/code"
block '#include <stdio.h>' | diff "$at/code" - || { echo "the page has other code"; exit 1; }
"$build/examples/custom_call" >"$at/output" 2>&1 || { cat "$at/output"; exit 1; }
block '$ build/examples/custom_call' | sed 1d | diff - "$at/output" ||
    { echo "the page has other output"; exit 1; }
