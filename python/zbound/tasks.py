"""Independent tasks on any `concurrent.futures` executor."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor
from typing import Any, Optional

__all__ = ["Submitted", "run_all"]


class Submitted:
    """Jobs under way on an executor, or, without one, to be done when their answers are asked for."""

    def __init__(
        self, work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], executor: Optional[Executor]
    ) -> None:
        self.work, self.jobs = work, list(jobs)
        self.failure: Optional[BaseException] = None
        self.futures: list[Any] = [None if executor is None else self._submit(executor, job) for job in self.jobs]

    def _submit(self, executor: Executor, job: tuple[Any, ...]) -> Any:
        try:
            return executor.submit(self.work, *job)
        except (BrokenExecutor, RuntimeError) as error:
            self.failure = error
            return None

    def results(self, stacklevel: int = 4) -> list[Any]:
        """The answers of all jobs, in order. What a broken executor lost is done here, with a warning."""
        answers = []
        for job, future in zip(self.jobs, self.futures):
            try:
                answer = None if future is None else future.result()
            except BrokenExecutor as error:
                answer, self.failure = None, error
            answers.append(self.work(*job) if answer is None else answer)
        if self.failure is not None:
            text = f"the executor broke ({self.failure}): its tasks ran here"
            warnings.warn(text, RuntimeWarning, stacklevel=stacklevel)
        return answers

    def cancel(self) -> None:
        """Gives up jobs that have not begun; nobody waits for the others."""
        for future in self.futures:
            if future is not None:
                future.cancel()


def run_all(work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], executor: Optional[Executor]) -> list[Any]:
    """The answers of all jobs, in order. What a broken executor lost is done here, with a warning."""
    return Submitted(work, jobs, executor).results()
