#!/bin/bash
# The whole project for aarch64, built by a cross compiler and played by qemu-user: lessons with the digits that they
# have here, and programs that check themselves.  `make aarch64 [DIR=a folder of more such programs]`; minutes.
# Debian's packages g++-aarch64-linux-gnu and qemu-user-static, and an engine for this machine in build/.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/whole-aarch64 sysroot=build/sysroot-aarch64
compiler=aarch64-linux-gnu-gcc
! command -v ccache > /dev/null || compiler="ccache $compiler"
[ -d $sysroot ] || tools/cross/sysroot.sh arm64 $sysroot
lessons=$(ls examples/[0-9]*.c | sed 's|.*/\(.*\)\.c|\1|' | grep -v hosts) # several processes need an MPI
make -s -j"${JOBS:-2}" BUILD=$build CFLAGS=-O1 CC="$compiler" CXX=aarch64-linux-gnu-g++ CROSS=aarch64-linux-gnu- SYSROOT=$sysroot \
    $build/pjrt_plugin_tutti.so $build/tutti $(printf "$build/examples/%s " $lessons)
play() { TUTTI_DEVICES=4 qemu-aarch64-static -L /usr/aarch64-linux-gnu "$@"; }
play $build/tutti version
passed=0 failed=0
for lesson in $lessons; do
    if diff <(TUTTI_DEVICES=4 build/examples/$lesson 2>&1) <(play $build/examples/$lesson 2>&1); then
        passed=$((passed + 1))
    else
        echo "$lesson has other digits"
        failed=$((failed + 1))
    fi
done
echo "lessons: $passed passed, $failed failed"
play $build/tutti check --seconds 600 tests/programs/*.mlir ${1:+$1/*.mlir} || failed=1
exit $((failed > 0))
