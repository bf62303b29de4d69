"""A sweep over MPI processes: mpi4py's pool is a `concurrent.futures` executor.

mpiexec -n 3 python -m mpi4py.futures mpi_sweep.py
"""

import zbound as zb
from mpi4py.futures import MPIPoolExecutor

GRID = {"family": "trw-mixed", "graph": "grid", "d": [9, 16], "w": 0.5, "seed": range(6), "method": ["quantum", "trw"]}


def main() -> None:
    """Runs the grid on all processes but the first, then on that one, and compares."""
    with MPIPoolExecutor() as pool:
        rows = zb.sweep(GRID, executor=pool)
    print(rows.to_dataframe().groupby(["method", "d"])["error"].mean())
    for mine, theirs in zip(zb.sweep(GRID), rows):
        assert {**mine, "seconds": None} == {**theirs, "seconds": None}
    print("same records")


if __name__ == "__main__":
    main()
