#!/bin/sh
# What the build needs, from Debian 12's or Ubuntu 24.04's packages: installed when we may,
# named when we may not.
set -eu
missing=
need() { # need PACKAGE test...
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
need gcc command -v gcc
need g++ command -v g++
need make command -v make
need llvm-19-dev command -v llvm-config-19
need lld-19 command -v ld.lld-19
need clang-19 command -v clang-19
need libclang-rt-19-dev sh -c 'ls /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-*.a'
need zlib1g-dev test -f /usr/include/zlib.h
need libzstd-dev test -f /usr/include/zstd.h
need python3 command -v python3
need python3-venv python3 -c 'import ensurepip, venv'
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
    sudo=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo=sudo
else
    echo "Tutti needs these packages, and only root can install them:" >&2
    echo "    sudo apt-get install$missing" >&2
    exit 1
fi
echo "installing$missing"
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
