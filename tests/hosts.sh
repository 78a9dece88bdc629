#!/bin/bash
# hosts.sh - devices in several processes: the lessons print what one process prints, programs that check
# themselves are right, arrays are saved and restored by any number of processes, and a process that is
# lost is named by the others.  With each MPI that is installed; one that is not is named, and not tried.
set -u
cd "$(dirname "$0")/.."
tests/hosts/arrays.sh openmpi && tests/hosts/kills.sh && tests/hosts/faults.sh openmpi skip flight late other swap branch circle large &&
    tests/hosts/programs.sh openmpi 2 4 && tests/hosts/programs.sh mpich 4 8 &&
    tests/hosts/two_hosts.sh lesson -- mpich && tests/hosts/lessons.sh openmpi -- 2 &&
    tests/hosts/lessons.sh mpich -- 4
