"""Exact inference in slices, on any `concurrent.futures` executor."""

from __future__ import annotations

import math
import time
from concurrent.futures import Executor
from itertools import product
from typing import Optional

import numpy as np

from . import _zbound
from ._zbound import Model
from .answers import Exact
from .bounds import Bounds, PairMoments
from .tasks import run_all

__all__ = ["run_slice", "sliced"]


def run_slice(
    model: Model,
    states: list[tuple[int, int]],
    order: list[int],
    eps: float,
    time_limit: Optional[float],
    memory_limit: Optional[int],
) -> tuple[float, float]:
    """Bounds on eps log Z with some states fixed, where the executor runs it; the answer is two numbers."""
    return _zbound._slice_solve(
        model, states, order, eps=eps, time_limit=time_limit, memory_limit=memory_limit
    )


def sliced(
    model: Model,
    executor: Executor,
    *,
    eps: float,
    time_limit: Optional[float],
    memory_limit: Optional[int],
) -> Exact:
    """log Z as a sum over slices of at most `memory_limit` bytes each, one task per slice."""
    start = time.monotonic()
    fixed, order, _, width = _zbound._slice_plan(model, time_limit=time_limit, memory_limit=memory_limit)
    names = [name for name, _ in fixed]
    slices = [list(zip(names, states)) for states in product(*(states for _, states in fixed))]
    left = None if time_limit is None else max(0.0, time_limit - (time.monotonic() - start))
    jobs = [(model, states, order, eps, left, memory_limit) for states in slices]
    rows = run_all(run_slice, jobs, executor)
    phi, log_z = _zbound._slice_total(model, rows, eps)
    nothing = PairMoments(np.empty((0, 2), np.int64), np.empty(0))
    return Exact(
        log_z=Bounds(*log_z),
        phi=Bounds(*phi),
        marginals=None,
        state_marginals=None,
        pairwise=nothing,
        entropy=math.nan,
        max_f=math.nan,
        argmax=np.empty(0, np.int64),
        algorithm="elimination",
        states_or_width=width,
        seconds=time.monotonic() - start,
    )
