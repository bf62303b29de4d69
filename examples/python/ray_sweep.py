"""A sweep on Ray, which has no `concurrent.futures` executor: these ten lines are one."""

from concurrent.futures import Executor, Future
from typing import Any, Callable

import ray
import zbound as zb

GRID = {"family": "trw-mixed", "graph": "grid", "d": [9, 16], "w": 0.5, "seed": range(6), "method": ["quantum", "trw"]}


class RayExecutor(Executor):
    """Runs every call as a Ray task; Ray itself repeats the tasks of a worker that dies."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """A future of `fn(*args, **kwargs)`."""
        return ray.remote(fn).remote(*args, **kwargs).future()


def main() -> None:
    """Runs the grid on Ray and without it, and compares."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    rows = zb.sweep(GRID, executor=RayExecutor())
    ray.shutdown()
    print(rows.to_dataframe().groupby(["method", "d"])["error"].mean())
    for mine, theirs in zip(zb.sweep(GRID), rows):
        assert {**mine, "seconds": None} == {**theirs, "seconds": None}
    print("same records")


if __name__ == "__main__":
    main()
