#!/usr/bin/env bash
# The C lessons on JAX's CUDA plugin: builds the front alone (a C compiler is enough), finds the
# plugin inside the Python that has it, runs the lessons on it, and times a compiled call and a training step
# beside Python JAX.
#
#     tools/gpu.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
make -s -j4 lib
mkdir -p build/examples
mkdir -p build/examples/twelve
for source in examples/*.c examples/twelve/*.c bench/onecall.c bench/onestep.c; do
    [ "$source" = examples/exercise.c ] && continue # a reader's to fill in: it has no main
    to=${source#examples/} to=${to#bench/}
    gcc -std=gnu17 -O2 -Iinclude "$source" -o "build/examples/${to%.c}" \
        -Lbuild -ltutti -lm -Wl,-rpath,"$PWD/build"
done
TUTTI_PLUGIN=$($python -c '
import glob, os, jax_plugins
places = [os.path.join(p, "*", "xla_cuda_plugin.so") for p in jax_plugins.__path__]
print(next(f for place in places for f in glob.glob(place)))')
LD_LIBRARY_PATH=$($python -c '
import glob, os, site
print(":".join(d for s in site.getsitepackages() for d in glob.glob(s + "/nvidia/*/lib")))'):${LD_LIBRARY_PATH:-}
export TUTTI_PLUGIN LD_LIBRARY_PATH TF_CPP_MIN_LOG_LEVEL=3 # its log is not the lesson
echo "plugin: $TUTTI_PLUGIN"
build/examples/01_devices # names its devices as the plugin does
export TUTTI_PRECISION=highest TUTTI_NEAR=1e-4 # by itself the plugin rounds the operands of products
bash tests/lessons.sh 1 && echo "the lessons print what JAX prints, within 1e-4"
bash tests/twelve.sh 1 && echo "the programs of examples/twelve print what JAX prints, within 1e-4"
unset TUTTI_PRECISION TUTTI_NEAR
echo "C:";      build/examples/onecall; build/examples/onestep
echo "Python:"; $python bench/onecall.py; $python bench/onestep.py
