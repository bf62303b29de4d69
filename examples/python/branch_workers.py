"""`zb.branch` on workers of four kinds: `python branch_workers.py pool`, or dask, ray, mpi.

MPI: `mpiexec -n 3 python -m mpi4py.futures branch_workers.py mpi`.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

import zbound as zb


@contextmanager
def workers(kind: str) -> Iterator[Executor]:
    """An executor of a kind."""
    if kind == "dask":
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client:
            yield client.get_executor()
    elif kind == "ray":
        import ray
        from ray_sweep import RayExecutor

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield RayExecutor()
        ray.shutdown()
    elif kind == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            yield pool
    else:
        with ProcessPoolExecutor(2) as pool:
            yield pool


def main() -> None:
    """Brackets log Z of a dense model on workers and in this process, and compares."""
    model = zb.generate("trw-mixed", "complete", d=34, w=0.5, seed=7)
    goal = {"method": "quantum", "batch": 4, "splits": 1, "max_tasks": 12}
    with workers(sys.argv[1] if len(sys.argv) > 1 else "pool") as executor:
        found = zb.branch(model, executor=executor, **goal)
    print(f"{found.log_z.lower} <= log Z <= {found.log_z.upper} after {found.tasks} tasks")
    alone = zb.branch(model, **goal)
    assert (found.log_z.lower, found.log_z.upper) == (alone.log_z.lower, alone.log_z.upper)


if __name__ == "__main__":
    main()
