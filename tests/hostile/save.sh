#!/usr/bin/env bash
# Two processes save, restore and read together, and one has no memory (save.c): both are told, in that call.
# For `make hostile`, whose build it runs; without an MPI it is not tried, and says so.
set -u
cd "$(dirname "$0")/../.."
. tests/hosts/mpi.sh
mpi=openmpi
mpi_is_there $mpi || { echo "save.sh: $mpi is not installed: not tried" >&2; exit 0; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
TUTTI_DEVICES=2 mpi_run $mpi 2 "$BUILD/hostile-save" "$folder" || exit 1
cmp "$folder/0" "$folder/1"
