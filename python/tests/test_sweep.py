"""Sweeps: the records of the command line, on any executor."""

import concurrent.futures
import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import FULL, ROOT, need

import zbound as zb

GRID = {"family": "gaussian", "graph": "complete", "d": [4, 6], "seed": np.arange(3), "method": ["quantum", "trw"]}

CONFIG = """
draws = 2
seed = 5
[[grid]]
name = "small"
family = ["gaussian", "trw-mixed"]
graph = ["complete", "grid"]
d = [4, 9]
w = { from = 0.2, to = 0.4, points = 2 }
eps = [0.5, 1.0]
[[grid]]
name = "seeded"
family = "logdet-mixed"
d = 6
w = 0.3
seed = [3, 1]
[[method]]
method = "quantum"
n = [7, 10]
grids = ["seeded"]
curve = "quantum {n}"
[[method]]
method = "trw"
rho = ["uniform", "optimized"]
[[method]]
method = "mean-field"
[[method]]
method = "quantum-greedy"
greedy = [2, 1]
curve = "greedy_{k}"
[[method]]
method = "quantum"
solver = "chambolle-pock"
gap = 1e-3
trace = true
[[method]]
method = "exact"
[[method]]
method = "kl-greedy"
greedy = [0, 2]
[figure]
title = "ignored here"
x = "w"
x_label = "w"
panel = []
"""


def without_times(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def command_line() -> str:
    """The program built by the Rust tests, or a skip that says so."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    program = os.environ.get("ZBOUND_CLI", str(folder / "zbound"))
    if not os.path.exists(program):
        pytest.skip(f"SKIPPED: {program} is not built (cargo build --release -p zbound-cli), or name it in ZBOUND_CLI")
    return program


def cell(text: str, like):
    """A cell of records.csv in the type of a Python value."""
    if text == "":
        return None
    return {"true": True, "false": False}[text] if isinstance(like, bool) else type(like)(text)


def test_records_are_those_of_the_command_line(tmp_path):
    config = tmp_path / "sweep.toml"
    config.write_text(CONFIG)
    arguments = [command_line(), "sweep", str(config), "--out", str(tmp_path / "out"), "--workers", "2"]
    subprocess.run(arguments, check=True, capture_output=True)
    mine = zb.sweep(config)
    with open(tmp_path / "out" / "records.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(mine) == len(table) > 100
    for row, theirs in zip(mine, table):
        assert list(row) == list(theirs)
        for column, value in row.items():
            if column != "seconds":
                assert value == (None if value is None and theirs[column] == "" else cell(theirs[column], value)), column
    lines = map(json.loads, (tmp_path / "out" / "records.jsonl").read_text().splitlines())
    stored = {record["key"]: record for record in lines}
    assert len(stored) == len(mine)
    for record in mine.records:
        theirs = stored[record["key"]]
        assert list(record) == list(theirs)
        assert without_times([record]) == without_times([theirs])
    mine.save(tmp_path / "mine.jsonl")
    plot = [command_line(), "plot", str(tmp_path / "mine.jsonl"), "--x", "w", "--y", "error", "--out"]
    subprocess.run([*plot, str(tmp_path / "mine.svg")], check=True, capture_output=True)


def test_a_flat_grid_and_a_configuration_are_the_same_sweep():
    flat = zb.sweep({"family": "trw-mixed", "graph": "grid", "d": 4, "w": [0.5, 1.0], "draws": 2, "seed": 3,
                     "method": ["quantum", "trw"], "tol": 1e-6})  # fmt: skip
    methods = [{"method": "quantum", "tol": 1e-6}, {"method": "trw", "tol": 1e-6}]
    grid = {"family": "trw-mixed", "graph": "grid", "d": 4, "w": [0.5, 1.0]}
    nested = zb.sweep({"draws": 2, "seed": 3, "grid": [grid], "method": methods})
    assert without_times(flat) == without_times(nested) and len(flat) == 8
    assert without_times(flat.records) == without_times(nested.records)


def test_rows_are_what_bound_says():
    for row in zb.sweep({**GRID, "eps": 0.5, "features": [[], [0], [1], [2], [3], [4], [5]], "d": 6}):
        model = zb.generate(row["family"], row["graph"], d=row["d"], seed=row["seed"])
        features = [[], [0], [1], [2], [3], [4], [5]]
        solution = zb.bound(model, row["method"], eps=row["eps"], features=features)
        assert row["log_z_upper"] == solution.log_z.upper and row["bound"] == row["phi_upper"] == solution.phi.upper
        assert row["status"] == solution.status and row["iterations"] == solution.iterations
        assert np.isclose(row["exact"], zb.exact(model, eps=0.5).phi.estimate)


def test_a_sweep_does_not_depend_on_the_executor():
    serial = zb.sweep(GRID)
    assert len(serial) == 12 and len(serial.to_dataframe()) == 12
    done = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        threads = zb.sweep(GRID, executor=pool, progress=lambda k, n: done.append((k, n)))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        processes = zb.sweep(GRID, executor=pool)
    assert without_times(threads) == without_times(serial) == without_times(processes)
    assert done == [(k, 6) for k in range(1, 7)]


def test_a_sweep_takes_models_and_files(tmp_path):
    model = zb.generate("gaussian", "complete", d=4, seed=1)
    other = zb.Ising([0.5, 0.25, 0.0, -0.25])
    fixed = zb.read(ROOT / "examples" / "sprinkler.uai").with_evidence({0: 1})
    model.write(tmp_path / "m.json")
    cells = [
        {"model": [model, other], "method": ["quantum", "trw"], "eps": 2.0},
        {"model": [tmp_path / "m.json", fixed, model], "method": "exact"},
    ]
    rows = zb.sweep(cells)
    assert [row["method"] for row in rows] == ["quantum", "trw"] * 2 + ["exact"] * 3 and rows[0]["eps"] == 2.0
    assert len({row["key"] for row in rows}) == len(rows) and rows[0]["model"] != rows[2]["model"]
    assert rows[4]["model"] == str(tmp_path / "m.json") and rows[4]["log_z_upper"] == rows[6]["log_z_upper"]
    assert np.isclose(rows[5]["log_z_estimate"], zb.exact(fixed).log_z.estimate) and rows[5]["marginal_error"] == 0.0
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert without_times(zb.sweep(cells, executor=pool)) == without_times(rows)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"family": "gaussian", "d": 4}, "method"),
        ({"method": "quantum"}, "family"),
        ({"family": "gaussian", "d": 4, "method": "magic"}, "magic"),
        ({"family": "gaussian", "d": 4, "method": "quantum", "threads": 2}, "threads"),
        ({"family": "gaussian", "d": 4, "method": "quantum", "tol": -1.0}, "tol"),
        ({"family": "gausian", "d": 4, "method": "quantum"}, "gausian"),
        ({"family": "gaussian", "d": 4, "method": "quantum", "tol": object()}, "object"),
        ({"grid": [{"family": "gaussian", "d": 4}]}, "method"),
    ],
)
def test_mistakes_are_named(grid, message):
    with concurrent.futures.ThreadPoolExecutor(1) as pool, pytest.raises(zb.SettingError, match=message):
        zb.sweep(grid, executor=pool)


def test_one_bad_instance_is_a_record():
    rows = zb.sweep({"family": "gaussian", "graph": "regular", "d": [4, 5], "method": "quantum"})
    assert [row["status"] for row in rows] == ["converged", "error"] and "regular" in rows[1]["reason"]


class Flaky(concurrent.futures.ProcessPoolExecutor):
    """A process pool one of whose workers is killed in the middle of the sweep."""

    calls = 0

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        if self.calls == 4:
            return super().submit(os.kill, next(iter(self._processes)), signal.SIGKILL)
        return super().submit(fn, *args, **kwargs)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_what_a_broken_pool_leaves_undone_is_done_here():
    context = multiprocessing.get_context("spawn")
    killed = Flaky(2, mp_context=context)
    with killed, pytest.warns(RuntimeWarning, match="broke"):
        rows = zb.sweep({**GRID, "seed": range(20)}, executor=killed)
    assert without_times(rows) == without_times(zb.sweep({**GRID, "seed": range(20)}))


def test_ctrl_c_stops_a_sweep():
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        zb.sweep({"family": "gaussian", "d": 34, "exact_operations": 1e15, "method": "exact"})


def run_example(name: str, *launcher: str, timeout: float = 120, **environment: str) -> str:
    script, *arguments = name.split()
    script = str(ROOT / "examples" / "python" / script)
    command = [*(launcher or [sys.executable]), script, *arguments]
    environment = {**os.environ, **environment}
    run = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_branch_example_runs_on_a_process_pool():
    assert "<= log Z <=" in run_example("branch_workers.py")


@pytest.mark.skipif(not FULL, reason="SKIPPED: starts a cluster (scripts/test.sh --full)")
def test_the_dask_examples_run():
    need("distributed")
    run_example("dask_sweep.py")
    run_example("branch_workers.py dask")


@pytest.mark.skipif(not FULL, reason="SKIPPED: starts a cluster (scripts/test.sh --full)")
def test_a_killed_dask_worker_loses_nothing_and_doubles_nothing():
    need("distributed")
    printed = run_example("../../python/tests/dask_killed_worker.py", timeout=240)
    assert "same records" in printed and "same bracket" in printed


@pytest.mark.skipif(not FULL, reason="SKIPPED: starts Ray (scripts/test.sh --full)")
def test_the_ray_example_runs(tmp_path):
    need("ray")
    # Ray leaves files in the home folder.
    assert "same records" in run_example("ray_sweep.py", HOME=str(tmp_path))


@pytest.mark.skipif(not FULL, reason="SKIPPED: starts MPI processes (scripts/test.sh --full)")
def test_the_mpi_example_runs():
    need("mpi4py")
    launcher = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(launcher) if launcher.exists() else "mpiexec"
    try:
        out = run_example("mpi_sweep.py", mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures")
    except FileNotFoundError:
        pytest.skip("SKIPPED: mpi4py is there but no mpiexec is (pip install impi-rt, or the system's MPI)")
    assert "same records" in out
