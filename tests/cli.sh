#!/bin/sh
# The command line: its exit codes, what it says, and arrays from files and back.
set -u
cd "$(dirname "$0")/.."
tutti=${BUILD:-build}/tutti
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# expect CODE WORDS COMMAND...: the exit code, and words that must appear in what it says.
expect() {
    code=$1 words=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    if [ "$got" != "$code" ] || ! printf '%s' "$said" | grep -qF -- "$words"; then
        echo "$*: exit code $got (expected $code), expected to read '$words' in:"
        echo "$said"
        bad=1
    fi
}

expect 2 'usage:' $tutti
expect 0 'usage:' $tutti --help
expect 0 'tutti 0.1' $tutti --version
expect 0 'LLVM' $tutti version
expect 2 "'now' is not known" $tutti version now
expect 2 "there is no command 'play'" $tutti play
expect 0 '--input X' $tutti run --help
expect 2 'a program is missing' $tutti run
expect 0 '--input X' $tutti help run
expect 2 "there is no command 'play'" $tutti help play
for number in none 0 -1 2.5 4x '' 99999999999999999999; do
    expect 2 '--devices needs a whole number from 1 on' $tutti run x.mlir --devices "$number"
    expect 2 '--devices needs a whole number from 1 on' $tutti devices --devices="$number"
    expect 2 '--seconds needs a whole number from 1 on' $tutti check x.mlir --seconds "$number"
done
expect 2 "--input needs a file, 'zeros' or 'random'" $tutti run x.mlir --input
expect 2 "--input needs a file, 'zeros' or 'random'" $tutti run x.mlir --input --stats
expect 2 '--seconds needs a whole number from 1 on' $tutti run x.mlir --seconds 0
for bytes in 0 1X M 5MM 99999999999999999999T ''; do
    expect 2 '--memory needs a number of bytes, such as 512M' $tutti run x.mlir --memory="$bytes"
done
expect 1 'tests/ahead/endless.mlir: it took longer than 1 seconds (--seconds)' \
    $tutti run tests/ahead/endless.mlir --input zeros --seconds 1
expect 1 'main was stopped: it took longer than 0.2 seconds' \
    env TUTTI_RUN_SECONDS=0.2 $tutti run tests/ahead/endless.mlir --input zeros
expect 1 "TUTTI_RUN_SECONDS: 'never' is not a number above 0" \
    env TUTTI_RUN_SECONDS=never $tutti run examples/lesson.mlir --input zeros
expect 1 'it used more than 1048576 bytes of memory (--memory)' \
    $tutti run tests/ahead/endless.mlir --input zeros --memory 1M --seconds 60
expect 2 '--out needs a folder' $tutti run x.mlir --out=
expect 2 "'y.mlir' is a second program; arrays are given by --input" $tutti run x.mlir y.mlir
expect 2 "'y.mlir' is a second program; one is dumped at a time" $tutti dump x.mlir y.mlir
expect 2 "'y.mlir' is a second program; one is shown at a time" $tutti show x.mlir y.mlir
expect 2 '--out is missing: the page to write' $tutti show x.mlir
expect 1 'cannot be written' $tutti show examples/lesson.mlir --out "$dir/none/page.html"
expect 2 "'--fast' is not known" $tutti run x.mlir --fast
expect 1 'tests cannot be read: Is a directory' $tutti run tests
expect 1 'it takes 1 argument; a program that checks itself takes none' $tutti check examples/lesson.mlir
expect 1 'No such file' $tutti run "$dir/none.mlir"
expect 0 'CpuDevice(id=2)' $tutti devices --devices 3
expect 0 'a C program has one for each core' $tutti devices
expect 0 "linear algebra by the engine's own routines" env TUTTI_LAPACK=own $tutti devices
expect 1 'TUTTI_LAPACK=nowhere.so: nowhere.so: cannot open shared object file' \
    env TUTTI_LAPACK=nowhere.so $tutti devices
expect 1 'TUTTI_PLUGIN names the plugin' env TUTTI_PLUGIN="$dir/none.so" $tutti devices
expect 1 "there is no pass 'x'; the passes are: refine, sink_captures, simplify, place, polish" \
    $tutti dump examples/lesson.mlir --after=x
expect 1 "there is no pass 'assign'" $tutti dump examples/lesson.mlir --after=assign
expect 0 'tutti.fusion (from fuse on, always) can only be looked at' $tutti dump --help
expect 0 'stablehlo.sine' $tutti dump examples/lesson.mlir --after=place
exported=tests/fuzz/corpus/exported_fuzz/tree.jaxexp # of jax.export: the program inside
expect 0 'func.func public @main' $tutti dump $exported
expect 1 'it takes 4 arguments; a program that checks itself takes none' $tutti check $exported
$tutti show $exported --out "$dir/exported.html"
head -c 300 $exported > "$dir/cut.jaxexp"
expect 1 'cut.jaxexp' $tutti dump "$dir/cut.jaxexp"

expect 1 "there is no level 'avx'; levels are dots, avx512, avx2 and sse" env TUTTI_CPU_LEVEL=avx \
    $tutti run examples/lesson.mlir --input zeros
expect 0 '[35.720585, 49.656986]' env TUTTI_CPU_LEVEL=sse \
    $tutti run examples/lesson.mlir --input examples/lesson.npy

expect 1 "there is no check 'bound'; there are bounds and nans" env TUTTI_CHECK=bound \
    $tutti run examples/lesson.mlir --input zeros
expect 0 '[35.720585, 49.656986]' env TUTTI_CHECK=bounds \
    $tutti run examples/lesson.mlir --input examples/lesson.npy

# What a dump shows before fuse is a program again, tokens too, and names that only quotes can hold.
printf 'func.func @main() {\n  return {"a\\00.b"}\n}\n' >"$dir/odd_name.mlir"
expect 0 'return {"a\00.b"}' $tutti dump "$dir/odd_name.mlir"
$tutti dump tests/programs/send_recv_4.mlir --after=refine >"$dir/dumped.mlir"
expect 0 'stablehlo.create_token : !stablehlo.token' cat "$dir/dumped.mlir"
expect 0 '1 passed, 0 failed' $tutti check "$dir/dumped.mlir"

# Results that a tuple holds have numbers of their own.
expect 0 'tf.aliasing_output = 2' $tutti dump tests/front/tuple_alias.mlir --after=refine

# A program with open extents is made for the arrays that it is given.
open=tests/jax/open_mlp.mlir
expect 1 'argument 2: f32[?,5]' $tutti run $open
expect 1 "'random' does not say its open extents" $tutti run $open --input zeros --input zeros --input random
expect 1 'its open extents are known once the program is called with arrays' $tutti check $open
expect 0 'tensor<?x5xf32>' $tutti dump $open

# The lesson: whole arrays in, cut over four devices, joined again.
expect 1 'argument 0: f32[4,2]' $tutti run examples/lesson.mlir
printf "garbage, not an array" >"$dir/garbage.npy"
expect 1 "is not a file of arrays: safetensors, .npz or .npy" $tutti run examples/lesson.mlir --input "$dir/garbage.npy"
expect 0 '[35.720585, 49.656986]' $tutti run examples/lesson.mlir --input examples/lesson.npy
expect 0 '[35.720585, 49.656986]' $tutti run examples/lesson.mlir --input examples/lesson.npy --eval
expect 0 'kernels_compiled 0' $tutti run examples/lesson.mlir --input zeros --eval --stats
expect 0 'lapack none wanted yet' $tutti run examples/lesson.mlir --input zeros --stats
expect 1 'is for 4 devices: --devices 2 is not enough; give --devices 4, or leave it out' \
    $tutti run examples/lesson.mlir --input zeros --devices 2
expect 1 'needs 4 devices and there are 2; set TUTTI_DEVICES=4' \
    env TUTTI_DEVICES=2 $tutti run examples/lesson.mlir --input zeros
expect 1 'needs 4 devices and there are 3' \
    env XLA_FLAGS=--xla_force_host_platform_device_count=3 $tutti run examples/lesson.mlir --input zeros
expect 0 'result 0' env TUTTI_DEVICES=2 $tutti run examples/lesson.mlir --input zeros --devices 5

# Replicas get what is given, each the whole; where they say different things all are shown.
cat >"$dir/replicas.mlir" <<'P'
module attributes {mhlo.num_replicas = 4 : i32, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<300000xui32>) -> (tensor<ui32>, tensor<2xui32>) {
    %id = stablehlo.replica_id : tensor<ui32>
    %y = stablehlo.slice %x [299998:300000] : (tensor<300000xui32>) -> tensor<2xui32>
    return %id, %y : tensor<ui32>, tensor<2xui32>
  }
}
P
expect 0 'result 0: ui32[4], devices first: they differ' $tutti run "$dir/replicas.mlir" --input zeros
expect 0 '[0, 1, 2, 3]' $tutti run "$dir/replicas.mlir" --input zeros
expect 0 'result 1: ui32[2]' $tutti run "$dir/replicas.mlir" --input zeros

# Numbers as Python writes them; a result's place is looked at before anything runs.
cat >"$dir/numbers.mlir" <<'P'
module {
  func.func public @main() -> (tensor<9xf32>, tensor<3xf64>, tensor<2xf8E4M3FN>, tensor<complex<f32>>) {
    %x = stablehlo.constant dense<[10.0, 100.0, -0.0, 0.1, 1.0e-4, 1.0e-5, 16777216.0, 1.0e16, 0x7F800000]> : tensor<9xf32>
    %y = stablehlo.constant dense<[10.0, 0.1, 1.0e15]> : tensor<3xf64>
    %z = stablehlo.constant dense<[1.5, 448.0]> : tensor<2xf8E4M3FN>
    %c = stablehlo.constant dense<(10.0, -2.5)> : tensor<complex<f32>>
    return %x, %y, %z, %c : tensor<9xf32>, tensor<3xf64>, tensor<2xf8E4M3FN>, tensor<complex<f32>>
  }
}
P
expect 0 '[10.0, 100.0, -0.0, 0.1, 0.0001, 1e-05, 16777216.0, 1e+16, inf]' $tutti run "$dir/numbers.mlir"
expect 0 '[10.0, 0.1, 1000000000000000.0]' $tutti run "$dir/numbers.mlir"
expect 0 '[1.5, 448.0]' $tutti run "$dir/numbers.mlir"
expect 0 '(10.0, -2.5)' $tutti run "$dir/numbers.mlir"
expect 1 "--out $dir/numbers.mlir is not a folder" $tutti run tests/errors/bad_syntax.mlir --out "$dir/numbers.mlir"
expect 1 "--out $dir/no/folder cannot be made: No such file" $tutti run tests/errors/bad_syntax.mlir --out "$dir/no/folder"

# Twice negated is the array itself, through two files.
cat >"$dir/negate.mlir" <<'P'
module {
  func.func public @main(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %y = stablehlo.negate %x : tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }
}
P
expect 0 'result_0.npy: f32[4,2]' $tutti run "$dir/negate.mlir" --input examples/lesson.npy --out "$dir/a"
expect 0 'result_0.npy: f32[4,2]' $tutti run "$dir/negate.mlir" --input "$dir/a/result_0.npy" --out "$dir/b"
tail -c 32 examples/lesson.npy >"$dir/before"
tail -c 32 "$dir/b/result_0.npy" >"$dir/after"
cmp "$dir/before" "$dir/after" || bad=1

# What cannot be said is not well, whichever command says it.
full() { "$@" >/dev/full; }
for words in "--help" "run --help" "devices" "dump $dir/negate.mlir" "run $dir/negate.mlir --input zeros"; do
    # shellcheck disable=SC2086
    expect 1 'tutti: standard output cannot be written: No space left on device' full $tutti $words
done

# Programs that check themselves: one that holds, one that does not, one that is none.
check() { # check NAME EXPECTED-ELEMENT
    cat >"$dir/$1.mlir" <<P
module {
  func.func public @main() {
    %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %y = stablehlo.add %x, %x : tensor<2xf32>
    %e = stablehlo.constant dense<[2.0, $2]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%y, %e) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return
  }
}
P
}
check right 4.0
check wrong 5.0
echo 'not a program' >"$dir/none.mlir"
expect 0 '1 passed, 0 failed' $tutti check "$dir/right.mlir"
expect 0 '1 passed, 0 failed' $tutti check --eval "$dir/right.mlir"
expect 1 'FAIL wrong.mlir: ' $tutti check "$dir/right.mlir" "$dir/wrong.mlir"
expect 1 '1 passed, 3 failed' $tutti check "$dir/wrong.mlir" "$dir/none.mlir" "$dir/absent.mlir" "$dir/right.mlir"

# A message of a program without a name names main.
cat >"$dir/large.mlir" <<'P'
module {
  func.func public @main() -> tensor<4000000000000xf32> {
    %x = stablehlo.iota dim = 0 : tensor<4000000000000xf32>
    return %x : tensor<4000000000000xf32>
  }
}
P
expect 1 'tutti: main: result 0, f32[4000000000000]' $tutti run "$dir/large.mlir"

# Long chains and deep nests: a result or a message.
awk 'BEGIN {
    t = " : tensor<f32>"
    print "func.func @main() -> tensor<f32> {\n%v0 = stablehlo.iota dim = 0 : tensor<2xf32>"
    print "%x = stablehlo.slice %v0 [1:2] : (tensor<2xf32>) -> tensor<1xf32>"
    print "%y0 = stablehlo.reshape %x : (tensor<1xf32>) -> tensor<f32>"
    for (i = 1; i < 100000; i++) print "%y" i " = stablehlo.add %y" i - 1 ", %y0" t
    print "return %y99999" t "\n}"
}' >"$dir/chain.mlir"
expect 0 '100000.0' $tutti run "$dir/chain.mlir"
nest() { # nest LEVELS: of case in case
    awk -v n="$1" 'BEGIN {
        print "func.func @main(%x: tensor<i32>) -> tensor<i32> {"
        for (i = n; i > 0; i--) print "%r" i " = \"stablehlo.case\"(%x) ({"
        print "%y = stablehlo.add %x, %x : tensor<i32>\nstablehlo.return %y : tensor<i32>"
        for (i = 1; i <= n; i++) {
            print "}, { stablehlo.return %x : tensor<i32> }) : (tensor<i32>) -> tensor<i32>"
            print (i < n ? "stablehlo." : "") "return %r" i " : tensor<i32>"
        }
        print "}"
    }' >"$dir/nest.mlir"
}
nest 64
expect 0 'result 0: i32' $tutti run "$dir/nest.mlir" --input zeros
nest 5000
expect 1 'nested more than 64 deep' $tutti run "$dir/nest.mlir" --input zeros

# Work that lasts says on a terminal what it is at, and takes it back; elsewhere it is silent.
cat >"$dir/late.py" <<'P'
import os, pty, sys, threading, time
path, source, command = sys.argv[1], sys.argv[2], sys.argv[3:]
os.mkfifo(path)  # a file that takes its time
def feed():
    time.sleep(1.5)
    with open(path, "wb") as to:
        to.write(open(source, "rb").read())
        to.flush()
        time.sleep(0.5)
threading.Thread(target=feed, daemon=True).start()
sys.exit(os.waitstatus_to_exitcode(pty.spawn(command)))
P
late() { python3 "$dir/late.py" "$@" </dev/null; }
escape=$(printf '\033')
expect 0 "reading $dir/slow.npy$escape[K" late "$dir/slow.npy" examples/lesson.npy \
    $tutti run "$dir/negate.mlir" --input "$dir/slow.npy"
expect 0 "1/2 slow.mlir$escape[K" late "$dir/slow.mlir" "$dir/right.mlir" \
    $tutti check "$dir/right.mlir" "$dir/slow.mlir"
if $tutti check "$dir/right.mlir" 2>&1 >/dev/null | grep -q .; then
    echo "check says something on standard error, which is no terminal"
    bad=1
fi
exit $bad
