#!/usr/bin/env bash
# tutti.hpp: lesson 4 in C++ prints what it prints in C; lambdas with captures, numbers on either side,
# messages with the line of the C++ program; and what the compiler must refuse.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build} # of the library; the engine is always build/'s
[ "$build" = build ] || export TUTTI_PLUGIN=${TUTTI_PLUGIN:-build/pjrt_plugin_tutti.so}
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
for n in 1 4 8; do
    TUTTI_DEVICES=$n diff <("$build/examples/04_train" 2>&1) <("$build/examples/04_train_cpp" 2>&1) ||
        { echo "lesson 4 in C++ on $n devices"; exit 1; }
done
"$build/examples/closures_cpp" >"$at/said" 2>&1
diff - "$at/said" <<'END' || { echo "closures_cpp"; exit 1; }
[ 3. 12. 27.]
[2. 4. 6.]
[-1.  0.  1.]
[False  True  True]
0.75
examples/closures.cpp:35: in main: tt_add: f32[3] and f32[2] do not broadcast: 3 against 2, counted from the last axis
END
refused() { # CODE MESSAGE
    printf '#include <tutti.hpp>\nstruct Mixed { tt a; int n; };\n%s\n' "$1" >"$at/wrong.cpp"
    if ${CXX:-g++} -std=c++17 -Iinclude -fsyntax-only "$at/wrong.cpp" 2>"$at/errors"; then
        echo "the compiler takes: $1"; exit 1
    fi
    grep -q -- "$2" "$at/errors" || { echo "of: $1"; cat "$at/errors"; exit 1; }
}
refused 'void f(Mixed m) { tutti::print(m); }' 'a tree is a tt or a struct of nothing but tt'
refused 'tt g(Mixed m); tt_fn f() { return tutti::jit(g); }' 'are tt or structs of nothing but tt'
refused 'bool f(tt a, tt b) { return a == b; }' 'no match for'
