#!/bin/sh
# Debian's package: dpkg puts it into an empty system, where it is whole, asks for no library but the C library,
# and a program is built and played with it.  Without dpkg nothing is tested, and that is said.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
command -v dpkg-deb >/dev/null || { echo "left out: there is no dpkg"; exit 0; }
[ "$(id -u)" = 0 ] || { echo "left out: dpkg installs for root alone"; exit 0; }
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
fail() { echo "$*"; exit 1; }
DEB_OPTIONS=-Znone make -s deb DIST="$at" >"$at/log" 2>&1 || { cat "$at/log"; exit 1; }
mkdir -p "$at/root/var/lib/dpkg/info" "$at/root/var/lib/dpkg/updates" "$at/root/var/lib/dpkg/triggers"
touch "$at/root/var/lib/dpkg/status" "$at/root/var/lib/dpkg/available"
dpkg() { command dpkg --root="$at/root" --force-depends "$@"; }
dpkg -i "$at"/*.deb >"$at/log" 2>&1 || { cat "$at/log"; exit 1; }
[ -z "$(dpkg -V tutti)" ] || fail "what dpkg has put down is not what the package says: $(dpkg -V tutti)"

usr=$at/root/usr
for file in bin/tutti lib/pjrt_plugin_tutti.so lib/libtutti.so.0 lib/libtutti_rt.so.0; do
    ! readelf -S "$usr/$file" | grep -q debug_info || fail "$file is not stripped"
    needed=$(readelf -d "$usr/$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v -e '^libc\.so' -e '^libm\.so' -e '^ld-linux' || true)
    [ -z "$needed" ] || fail "$file needs $needed, which the package does not ask for"
done
cat >"$at/lesson.c" <<'TEXT'
#include <tutti.h>
int main(void)
{
    tt_print(tt_add(tt_arange(TT_F32, 3), 1));
}
TEXT
unset TUTTI_PLUGIN
cc -o "$at/lesson" "$at/lesson.c" -I"$usr/include" -L"$usr/lib" -ltutti -Wl,-rpath,"$usr/lib"
[ "$("$at/lesson")" = '[1. 2. 3.]' ] || fail "the lesson says $("$at/lesson")"
"$usr/bin/tutti" version | grep -q "^engine $at/root/" || fail "the installed tutti has another engine"
"$usr/bin/tutti" compile examples/lesson.mlir -o "$at/lesson.o" --header "$at/lesson.h"
cc -static -s -Wl,--gc-sections -o "$at/ahead" examples/deploy/lesson.c "$at/lesson.o" -I"$at" -I"$usr/include" \
    "$usr/lib/libtutti_rt.a" -lm -pthread
"$at/ahead" | grep -q '^35.720585 49.656986$' || fail "the lesson compiled ahead says $("$at/ahead")"
dpkg -r tutti >"$at/log" 2>&1 || { cat "$at/log"; exit 1; }
[ ! -e "$usr/bin/tutti" ] || fail "dpkg -r leaves files"
