#!/bin/sh
# Programs compiled ahead for aarch64 give the bits that they give here, and what plays them passes its tests: cross-compiled,
# and played by qemu.  Debian's packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static; without them
# nothing is tested, and that is said.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static; do
    command -v $tool > /dev/null || { echo "left out: there is no $tool"; exit 0; }
done
compiler=aarch64-linux-gnu-gcc
! command -v ccache > /dev/null || compiler="ccache $compiler"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ make -s $build/cross/pjrt_plugin_tutti.so &&
  make -s -j2 rt rt-tests $build/aarch64/libplay.a BUILD=$build/aarch64 CFLAGS=-O1 CC="$compiler" CROSS=aarch64-linux-gnu-; } > "$log" 2>&1 || { cat "$log"; exit 1; }
programs=${*:-$(ls examples/lesson.mlir tests/programs/*.mlir tests/jax/*.mlirbc | grep -v -e /open -e pure_callback)}
CC=aarch64-linux-gnu-gcc PLAY=$build/aarch64 RUN=qemu-aarch64-static COMPILER=$build/cross/pjrt_plugin_tutti.so \
    tests/ahead/play.sh --cpu aarch64 --link -static $programs
for test in $build/aarch64/tests/rt/*_test; do # all but those that take qemu minutes (gemm, fft, copy_plan)
    qemu-aarch64-static -L /usr/aarch64-linux-gnu $test > "$log" 2>&1 || { echo "$(basename $test):"; cat "$log"; exit 1; }
done
