"""Independent tasks on any `concurrent.futures` executor."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor
from typing import Any, Optional

__all__ = ["run_all"]


def run_all(work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], executor: Optional[Executor]) -> list[Any]:
    """The answers of all jobs, in order. What a broken executor lost is done here, with a warning."""
    jobs = list(jobs)
    if executor is None:
        return [work(*job) for job in jobs]
    futures: list[Any] = []
    failure: Optional[BaseException] = None
    for job in jobs:
        try:
            futures.append(executor.submit(work, *job))
        except (BrokenExecutor, RuntimeError) as error:
            futures.append(None)
            failure = error
    answers = []
    for job, future in zip(jobs, futures):
        try:
            answer = None if future is None else future.result()
        except BrokenExecutor as error:
            answer, failure = None, error
        answers.append(work(*job) if answer is None else answer)
    if failure is not None:
        warnings.warn(f"the executor broke ({failure}): its tasks ran here", RuntimeWarning, stacklevel=3)
    return answers
