#!/bin/sh
# What `make install` puts down is enough: a program finds the library by pkg-config, by CMake, and
# statically, from C and from C++, and the engine beside the library.  The manual page and the shells'
# completions know every command and option.
set -eu
cd "$(dirname "$0")/.."
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
make -s install PREFIX="$at/usr" ${INSTALL_FLAGS:-} >"$at/log" 2>&1 || { cat "$at/log"; exit 1; }

cat >"$at/lesson.c" <<'END'
#include <tutti.h>

static tt square(tt x)
{
    return tt_mul(x, x);
}

int main(void)
{
    tt_init(.devices = 2);
    tt_print(tt_call(tt_pmap(square), tt_reshape(tt_arange(TT_F32, 4), 2, 2)));
}
END
cat >"$at/plain.cc" <<'END'
#include <tutti.h>

int main()
{
    tt_dims shape = { 2, { 2, 2 } };
    tt x = tt_reshape(tt_arange(TT_F32, 4), &shape), y = tt_mul(x, x);
    tt_print_n(tt_tree{ &y, 1 });
}
END
cat >"$at/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.10)
project(lesson C)
find_package(Tutti ${WANTED} REQUIRED)
add_executable(lesson lesson.c)
target_link_libraries(lesson tutti::tutti)
add_executable(lesson_static lesson.c)
target_link_libraries(lesson_static tutti::static)
foreach(kind rt rt_static)
  add_executable(ahead_${kind} ahead.c lesson.o)
  target_link_libraries(ahead_${kind} tutti::${kind})
endforeach()
END
cp examples/deploy/lesson.c "$at/ahead.c"
"$at/usr/bin/tutti" compile examples/lesson.mlir -o "$at/lesson.o" --header "$at/lesson.h"
expect() { # expect PROGRAM
    printf '[[0. 1.]\n [4. 9.]]\n' >"$at/expected"
    "$@" >"$at/got" || { echo "$* failed"; exit 1; }
    cmp -s "$at/expected" "$at/got" || { echo "$* printed:"; cat "$at/got"; exit 1; }
}
unset TUTTI_PLUGIN
version=$(sed -n 's/.*TUTTI_VERSION "\(.*\)"/\1/p' src/base/version.h)
fail() { echo "$*"; exit 1; }
[ "$("$at/usr/bin/tutti" --version)" = "tutti $version" ] || fail "tutti --version does not say $version"
grep -q "TUTTI_RT_VERSION \"$version\"" include/tutti_rt.h || fail "tutti_rt.h is of another version"
said=$("$at/usr/bin/tutti" version)
for word in "^tutti $version\$" "^engine $at/usr/.*pjrt_plugin_tutti.so\$" '^PJRT 0\.[0-9]*$' '^LLVM [0-9.]*$' "^runtime $(cat ${BUILD:-build}/rt_abi)\$"; do
    printf '%s\n' "$said" | grep -q "$word" || fail "tutti version does not say $word: $said"
done
nm -D "$at/usr/lib/libtutti_rt.so" | grep -q "$(cat ${BUILD:-build}/rt_abi)" || fail "libtutti_rt.so is of another ABI"

# The page and the completions.
! command -v mandoc >/dev/null || mandoc -T lint -W warning "$at/usr/share/man/man1/tutti.1" || fail "the manual page is not clean"
complete_as() { # complete_as SHELL WORD...: what the shell would offer
    case $1 in
    bash) shift
        bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tutti; printf "%s\n" "${COMPREPLY[@]}"' \
            "$at/usr/share/bash-completion/completions/tutti" "$@" ;;
    zsh) shift
        zsh -fc 'compadd() { [ "$1" = -- ] && shift; print -l -- ${(M)@:#$PREFIX*} }; file=$1; shift; words=("$@"); CURRENT=$#
            PREFIX=${words[-1]}; ask() { source $file }; ask' zsh "$at/usr/share/zsh/site-functions/_tutti" "$@" ;;
    esac
}
for shell in bash zsh; do
    command -v $shell >/dev/null || { echo "left out: there is no $shell"; continue; }
    for command in run check compile dump devices version; do
        complete_as $shell "$at/usr/bin/tutti" "" | grep -qx $command || fail "$shell does not offer $command"
        grep -q "^.SS tutti $command" "$at/usr/share/man/man1/tutti.1" || fail "the manual page lacks $command"
    done
    [ "$(complete_as $shell "$at/usr/bin/tutti" ver)" = version ] || fail "$shell does not complete ver"
    [ "$(complete_as $shell "$at/usr/bin/tutti" run --we)" = --weights ] || fail "$shell does not complete --we"
    [ "$(complete_as $shell "$at/usr/bin/tutti" dump --a)" = --after= ] || fail "$shell does not complete --a"
done
export PKG_CONFIG_PATH="$at/usr/lib/pkgconfig" LD_LIBRARY_PATH="$at/usr/lib"
if command -v pkg-config >/dev/null; then
    ${CC:-cc} -Wall -Wextra -Werror -o "$at/lesson" "$at/lesson.c" $(pkg-config --cflags --libs tutti)
    expect "$at/lesson"
    printf '#include <math.h>\n#include <tutti.h>\nint main(int n, char **v) { (void)v; return cos(n) > 1; }\n' >"$at/own.c"
    ${CC:-cc} -Wall -Wextra -Werror -fno-builtin -o "$at/own" "$at/own.c" $(pkg-config --cflags --libs tutti) || fail "a program's own cos is not found"
fi
${CXX:-c++} -std=c++17 -Wall -Wextra -Wpedantic -Werror -o "$at/plain" "$at/plain.cc" \
    -I"$at/usr/include" -L"$at/usr/lib" -ltutti
expect "$at/plain"
${CC:-cc} -o "$at/usr/bin/lesson" "$at/lesson.c" -I"$at/usr/include" "$at/usr/lib/libtutti.a" \
    -lm -ldl -pthread # finds the engine in ../lib
expect "$at/usr/bin/lesson"
if command -v pkg-config >/dev/null; then # elsewhere: as it was linked
    libs=$(pkg-config --static --libs tutti | sed "s|-ltutti |$at/usr/lib/libtutti.a |")
    ${CC:-cc} -o "$at/apart" "$at/lesson.c" $(pkg-config --cflags tutti) $libs
    expect env -u LD_LIBRARY_PATH "$at/apart"
    mv "$at/usr" "$at/moved" # and the whole may move
    export PKG_CONFIG_PATH="$at/moved/lib/pkgconfig" LD_LIBRARY_PATH="$at/moved/lib"
    ${CC:-cc} -o "$at/lesson" "$at/lesson.c" $(pkg-config --cflags --libs tutti)
    expect "$at/lesson"
    mv "$at/moved" "$at/usr"
    export PKG_CONFIG_PATH="$at/usr/lib/pkgconfig" LD_LIBRARY_PATH="$at/usr/lib"
fi
${CC:-cc} -static -o "$at/whole" "$at/lesson.c" -I"$at/usr/include" "$at/usr/lib/libtutti.a" -lm -pthread 2>/dev/null &&
    ! "$at/whole" 2>"$at/got" && grep -q 'a program that is linked with -static cannot load an engine' "$at/got" ||
    { echo "a program linked with -static said:"; cat "$at/got"; exit 1; }
"$at/usr/bin/tutti" devices >"$at/got" || { echo "the installed tutti finds no engine"; exit 1; }
if command -v cmake >/dev/null; then
    make_project() { # make_project VERSION: configured, in $at/made
        rm -rf "$at/made"
        cmake -S "$at" -B "$at/made" -DCMAKE_PREFIX_PATH="$at/usr" -DWANTED="$1" >"$at/log" 2>&1
    }
    for wanted in '' 0.1 0.1.0; do
        make_project "$wanted" || { echo "find_package(Tutti $wanted):"; cat "$at/log"; exit 1; }
    done
    for wanted in 0.2 0.1.99 1 0.0; do
        ! make_project $wanted || { echo "find_package(Tutti $wanted) takes $version"; exit 1; }
        grep -q "version: $version" "$at/log" || { cat "$at/log"; exit 1; }
    done
    make_project 0.1 && cmake --build "$at/made" >"$at/log" 2>&1 || { cat "$at/log"; exit 1; }
    expect "$at/made/lesson"
    expect "$at/made/lesson_static" # finds the engine as it was linked
    for kind in rt rt_static; do
        "$at/made/ahead_$kind" >"$at/got" && grep -q '^35.720585 49.656986$' "$at/got" ||
            { echo "the lesson compiled ahead ($kind) printed:"; cat "$at/got"; exit 1; }
    done
fi
if nm -D --defined-only "$at/usr/lib/libtutti.so" | awk '{ print $3 }' | grep -qv '^tt_'; then
    echo "libtutti.so shows more than tt_..."
    exit 1
fi
if nm -g --defined-only "$at/usr/lib/libtutti.a" | awk 'NF == 3 { print $3 }' | grep -qv '^tt_'; then
    echo "libtutti.a shows more than tt_..."
    exit 1
fi
