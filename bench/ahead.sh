#!/bin/sh
# Sizes and starts of programs that are compiled ahead, beside the same compiled in place and JAX's own:
# a table for docs/howto/deploy.md.
#     bench/ahead.sh [PYTHON]        a Python that has JAX; without, its rows are left out
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
python=${1:-}
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
cc -O2 -o "$at/start" bench/start.c
row() { # WHAT SIZE RUNS COMMAND ...
    what=$1 size=$2 runs=$3
    shift 3
    took=$("$at/start" $runs "$@")
    set -- $took
    printf '| %s | %s | %s ms | %s MB |\n' "$what" "$size" "$1" "$3"
}
bytes() { echo "$(($(wc -c < "$1") / 1000)) KB"; }

$build/tutti compile examples/lesson.mlir -o "$at/lesson.o" --header "$at/lesson.h"
link() { cc -O2 -s -Iinclude -I"$at" "$@" $build/libtutti_rt.a -Wl,--gc-sections -Wl,-z,noseparate-code -lm -pthread; }
link -static -o "$at/static" examples/deploy/lesson.c "$at/lesson.o"
link -o "$at/dynamic" examples/deploy/lesson.c "$at/lesson.o"
$build/tutti compile tests/jax/train_step_pmean_4.mlirbc -o "$at/train.o" --name train
cat > "$at/train.c" <<'END'
#include <stdlib.h>
#include <tutti_rt.h>
extern const tutti_rt_program train_program;
int main(void)
{
    void *in[64], *out[64];
    for (int i = 0; i < tutti_rt_arguments(&train_program); i++)
        in[i] = calloc(1, tutti_rt_argument(&train_program, i).bytes + 1);
    for (int i = 0; i < tutti_rt_results(&train_program); i++)
        out[i] = calloc(1, tutti_rt_result(&train_program, i).bytes + 1);
    return tutti_rt_call(NULL, &train_program, (const void *const *)in, out) != NULL;
}
END
link -o "$at/train" "$at/train.c" "$at/train.o"

echo '| program, on 4 devices | size | start to result | peak memory |'
echo '|---|---|---|---|'
row 'lesson, static' "$(bytes "$at/static")" 50 "$at/static"
row 'lesson, shared C library' "$(bytes "$at/dynamic")" 50 "$at/dynamic"
row 'training step with pmean, shared C library' "$(bytes "$at/train")" 50 "$at/train"
row 'lesson, `tutti run`: compiled in place' "$(bytes $build/pjrt_plugin_tutti.so), with symbols" 20 \
    $build/tutti run examples/lesson.mlir --input examples/lesson.npy
[ -n "$python" ] || exit 0
cat > "$at/lesson.py" <<'END'
import jax, jax.numpy as jnp
jax.config.update("jax_num_cpu_devices", 4)
print(jax.pmap(lambda x: x ** 2 + jnp.sin(x))(jnp.arange(8.0).reshape(4, 2)))
END
row "lesson, Python with JAX $("$python" -c 'import jax; print(jax.__version__)')" '-' 3 env JAX_PLATFORMS=cpu "$python" "$at/lesson.py"
