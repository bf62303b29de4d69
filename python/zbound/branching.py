"""Branching to any gap, on any `concurrent.futures` executor."""

from __future__ import annotations

import heapq
import math
import time
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Callable, Optional

from . import _zbound
from ._zbound import Model
from .bounds import Bounds
from .errors import SettingError
from .inputs import ModelLike, plain
from .tasks import run_all

__all__ = ["Branching", "branch", "run_task"]

# A part: variables and states that are fixed, lower bound, upper bound, whether it is exact.
Part = tuple[list[tuple[int, int]], float, float, bool]


@dataclass(frozen=True)
class Branching:
    """The bracket that `branch` proved, and how it came about."""

    log_z: Bounds
    """Certified sides of eps log Z."""
    status: str
    """`converged` when the gap asked for was reached, `time-limit`, or `iteration-limit`."""
    method: str
    """The bound of parts."""
    parts: int
    """Parts of the state space at the end."""
    tasks: int
    """Tasks that were done."""
    seconds: float
    history: tuple[tuple[float, float, float], ...]
    """(seconds, lower, upper) after every round."""


def run_task(
    model: Model,
    states: list[tuple[int, int]],
    eps: float,
    splits: int,
    method: Optional[str],
    seed: int,
    time_limit: Optional[float] = None,
) -> tuple[list[Part], str]:
    """Splits one part of the state space, where the executor runs it; the answer is a few kilobytes."""
    return _zbound._branch_expand(
        model,
        [(int(i), int(s)) for i, s in states],
        eps=eps,
        splits=splits,
        method=method,
        time_limit=time_limit,
        memory_limit=None,
        seed=seed,
    )


def branch(
    model: ModelLike,
    *,
    executor: Optional[Executor] = None,
    target_gap: Optional[float] = None,
    time_limit: Optional[float] = None,
    eps: float = 1.0,
    method: Optional[str] = None,
    splits: int = 8,
    batch: int = 8,
    max_tasks: Optional[int] = None,
    seed: int = 0,
    progress: Optional[Callable[[float, float, float], Any]] = None,
) -> Branching:
    """Bounds eps log Z from both sides by splitting the state space until a gap or a limit.

    Args:
        model: any model.
        executor: anything with `submit` that returns futures: a process pool, Dask's `client.get_executor()`,
            mpi4py's `MPIPoolExecutor`, Ray through the adapter in `examples/python`. Tasks run one after another
            without one. The bracket does not depend on it; what a broken pool leaves undone is done here, with a
            warning.
        target_gap: width of the bracket at which to stop; 1e-6 of log Z by default.
        time_limit: seconds after which no new task is handed out.
        eps: temperature.
        method: bound of the parts, `quantum`, `logdet`, `trw`, `combined` or `wmb`; tried and chosen by default.
        splits: rounds of splitting in a task: more make larger tasks.
        batch: parts that are handed out at a time, at least as many as there are workers. The bracket depends on it, and
            not on the workers.
        max_tasks: tasks after which to stop.
        seed: of randomised orders.
        progress: called with (seconds, lower, upper) after every round.

    >>> import numpy as np, zbound as zb
    >>> model = zb.generate("gaussian", "complete", d=8, seed=1)
    >>> found = zb.branch(model)
    >>> found.log_z.lower <= zb.exact(model).log_z.estimate <= found.log_z.upper
    True
    """
    for name, value in (("splits", splits), ("batch", batch)):
        if not value >= 1:
            raise SettingError(f"{name} = {value}: expected at least 1")
    if target_gap is not None and not target_gap >= 0:
        raise SettingError(f"target_gap = {target_gap}: expected a width of at least 0")
    model = plain(model)
    start = time.monotonic()
    first, method = run_task(model, [], eps, splits, method, seed, time_limit)
    parts: list[Part] = list(first)
    best = _zbound._branch_total([(p[1], p[2]) for p in parts], eps)
    history = [(time.monotonic() - start, *best)]
    tasks, status = 1, "converged"
    while not _is_closed(best, target_gap):
        if time_limit is not None and time.monotonic() - start >= time_limit:
            status = "time-limit"
            break
        if max_tasks is not None and tasks >= max_tasks:
            status = "iteration-limit"
            break
        chosen = _widest(parts, eps, batch)
        if not chosen:
            status = "stalled"
            break
        jobs = [(model, parts[k][0], eps, splits, method, seed) for k in chosen]
        taken = set(chosen)
        parts = [p for k, p in enumerate(parts) if k not in taken]
        for answer, _ in run_all(run_task, jobs, executor):
            parts.extend(answer)
        tasks += len(jobs)
        low, high = _zbound._branch_total([(p[1], p[2]) for p in parts], eps)
        best = (max(best[0], low), min(best[1], high))
        history.append((time.monotonic() - start, *best))
        if progress is not None:
            progress(*history[-1])
    sides = [side if math.isfinite(side) else None for side in best]
    bounds = Bounds(sides[0], sides[1], None)
    seconds = time.monotonic() - start
    return Branching(bounds, status, method, len(parts), tasks, seconds, tuple(history))


def _is_closed(best: tuple[float, float], target: Optional[float]) -> bool:
    low, high = best
    gap = target if target is not None else 1e-6 * max(1.0, abs(high))
    return high == -math.inf or high - low <= gap


def _widest(parts: list[Part], eps: float, count: int) -> list[int]:
    """The parts that contribute most to the width."""

    def weight(part: Part) -> float:
        _, low, high, exact = part
        if exact or high == -math.inf:
            return -math.inf
        gap = (low - high) / eps
        return high + eps * (math.log(-math.expm1(gap)) if gap < 0 else -math.inf)

    weights = [(weight(part), -k) for k, part in enumerate(parts)]
    return [-k for w, k in heapq.nlargest(count, weights) if w > -math.inf]
