#!/bin/sh
# The macros make no warnings of their own, with gcc or clang, in GNU C or standard C.
set -eu
cd "$(dirname "$0")/.."
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    for std in gnu17 c17; do
        $cc -std=$std -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -Iinclude tests/front/forms.c
    done
done
