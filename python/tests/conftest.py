"""What the tests share."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("ZBOUND_FULL") == "1"


@pytest.fixture(autouse=True)
def sigint_is_heard():
    """Whoever starts the tests in the background of a script has them, and the processes they start, ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def need(module: str):
    """The module, or a skip that says which package is missing."""
    return pytest.importorskip(module, reason=f"{module} is not installed (scripts/test.sh --full)")


def brute_force(f, d: int, eps: float = 1.0) -> float:
    """eps log sum_x exp(f(x)/eps) by listing every state."""
    values = np.array([f(np.array(x)) for x in itertools.product([-1, 1], repeat=d)]) / eps
    top = values.max()
    return float(eps * (top + np.log(np.exp(values - top).sum())))


def random_ising(rng: np.random.Generator, d: int, scale: float = 1.0):
    """Fields and a symmetric matrix of couplings."""
    upper = np.triu(rng.normal(size=(d, d)), 1) * scale
    return rng.normal(size=d) * scale, upper + upper.T


@pytest.fixture
def rng(request) -> np.random.Generator:
    """Reproducible for every test on its own."""
    return np.random.default_rng(sum(map(ord, request.node.name)))
