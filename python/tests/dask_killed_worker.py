"""A sweep and branching on a Dask cluster of which one worker is killed in the middle: nothing lost, nothing double."""

import os
import signal

import zbound as zb
from distributed import Client, LocalCluster

GRID = {"family": "gaussian", "graph": "complete", "d": 13, "seed": range(60), "method": ["quantum", "trw"]}


def sweep() -> None:
    """Compares the rows with those of a sweep in this process."""
    killed = []
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())

        def kill(done: int, total: int) -> None:
            if done == total // 4:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(done)

        rows = zb.sweep(GRID, executor=client.get_executor(), progress=kill)
    expected = zb.sweep(GRID)
    assert killed and len({row["key"] for row in rows}) == len(rows) == len(expected) == 120
    for row, other in zip(rows, expected):
        assert {**row, "seconds": None} == {**other, "seconds": None}
    print("same records")


def branch() -> None:
    """Compares the bracket with that of this process."""
    model = zb.generate("gaussian", "complete", d=34, seed=3)
    killed = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())

        def kill(seconds: float, lower: float, upper: float) -> None:
            if not killed:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(seconds)

        executor = client.get_executor()
        found = zb.branch(model, max_tasks=33, splits=1, method="quantum", executor=executor, progress=kill)
    alone = zb.branch(model, max_tasks=33, splits=1, method="quantum")
    assert killed and found.log_z == alone.log_z and found.tasks == alone.tasks
    print("same bracket")


if __name__ == "__main__":
    sweep()
    branch()
