#!/bin/sh
# The macros make no warnings of their own, with gcc or clang, in GNU C or standard C; what they are
# given is written once, so that calls in calls stay short; and what they cannot take is said.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    for std in gnu17 c17; do
        $cc -std=$std -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -Iinclude tests/front/forms.c
    done
done

# Eight calls, one in the other: a few kilobytes each.
nested='x'
for i in 1 2 3 4 5 6 7 8; do nested="tt_psum(tt_call(f, $nested), \"i\")"; done
printf '#include <tutti.h>\ntt f(tt);\ntt g(tt x) { return %s; }\n' "$nested" >"$dir/nested.c"
bytes=$(gcc -E -Iinclude "$dir/nested.c" | wc -c)
[ "$bytes" -lt 200000 ] || { echo "eight calls in calls are $bytes bytes after the preprocessor"; exit 1; }

# refused CODE MESSAGE: the compiler says it, and of the user's line.
refused() {
    printf '#include <tutti.h>\ntypedef struct { tt a, b; } Two;\ntypedef struct { tt a; int n; } Mixed;\n%s\n' "$1" >"$dir/wrong.c"
    for cc in gcc clang; do
        command -v $cc >/dev/null || continue
        if $cc -std=gnu17 -Iinclude -c "$dir/wrong.c" -o "$dir/wrong.o" 2>"$dir/said"; then
            echo "$cc takes: $1"; exit 1
        fi
        grep -q -- "$2" "$dir/said" || { echo "$cc says of: $1"; cat "$dir/said"; exit 1; }
    done
}
refused 'tt f(Two p) { return tt_sin(p); }' 'this takes a tt or a number: for all arrays of a tree write tt_map'
refused 'tt f(Two p) { return tt_stop_gradient(p); }' 'this takes a tt or a number'
refused 'void f(void) { tt_print(1); }' 'for a number write tt_scalar'
refused 'void f(tt *x) { tt_print(x); }' 'for an array of tt write TT_TREE'
refused 'void f(void) { tt x[3]; tt_print(x); }' 'for an array of tt write TT_TREE'
refused 'void f(Mixed m) { tt_print(m); }' 'a struct of nothing but tt: this has other fields'
refused 'tt g(Mixed m) { return m.a; } TT_FUN(tt, g, Mixed);' 'a parameter of g is not a tree: Mixed'
refused 'tt g(tt x); tt f(tt x) { return tt_call(g, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x); }' \
    'at_most_16_arguments_are_possible'
refused 'tt f(char **p) { return tt_from(p, 3); }' 'numbers of a type that arrays have'
