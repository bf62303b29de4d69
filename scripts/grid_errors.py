#!/usr/bin/env python3
"""Error per spin of upper bounds on 15 x 15 grids, fields U[-1/2, 1/2], couplings U[-a, a]: a table of docs/performance.md.

    scripts/grid_errors.py [--zbound PATH] [--time-limit S] [--draws N] [--ibound I] METHOD...

`--ibound` limits the tables of every method but `exact`, which says what the error is.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

SIDE = 15
STRENGTHS = (1.0, 3.0)


def draw(a: float, number: int, path: Path) -> None:
    """Writes a model; the same one for the same strength and number."""
    rng = random.Random(f"{a} {number}")
    fields = [rng.uniform(-0.5, 0.5) for _ in range(SIDE * SIDE)]
    pairs = [(i, i + 1) for i in range(SIDE * SIDE) if (i + 1) % SIDE]
    pairs += [(i, i + SIDE) for i in range(SIDE * (SIDE - 1))]
    couplings = [[i, j, rng.uniform(-a, a)] for i, j in pairs]
    path.write_text(json.dumps({"d": SIDE * SIDE, "fields": fields, "couplings": couplings}))


def upper(zbound: str, path: Path, method: str, *options: str) -> float:
    """The certified upper bound on log Z."""
    command = [zbound, "bound", str(path), "-m", method, "--json", *options]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    return json.loads(text)["results"][0]["log_z"]["upper"]


def main() -> None:
    """Prints mean and largest error per spin of every method and strength."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zbound", default="zbound")
    parser.add_argument("--time-limit", default="20")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--ibound", default="10")
    parser.add_argument("methods", nargs="+", metavar="METHOD")
    asked = parser.parse_args()
    limits = ["--time-limit", asked.time_limit, "--ibound", asked.ibound]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.json"
        for a in STRENGTHS:
            errors: dict[str, list[float]] = {method: [] for method in asked.methods}
            for number in range(asked.draws):
                draw(a, number, path)
                exact = upper(asked.zbound, path, "exact")
                for method, list_ in errors.items():
                    list_.append((upper(asked.zbound, path, method, *limits) - exact) / SIDE**2)
            for method, list_ in errors.items():
                print(f"a = {a:g}  {method:10s} mean {statistics.mean(list_):.5f}  largest {max(list_):.5f}")


if __name__ == "__main__":
    main()
