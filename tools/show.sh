#!/bin/sh
# `make run`: the lesson on four devices: from C, from the command line, and from real JAX.
set -eu
cd "$(dirname "$0")/.."
export TUTTI_DEVICES=4
echo '$ tutti devices'
build/tutti devices
for lesson in 02_pmap 03_shapes 04_train; do
    echo
    echo "\$ TUTTI_DEVICES=4 build/examples/$lesson        # examples/$lesson.c"
    build/examples/$lesson
done
echo
echo '$ tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4'
build/tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4
echo
echo '$ JAX_PLATFORMS=tutti python examples/lesson.py'
JAX_PLATFORMS=tutti XLA_FLAGS=--xla_force_host_platform_device_count=4 build/venv/bin/python examples/lesson.py
