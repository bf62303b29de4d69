#!/usr/bin/env python3
"""Every method on models of several kinds, as the table of docs/guide/methods.md.

    scripts/measure_methods.py [--zbound PATH] [--time-limit S] > docs/guide/measured.md

Models are drawn by `zbound generate` or below, so that the table can be made again anywhere; bounds repeat, times do not.
Needs NumPy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

GENERATED = {
    "glass of 12 spins": "--family gaussian --graph complete --d 12 --seed 1",
    "glass of 40 spins": "--family logdet-mixed --graph complete --d 40 --w 0.25 --seed 3",
    "glass of 200 spins": "--family logdet-mixed --graph complete --d 200 --w 0.1 --seed 1",
    "attractive, 40 spins": "--family logdet-attractive --graph complete --d 40 --w 0.02 --seed 1",
    "chain of 10,000": "--family trw-mixed --graph chain --d 10000 --w 1 --seed 1",
    "grid 20 x 20": "--family trw-mixed --graph grid --d 400 --w 1 --seed 1",
    "ferromagnet 50 x 50": "--family trw-attractive --graph grid --d 2500 --w 0.5 --seed 1",
    "3-regular, 240 spins": "--family trw-mixed --graph regular --d 240 --w 1.5 --seed 1",
}
METHODS = ["exact", "auto", "wmb", "mean-field", "bethe", "quantum", "logdet", "trw", "combined", "branch"]


def triples(path: Path) -> None:
    """Sixty spins in a hundred products of three."""
    rng = np.random.default_rng(1)
    scopes: set[tuple[int, ...]] = set()
    while len(scopes) < 100:
        scopes.add(tuple(sorted(int(i) for i in rng.choice(60, 3, replace=False))))
    terms = [[list(scope), float(rng.normal())] for scope in sorted(scopes)]
    path.write_text(json.dumps({"d": 60, "terms": terms}))


def potts(path: Path) -> None:
    """A 16 x 16 grid of variables with three states, couplings of both signs."""
    rng, side = np.random.default_rng(1), 16
    pairs = [(i, i + 1) for i in range(side * side) if (i + 1) % side]
    pairs += [(i, i + side) for i in range(side * (side - 1))]
    factors = [{"scope": list(p), "log": (rng.normal() * np.eye(3)).ravel().tolist()} for p in pairs]
    path.write_text(json.dumps({"cardinalities": [3] * side**2, "factors": factors}))


def models(zbound: str, folder: Path) -> dict[str, Path]:
    """The file of every model."""
    files = {}
    for number, (name, options) in enumerate(GENERATED.items()):
        files[name] = folder / f"{number}.json"
        subprocess.run([zbound, "generate", *options.split(), "--out", str(files[name])], check=True)
    files["60 spins, terms of three"] = folder / "triples.json"
    triples(files["60 spins, terms of three"])
    files["Potts 16 x 16, 3 states"] = folder / "potts.json"
    potts(files["Potts 16 x 16, 3 states"])
    return files


def known(zbound: str) -> list[str]:
    """The methods that this `zbound` has."""
    text = subprocess.run([zbound, "bound", "--help"], capture_output=True, text=True, check=True).stdout
    return [method for method in METHODS if f"- {method}:" in text]


def cell(zbound: str, file: Path, method: str, limit: float) -> str:
    """Both sides of one method and its seconds, or a dash."""
    command = [zbound, "bound", str(file), "--method", method, "--time-limit", str(limit), "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if not run.stdout:
        return "-"
    document = json.loads(run.stdout)
    best, results = document["best"]["log_z"], document["results"]
    if best["lower"] is None and best["upper"] is None:
        return "-"
    if method != "auto" and all(r["status"] in ("not-applicable", "skipped") for r in results):
        return "-"
    seconds = sum(r["seconds"] for r in results)
    if seconds == 0.0 or (method == "exact" and results[0]["status"] != "converged"):
        # Not begun; the bracket is that of the coefficients alone.
        return "-"
    return f"{sides(best['lower'], best['upper'])}<br>{clock(seconds)}"


def clock(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds < 0.1 else f"{seconds:.1f} s"


def sides(lower: float | None, upper: float | None) -> str:
    """A bracket with six digits, rounded outward."""
    if lower is None:
        return f"<= {outward(upper, 1)}"
    if upper is None:
        return f">= {outward(lower, -1)}"
    if upper - lower <= 1e-6 * max(1.0, abs(lower)):
        return f"**{upper:.7g}**"
    return f"{outward(lower, -1)} .. {outward(upper, 1)}"


def outward(value: float, side: int) -> str:
    digits = max(0, 5 - len(str(int(abs(value)))))
    scale = 10.0**digits
    return f"{(np.ceil if side > 0 else np.floor)(value * scale) / scale:.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zbound", default="zbound")
    parser.add_argument("--time-limit", type=float, default=20.0)
    options = parser.parse_args()
    methods = known(options.zbound)
    print("| model | " + " | ".join(f"`{m}`" for m in methods) + " |")
    print("|---" * (len(methods) + 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name, file in models(options.zbound, Path(folder)).items():
            cells = [cell(options.zbound, file, method, options.time_limit) for method in methods]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
