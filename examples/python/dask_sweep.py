"""A sweep on a Dask cluster: any `concurrent.futures` executor will do, Dask's is one."""

import zbound as zb
from distributed import Client, LocalCluster

GRID = {
    "family": "trw-mixed",
    "graph": "grid",
    "d": [9, 16],
    "w": [0.5, 1.0],
    "seed": range(3),
    "method": ["quantum", "trw"],
}


def main() -> None:
    """Runs the grid on two workers and without a cluster, and compares."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        rows = zb.sweep(GRID, executor=client.get_executor())
    frame = rows.to_dataframe()
    print(frame.groupby(["method", "w"])["log_z_upper"].mean())
    assert [row["log_z_upper"] for row in rows] == [row["log_z_upper"] for row in zb.sweep(GRID)]


if __name__ == "__main__":
    main()
