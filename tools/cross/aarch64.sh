#!/bin/bash
# The whole project for aarch64, built by a cross compiler and played by qemu-user: lessons with the digits that they
# have here, programs that check themselves, and the unit tests.  `make aarch64 [DIR=a folder of more such programs]
# [WHOLE=1]`: with WHOLE, the unit tests that take qemu minutes each too.
# Debian's packages g++-aarch64-linux-gnu and qemu-user-static, and an engine for this machine in build/.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/whole-aarch64 sysroot=build/sysroot-aarch64
compiler=aarch64-linux-gnu-gcc
! command -v ccache > /dev/null || compiler="ccache $compiler"
[ -d $sysroot ] || tools/cross/sysroot.sh arm64 $sysroot
lessons=$(ls examples/[0-9]*.c | sed 's|.*/\(.*\)\.c|\1|' | grep -v hosts) # several processes need an MPI
tests=$(ls tests/{unit,seam,stress,random,errors_c}/*_test.c | sed 's|\.c$||' | grep -v -e starved -e unload)
make -s -j"${JOBS:-2}" BUILD=$build CFLAGS=-O1 CC="$compiler" CXX=aarch64-linux-gnu-g++ CROSS=aarch64-linux-gnu- SYSROOT=$sysroot \
    $build/pjrt_plugin_tutti.so $build/tutti $(printf "$build/examples/%s " $lessons) $(printf "$build/%s " $tests)
qemu="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
play() { TUTTI_DEVICES=4 $qemu "$@"; }
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

# The unit tests, from a folder in which build/ is that machine's.  Of those that compile thousands of programs a part
# is played: qemu takes an hour for what takes a minute here.  Two are left out: starved_test, since qemu applies no limit
# of memory (RLIMIT_AS), and unload_test, since the address space that it looks at is qemu's own.
part() { # TEST: what it is told, so that it does less
    case $1 in
    tests/random/random_test) echo 1 20 ;;
    tests/unit/copy_plan_test) echo 1 100 ;;
    tests/unit/ops_test) echo -k ADD ;;
    tests/unit/rules_test) echo so ;;
    tests/unit/api_test) echo so ;;
    tests/unit/kernel_test) [ -n "${WHOLE:-}" ] || echo conversions mixed stack gather dot sort ;;
    esac
}
long="collectives fft large numpy random rules sharded simplify spmd" # minutes each
mkdir -p $build/root
for entry in $(ls | grep -vx build); do ln -sfn "$PWD/$entry" $build/root/$entry; done
ln -sfn "$PWD/$build" $build/root/build
commands=()
for test in $tests; do
    name=$(basename $test _test)
    [ -z "${WHOLE:-}" ] && [ $test = tests/unit/${name}_test ] && [[ " $long " = *" $name "* ]] && continue
    commands+=("$qemu build/$test $(part $test)")
done
[ -n "${WHOLE:-}" ] || echo "left out, for WHOLE=1: $long"
make -s build/run-tests
(cd $build/root && TUTTI="$qemu build/tutti" SOAK=300 TUTTI_STEPS=100 ../../run-tests -j "${JOBS:-2}" -t "${SECONDS_EACH:-1800}" "${commands[@]}") ||
    failed=1
exit $((failed > 0))
