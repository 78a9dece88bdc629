#!/bin/sh
# What `make install` puts down is enough: a program finds the library by pkg-config, by CMake, and
# statically, from C and from C++, and the engine beside the library.
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
find_package(Tutti REQUIRED)
add_executable(lesson lesson.c)
target_link_libraries(lesson tutti::tutti)
add_executable(lesson_static lesson.c)
target_link_libraries(lesson_static tutti::static)
END
expect() { # expect PROGRAM
    printf '[[0. 1.]\n [4. 9.]]\n' >"$at/expected"
    "$@" >"$at/got" || { echo "$* failed"; exit 1; }
    cmp -s "$at/expected" "$at/got" || { echo "$* printed:"; cat "$at/got"; exit 1; }
}
unset TUTTI_PLUGIN
export PKG_CONFIG_PATH="$at/usr/lib/pkgconfig" LD_LIBRARY_PATH="$at/usr/lib"
if command -v pkg-config >/dev/null; then
    ${CC:-cc} -Wall -Wextra -Werror -o "$at/lesson" "$at/lesson.c" $(pkg-config --cflags --libs tutti)
    expect "$at/lesson"
fi
${CXX:-c++} -std=c++17 -Wall -Wextra -Wpedantic -Werror -o "$at/plain" "$at/plain.cc" \
    -I"$at/usr/include" -L"$at/usr/lib" -ltutti
expect "$at/plain"
${CC:-cc} -o "$at/usr/bin/lesson" "$at/lesson.c" -I"$at/usr/include" "$at/usr/lib/libtutti.a" \
    -lm -ldl -pthread # finds the engine in ../lib
expect "$at/usr/bin/lesson"
"$at/usr/bin/tutti" devices >"$at/got" || { echo "the installed tutti finds no engine"; exit 1; }
if command -v cmake >/dev/null; then
    cmake -S "$at" -B "$at/made" -DCMAKE_PREFIX_PATH="$at/usr" >"$at/log" 2>&1 &&
        cmake --build "$at/made" >>"$at/log" 2>&1 || { cat "$at/log"; exit 1; }
    expect "$at/made/lesson"
    expect env TUTTI_PLUGIN="$at/usr/lib/pjrt_plugin_tutti.so" "$at/made/lesson_static"
fi
if nm -D --defined-only "$at/usr/lib/libtutti.so" | awk '{ print $3 }' | grep -qv '^tt_'; then
    echo "libtutti.so shows more than tt_..."
    exit 1
fi
if nm -g --defined-only "$at/usr/lib/libtutti.a" | awk 'NF == 3 { print $3 }' | grep -qv '^tt_'; then
    echo "libtutti.a shows more than tt_..."
    exit 1
fi
