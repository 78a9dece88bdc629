#!/bin/sh
# What a program of a file makes the process do: no path, no socket and no process beyond what any program needs, whatever
# it names (docs/howto/hostile-files.md).  By strace; where that is missing or not allowed nothing is tested, and
# that is said.
set -eu
cd "$(dirname "$0")/.."
tutti=${BUILD:-build}/tutti
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
fail() { echo "$*"; exit 1; }
export TUTTI_LAPACK=own # else a library is looked for when a large matrix comes
strace -qq -o "$at/log" true 2> "$at/why" || { echo "left out: no strace here: $(head -1 "$at/why")"; exit 0; }

# Every path, socket and process of a run, one a line, but for the files that it was given.
calls() { # NAME PROGRAM ...
    name=$1
    shift
    printf '%s\n' "$@" > "$at/given"
    strace -f -qq -e trace=%file,%network,execve,execveat,memfd_create,ptrace,io_uring_setup -o "$at/log" \
        $tutti check --seconds 60 "$@" > "$at/$name.said" 2>&1 || true
    sed -nE 's/^[0-9]+ +([a-z0-9_]+)\((AT_FDCWD, )?("([^"]*)")?.*/\1 \4/p' "$at/log" |
        grep -v -F -f "$at/given" | sed -E 's@/proc/(self/task/)?[0-9]+/@/proc/\1N/@' | sort -u > "$at/$name"
}

cat > "$at/plain.mlir" << 'END'
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main() {
    %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %y = stablehlo.sine %x : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%y, %y) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return
  }
}
END
# Names of files, devices and functions wherever a program can have a name.
cat > "$at/names.mlir" << 'END'
module @"/etc/passwd" {
  func.func public @main() {
    %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("/etc/shadow":1:2)
    %y = stablehlo.sine %x : tensor<2xf32> loc("http://localhost:9/x"("/dev/zero":3:4))
    stablehlo.custom_call @check.expect_eq(%y, %x) {has_side_effect = true, backend_config = "/etc/hosts"} : (tensor<2xf32>, tensor<2xf32>) -> () loc("/root/.ssh/id_rsa":5:6)
    return
  }
}
END
for call in system /bin/sh dlopen libc.so.6 ../../../etc/passwd check.load tutti.local.compiled.0 xla_python_cpu_callback; do
    cat > "$at/call_$(echo $call | tr / _).mlir" << END
func.func public @main() {
  %x = stablehlo.constant dense<1> : tensor<4xui8>
  %y = stablehlo.custom_call @"$call"(%x) {backend_config = "/etc/passwd", api_version = 1 : i32} : (tensor<4xui8>) -> tensor<4xui8>
  return
}
END
done
calls baseline "$at/plain.mlir"
grep -q '^openat .*pjrt_plugin_tutti.so$' "$at/baseline" || { cat "$at/baseline"; fail "the trace does not see the engine"; }
grep -q '1 passed, 0 failed' "$at/baseline.said" || { cat "$at/baseline.said"; fail "the plain program"; }
! grep -E '^(socket|connect|bind|listen|ptrace|io_uring_setup)' "$at/baseline" || fail "a plain program does that"
[ "$(grep -c '^execve' "$at/baseline")" = 1 ] || fail "a plain program starts another"

calls strangers "$at"/names.mlir "$at"/call_*.mlir tests/errors/c*.mlir tests/programs/[a-d]*.mlir
grep -q ' passed, [1-9][0-9]* failed' "$at/strangers.said" || { tail -3 "$at/strangers.said"; fail "the programs were not looked at"; }
comm -13 "$at/baseline" "$at/strangers" > "$at/more"
[ ! -s "$at/more" ] || { cat "$at/more"; fail "programs of files did that"; }

# The trace sees more where there is more: files that the user asked for.
export XLA_FLAGS="--xla_dump_to=$at/dumped"
calls dumping "$at/plain.mlir"
comm -13 "$at/baseline" "$at/dumping" | grep -q "$at/dumped" || fail "files that are written are not seen"
