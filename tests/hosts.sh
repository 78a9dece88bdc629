#!/bin/bash
# hosts.sh - devices in several processes: the lessons print what one process prints.  With each MPI
# that is installed; one that is not is named, and not tried.
set -u
cd "$(dirname "$0")/.."
tests/hosts/lessons.sh openmpi -- 2 && tests/hosts/lessons.sh mpich -- 4
