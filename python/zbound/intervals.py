"""Proved intervals of marginals, in one process or over an executor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, Optional, Union

from . import _zbound
from ._zbound import Model
from .answers import Intervals, intervals_from
from .inputs import ModelLike, plain
from .names import positions
from .progress import ProgressLike, Watcher
from .tasks import run_all

__all__ = ["marginal_intervals"]


def marginal_intervals(
    model: ModelLike,
    variables: Optional[Iterable[Any]] = None,
    *,
    method: Union[str, Iterable[str]] = "auto",
    pairs: Iterable[tuple[int, int]] = (),
    evidence: Optional[Mapping[int, int]] = None,
    eps: float = 1.0,
    tol: float = 1e-8,
    time_limit: Optional[float] = None,
    threads: int = 1,
    memory_limit: Optional[int] = None,
    progress: ProgressLike = None,
    executor: Optional[Executor] = None,
) -> Intervals:
    """Proved intervals `[low, high]` around P(x_i = +1), one row per variable: what `zbound marginals` prints.

    One exact elimination gives them all where that fits the limits; otherwise each comes from certified bounds on log Z with the
    variable fixed to each of its states, in rounds that narrow the intervals until `time_limit`. `pairs` asks for joint laws (and,
    without `variables`, for nothing else), `evidence` fixes variables as `Model.with_evidence` does. The rows of variables
    with other than two states are NaN: see `.states` of the result, and `.pairs`, `.status`, `.reason`.
    An `executor`, as that of `sweep`, takes a few variables at a time, each group within `time_limit`.

    >>> import numpy as np, zbound as zb
    >>> chain = zb.Ising([0.5, 0.0, -0.2], np.diag([0.4, 0.3], 1))
    >>> low, high = zb.marginal_intervals(chain).T
    >>> marginals = zb.exact(chain).marginals
    >>> bool(np.all((low <= marginals) & (marginals <= high)))
    True
    >>> zb.marginal_intervals(chain, pairs=[(0, 2)]).pairs[0, 2].shape
    (2, 2, 2)
    """
    model = plain(model)
    chosen = None if variables is None else positions(model, variables)
    methods = [method] if isinstance(method, str) else list(method)
    joint = [(i, j) for i, j in (positions(model, pair) for pair in pairs)]
    if evidence:
        model = model.with_evidence(evidence)
    if executor is not None:
        rows = chosen if chosen is not None else list(range(0 if joint else model.variables))
        parts: list[tuple[list[int], list[tuple[int, int]]]]
        parts = [(rows[k : k + _GROUP], []) for k in range(0, len(rows), _GROUP)]
        parts += [([], [pair]) for pair in joint]
        jobs = [(model, some, methods, pair, eps, tol, time_limit, memory_limit) for some, pair in parts]
        return intervals_from(_joined(run_all(_interval_task, jobs, executor)))
    with Watcher(progress) as callback:
        raw = _zbound.marginal_intervals(
            model,
            chosen,
            methods=methods,
            pairs=joint,
            eps=eps,
            tol=tol,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
            progress=callback,
        )
    return intervals_from(raw)


# Variables of a task of `marginal_intervals`.
_GROUP = 8


def _interval_task(
    model: Model,
    variables: list[int],
    methods: list[str],
    pairs: list[tuple[int, int]],
    eps: float,
    tol: float,
    time_limit: Optional[float],
    memory_limit: Optional[int],
) -> dict[str, Any]:
    return _zbound.marginal_intervals(
        model,
        variables,
        methods=methods,
        pairs=pairs,
        eps=eps,
        tol=tol,
        time_limit=time_limit,
        threads=1,
        memory_limit=memory_limit,
        progress=None,
    )


def _joined(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The answers of several groups of variables as one."""
    worst = next((answer for answer in answers if answer["status"] != "converged"), answers[0])
    return {
        "variables": [i for answer in answers for i in answer["variables"]],
        "laws": [law for answer in answers for law in answer["laws"]],
        "pairs": {pair: law for answer in answers for pair, law in answer["pairs"].items()},
        "methods": answers[0]["methods"],
        "status": worst["status"],
        "seconds": sum(answer["seconds"] for answer in answers),
        "reason": worst["reason"],
    }
