#!/bin/sh
# `make run`: the lesson on four devices, from the command line and from real JAX.
set -eu
cd "$(dirname "$0")/.."
echo '$ tutti devices'
TUTTI_DEVICES=4 build/tutti devices
echo
echo '$ tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4'
build/tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4
echo
echo '$ JAX_PLATFORMS=tutti python examples/lesson.py'
JAX_PLATFORMS=tutti XLA_FLAGS=--xla_force_host_platform_device_count=4 build/venv/bin/python examples/lesson.py
