"""Launchers that jax.distributed.initialize() does not know: MPICH's, and that of Open MPI 5.

A program that says `import jax_tutti` before it is started by them as by those that JAX knows.  They do
not say where process 0 is: when all processes are on one host it is there, else JAX_COORDINATOR_ADDRESS
must name its host and a port that is free there.
"""
import os
import pathlib
import zlib

try:
    from jax._src import clusters
except ImportError:  # another JAX: its own launchers only
    clusters = None

FIRST_PORT, PORTS = 61440, 4096


def _starter():
    """What the processes of a job on this host have in common: the process of MPICH that started them."""
    pid = os.getpid()
    while pid > 1:
        words = pathlib.Path("/proc", str(pid), "stat").read_text()
        if words.partition("(")[2].startswith("hydra_pmi_prox"):
            break
        pid = int(words.rpartition(")")[2].split()[1])
    return str(pid)


def _number(name):
    return int(os.environ[name])


if clusters is not None:
    class _Launcher(clusters.ClusterEnv):
        """The names of four variables: the process, how many there are, and the same on this host."""
        opt_in_only_method = True  # this one is not a launcher, those made of it are
        variables = ("",) * 4

        @classmethod
        def is_env_present(cls):
            return all(name in os.environ for name in cls.variables)

        @classmethod
        def job(cls):
            raise NotImplementedError

        @classmethod
        def get_coordinator_address(cls, timeout_secs, override_coordinator_port):
            if _number(cls.variables[1]) != _number(cls.variables[3]):
                raise RuntimeError(
                    "jax_tutti: the processes are on several hosts, and this launcher does not say where process 0 "
                    "is: set JAX_COORDINATOR_ADDRESS=host:port for all of them, to its host and a free port there")
            port = override_coordinator_port or FIRST_PORT + zlib.crc32(cls.job().encode()) % PORTS
            return f"localhost:{port}"

        @classmethod
        def get_process_count(cls):
            return _number(cls.variables[1])

        @classmethod
        def get_process_id(cls):
            return _number(cls.variables[0])

        @classmethod
        def get_local_process_id(cls):
            return _number(cls.variables[2])

    class Hydra(_Launcher):
        name = "hydra"
        opt_in_only_method = False
        variables = ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")

        @classmethod
        def job(cls):
            return _starter()

    class Prte(_Launcher):
        name = "prte"  # of Open MPI 5
        opt_in_only_method = False
        variables = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                     "OMPI_COMM_WORLD_LOCAL_SIZE")

        @classmethod
        def is_env_present(cls):
            return "PMIX_NAMESPACE" in os.environ and super().is_env_present()

        @classmethod
        def job(cls):
            return os.environ["PMIX_NAMESPACE"]
