"""Watching a solve."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Union

__all__ = ["Progress", "ProgressLike"]


class Progress(NamedTuple):
    """State of a running solve: values on phi, not yet certified, NaN when there is none yet."""

    method: Optional[str]
    iteration: int
    lower: float
    upper: float
    seconds: float


ProgressLike = Union[None, bool, Callable[[Progress], Any]]
"""`True` for a tqdm bar, or a function of `Progress`; returning `False` from it stops the solve."""

_Raw = Callable[[Optional[str], int, float, float, float], Any]


class Watcher:
    """Turns `progress=` into the function the extension calls, and cleans up after it."""

    def __init__(self, progress: ProgressLike) -> None:
        self._bar: Any = None
        self.callback: Optional[_Raw] = None
        if progress is True:
            from tqdm.auto import tqdm

            self._bar = tqdm(bar_format="{desc} [{elapsed}]", leave=False)
            self.callback = self._show
        elif callable(progress):
            user = progress
            self.callback = lambda *state: user(Progress(*state))

    def _show(self, method: Optional[str], iteration: int, lower: float, upper: float, seconds: float) -> None:
        gap = f", gap {upper - lower:.1e}" if upper - lower >= 0 else ""  # NaN compares false
        self._bar.set_description_str(f"{method or 'zbound'}: iteration {iteration}{gap}")
        self._bar.update()

    def __enter__(self) -> Optional[_Raw]:
        return self.callback

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()
