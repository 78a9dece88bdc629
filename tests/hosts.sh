#!/bin/bash
# hosts.sh - devices in several processes: the lessons print what one process prints, arrays are saved and
# restored by any number of processes, and a process that is lost is named by the others.  With each MPI
# that is installed; one that is not is named, and not tried.
set -u
cd "$(dirname "$0")/.."
tests/hosts/arrays.sh openmpi && tests/hosts/kills.sh && tests/hosts/faults.sh openmpi skip &&
    tests/hosts/lessons.sh openmpi -- 2 && tests/hosts/lessons.sh mpich -- 4
