"""Other programs that `zbound bench suite --python` runs, each in the process that the suite would start."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, need

import zbound as zb

SUITE = ROOT / "crates" / "bench" / "src" / "suite"
# What the suite hands to Python.
SCRIPT = "\n".join((SUITE / name).read_text() for name in ("relaxations.py", "others.py"))


def said(*arguments, given=""):
    """The lines that the script prints."""
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    run = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def uai(path, rng, d, pairs):
    """A model of positive random tables over `pairs`, written to `path`."""
    lines = ["MARKOV", str(d), " ".join(["2"] * d), str(len(pairs))]
    lines += [f"2 {a} {b}" for a, b in pairs]
    lines += ["4 " + " ".join(f"{x:.6f}" for x in rng.uniform(0.3, 3.0, 4)) for _ in pairs]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("given", [{}, {0: 1, 5: 0}])
def test_pygms_sums_a_small_grid_to_the_same_number(rng, tmp_path, given):
    need("pygms")
    across = [(i, i + 1) for i in range(16) if i % 4 < 3]
    path = uai(tmp_path / "grid.uai", rng, 16, across + [(i, i + 4) for i in range(12)])
    evidence = tmp_path / "grid.evid"
    evidence.write_text(" ".join(map(str, [len(given), *itertools.chain(*given.items())])))
    (line,) = said("pygms", path, evidence, 10)
    exact = zb.exact(zb.read(path).with_evidence({v: 2 * state - 1 for v, state in given.items()}))
    assert line["value"] == pytest.approx(exact.log_z.lower, abs=1e-9)


def test_mini_buckets_of_pygms_lie_on_both_sides_of_the_exact_sum(rng, tmp_path):
    need("pygms")
    # One clique, wider than what the script sums exactly.
    path = uai(tmp_path / "clique.uai", rng, 24, list(itertools.combinations(range(24), 2)))
    lines = said("pygms", path, "", 2)
    exact = zb.exact(zb.read(path)).log_z
    assert lines[-1]["lower"] <= exact.upper and exact.lower <= lines[-1]["upper"]
    ours = zb.bound(zb.read(path), "wmb", time_limit=2).log_z
    assert ours.lower <= lines[-1]["upper"] and lines[-1]["lower"] <= ours.upper


@pytest.mark.parametrize(("program", "method", "digits"), [("qics", "quantum", 1e-5), ("cvxpy", "logdet", 1e-3)])
def test_general_solvers_agree_on_the_relaxation(rng, program, method, digits):
    need(program)
    fields, couplings = rng.normal(size=8), np.triu(rng.normal(size=(8, 8)), 1)
    pairs = [[i, j, couplings[i, j]] for i, j in itertools.combinations(range(8), 2)]
    model = {"d": 8, "constant": 0.7, "fields": fields.tolist(), "couplings": pairs}
    (line,) = said(program, "-", "", 10, given=json.dumps(model))
    ours = zb.bound(zb.Ising(fields, couplings, constant=0.7), method).log_z.upper
    assert line["upper"] == pytest.approx(ours, rel=digits)
