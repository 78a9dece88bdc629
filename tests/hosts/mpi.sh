# mpi.sh - sourced: how to start processes with each MPI.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# mpi_is_there MPI
mpi_is_there()
{
    case $1 in
        openmpi) command -v mpirun.openmpi > /dev/null ;;
        mpich) command -v mpiexec.hydra > /dev/null ;;
        *) false ;;
    esac && [ -f "${BUILD:-build}/tutti_mpi_$1.so" ]
}

# mpi_run MPI PROCESSES COMMAND...: at most a minute.
mpi_run()
{
    local mpi=$1 n=$2
    shift 2
    case $mpi in
        openmpi) timeout -s KILL 60 mpirun.openmpi --oversubscribe -n "$n" "$@" ;;
        mpich) timeout -s KILL 60 mpiexec.hydra -n "$n" "$@" ;;
    esac
}

# The same, and the launcher lets the others live when one dies.
mpi_run_on()
{
    local mpi=$1 n=$2
    shift 2
    case $mpi in
        openmpi) timeout -s KILL 30 mpirun.openmpi --oversubscribe --enable-recovery -n "$n" "$@" ;;
        mpich) timeout -s KILL 30 mpiexec.hydra -disable-auto-cleanup -n "$n" "$@" ;;
    esac
}
