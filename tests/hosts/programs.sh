#!/bin/bash
# programs.sh - the programs that check themselves, with their devices in several processes.
#
#     tests/hosts/programs.sh MPI PROCESSES DEVICES      for programs of so many devices together
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
. tests/hosts/mpi.sh
mpi_is_there "$1" || { echo "programs.sh: $1 is not installed: not tried" >&2; exit 0; }
export TUTTI_PLUGIN=$(realpath "$build")/pjrt_plugin_tutti.so
TUTTI_DEVICES=$(($3 / $2)) mpi_run "$1" "$2" "$build/tests/hosts/programs" tests/programs/*_"$3".mlir
