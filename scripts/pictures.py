#!/usr/bin/env python3
"""The pictures of the README and the guide that come from runs.

    scripts/pictures.py [--zbound PATH] [--time-limit S]

Writes docs/images/bracket.svg (two brackets against time, from `zbound bound --trace`) and docs/images/combined.svg (a figure of the
paper with the combined bound, from `zbound reproduce`). Needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
PANELS = [
    ("20 x 20 grid, couplings of both signs", "--family trw-mixed --graph grid --d 400 --w 1 --seed 1"),
    ("random 3-regular graph, 240 spins", "--family trw-mixed --graph regular --d 240 --w 1.5 --seed 1"),
]
BLUE, RED = "#1f6fb2", "#c8443c"


def trace(zbound: str, options: str, limit: float, folder: Path) -> tuple[list[dict], float]:
    """The improvements of the bracket, and how long the run took."""
    model = folder / "model.json"
    subprocess.run([zbound, "generate", *options.split(), "--out", str(model)], check=True)
    command = [zbound, "bound", str(model), "--time-limit", str(limit), "--trace", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
    return lines, max(line["seconds"] for line in lines)


def best_so_far(lines: list[dict], side: str) -> tuple[list[float], list[float], list[str]]:
    """Times, values and methods at which one side became better."""
    better = max if side == "lower" else min
    times, values, methods = [], [], []
    for line in lines:
        value = line[side]
        if value is None or (values and better(values[-1], value) == values[-1]):
            continue
        times.append(max(line["seconds"], 1e-2))
        values.append(value)
        methods.append(line[f"{side}_method"])
    # The first bracket comes from the coefficients alone; a method that improves on itself is named once.
    named = ["coefficients"] + ["" if a == b else b for a, b in zip(["", *methods[1:]], methods[1:])]
    return times, values, named


def draw(axes: plt.Axes, lines: list[dict], end: float, title: str) -> None:
    curves = {}
    for side, colour, place in (("upper", RED, 8), ("lower", BLUE, -15)):
        times, values, methods = best_so_far(lines, side)
        axes.step([*times, end], [*values, values[-1]], where="post", color=colour, linewidth=2)
        axes.plot(times, values, "o", color=colour, markersize=4)
        for t, v, name in zip(times, values, methods):
            axes.annotate(name, (t, v), textcoords="offset points", xytext=(3, place), color=colour, fontsize=9)
        curves[side] = (times, values)
    at = sorted({t for times, _ in curves.values() for t in times} | {end})
    band = {s: [[v for u, v in zip(*curves[s]) if u <= t][-1] for t in at] for s in curves}
    axes.fill_between(at, band["lower"], band["upper"], step="post", color="#8888aa", alpha=0.18, linewidth=0)
    low, high = band["lower"][-1], band["upper"][-1]
    closed = high - low <= 1e-6 * max(1.0, abs(low))
    text = f"closed: log Z = {low:.6f}" if closed else f"{low:.2f} $\\leq$ log Z $\\leq$ {high:.2f}"
    axes.set_title(f"{title}\n{text}", fontsize=10.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda t, _: f"{t:g}")
    axes.set_xlabel("seconds")
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.margins(y=0.16)


def bracket(zbound: str, limit: float) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.6))
    with tempfile.TemporaryDirectory() as folder:
        for ax, (title, options) in zip(axes, PANELS):
            lines, end = trace(zbound, options, limit, Path(folder))
            draw(ax, lines, 2.0 * end, title)
    axes[0].set_ylabel("log Z lies between")
    figure.tight_layout()
    figure.savefig(IMAGES / "bracket.svg", metadata={"Date": None})
    figure.savefig(Path(tempfile.gettempdir()) / "bracket.png", dpi=110)


def combined(zbound: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([zbound, "reproduce", "comp_2", "--out", folder, "--combined"], check=True, capture_output=True)
        shutil.copy(Path(folder) / "comp_2" / "comp_2.svg", IMAGES / "combined.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zbound", default="zbound")
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    plt.rcParams["svg.hashsalt"] = "zbound"
    IMAGES.mkdir(exist_ok=True)
    combined(options.zbound)
    bracket(options.zbound, options.time_limit)


if __name__ == "__main__":
    main()
