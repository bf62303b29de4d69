"""Branching to any gap, on any `concurrent.futures` executor."""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Callable, Optional

from . import _zbound
from ._zbound import Model
from .bounds import Bounds
from .errors import SettingError
from .inputs import ModelLike, plain
from .tasks import Submitted

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
    """(seconds, lower, upper) whenever half of a batch has come back."""


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
        batch: parts that are handed out at a time, at least twice as many as there are workers: half of them are chosen
            while the other half is under way. The bracket depends on it, and not on the workers.
        max_tasks: tasks after which to stop.
        seed: of randomised orders.
        progress: called with (seconds, lower, upper) whenever half of a batch has come back.

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
    search = _Search(plain(model), eps, method, splits, seed)
    search.begin(batch, time_limit)
    tasks, status = 1, "converged"
    # Half of a batch is chosen while the other half is under way, so that no worker waits for the slowest task of a
    # round. What is chosen depends on answers of earlier halves alone, and not on who is done first.
    half, most = -(-batch // 2), math.inf if max_tasks is None else max_tasks
    under_way: deque[_Wave] = deque()
    while not _is_closed(search.best, target_gap):
        if time_limit is not None and search.seconds() >= time_limit:
            status = "time-limit"
            break
        while len(under_way) < 2 and tasks < most and (chosen := search.take(int(min(half, most - tasks)))):
            under_way.append(search.send(chosen, executor))
            tasks += len(chosen)
        if not under_way:
            status = "stalled" if tasks < most else "iteration-limit"
            break
        search.receive(under_way.popleft())
        if progress is not None:
            progress(*search.history[-1])
    for wave in under_way:
        search.abandon(wave)
    sides = [side if math.isfinite(side) else None for side in search.best]
    bounds = Bounds(sides[0], sides[1], None)
    parts = len(search.parts)
    return Branching(bounds, status, search.method, parts, tasks, search.seconds(), tuple(search.history))


@dataclass
class _Wave:
    """Parts that are under way."""

    chosen: list[Part]
    answers: Submitted


class _Search:
    """What is known so far."""

    def __init__(self, model: Model, eps: float, method: Optional[str], splits: int, seed: int) -> None:
        self.model, self.eps, self.splits, self.seed = model, eps, splits, seed
        self.start = time.monotonic()
        self.parts: list[Part] = []
        self.waiting: list[Part] = []
        self.method: Any = method
        self.best = (-math.inf, math.inf)
        self.history: list[tuple[float, float, float]] = []

    def seconds(self) -> float:
        return time.monotonic() - self.start

    def begin(self, batch: int, time_limit: Optional[float]) -> None:
        """Splits the whole into about as many parts as are handed out at a time: nobody can help meanwhile."""
        rounds = min(self.splits, math.ceil(math.log2(batch)) if batch <= 8 else 1 + -(-batch // 4))
        rounds = max(rounds, 1)
        first, self.method = run_task(self.model, [], self.eps, rounds, self.method, self.seed, time_limit)
        self.parts = list(first)
        self.settle()

    def take(self, count: int) -> list[Part]:
        """Removes the parts that contribute most to the width."""
        chosen = _widest(self.parts, self.eps, count)
        taken = [self.parts[k] for k in chosen]
        away = set(chosen)
        self.parts = [p for k, p in enumerate(self.parts) if k not in away]
        return taken

    def send(self, chosen: list[Part], executor: Optional[Executor]) -> _Wave:
        jobs = [(self.model, part[0], self.eps, self.splits, self.method, self.seed) for part in chosen]
        self.waiting.extend(chosen)
        return _Wave(chosen, Submitted(run_task, jobs, executor))

    def receive(self, wave: _Wave) -> None:
        """Replaces parts by those that they were split into."""
        for answer, _ in wave.answers.results():
            self.parts.extend(answer)
        # Waves come back in the order in which they went.
        self.waiting = self.waiting[len(wave.chosen) :]
        self.settle()

    def abandon(self, wave: _Wave) -> None:
        """Nobody waits for the answers any more: the parts stay as they are."""
        wave.answers.cancel()
        self.parts.extend(wave.chosen)

    def settle(self) -> None:
        """Brings the bracket up to date; parts that are under way count with what is known of them."""
        sides = [(p[1], p[2]) for p in self.parts + self.waiting]
        low, high = _zbound._branch_total(sides, self.eps)
        self.best = (max(self.best[0], low), min(self.best[1], high))
        self.history.append((self.seconds(), *self.best))


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
