"""Brackets of log Z over inverse temperature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _zbound, plots
from .frames import dataframe, dataset
from .inputs import ModelLike, plain
from .progress import ProgressLike, Watcher

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

__all__ = ["Scan", "temperature_scan"]


@dataclass(frozen=True, eq=False)
class Scan:
    """Proved bounds `lower[k] <= log Z(betas[k]) <= upper[k]`, where log Z(beta) = log sum_x exp(beta f(x)).

    A side that is not known is NaN. `lower_methods` and `upper_methods` name the method behind each side, or
    `convexity` where the bound follows from those at other temperatures.
    """

    betas: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    estimate: NDArray[np.float64]
    seconds: NDArray[np.float64]
    lower_methods: list[Optional[str]]
    upper_methods: list[Optional[str]]
    statuses: list[str]

    def __len__(self) -> int:
        return len(self.betas)

    def __repr__(self) -> str:
        widths = self.upper - self.lower
        widest = "unknown" if np.isnan(widths).any() else f"{widths.max():.3g}"
        return f"Scan({len(self)} points, beta {self.betas.min():g} to {self.betas.max():g}, widest bracket {widest})"

    def to_records(self) -> list[dict[str, Any]]:
        """One flat row per inverse temperature."""
        columns = {
            "beta": self.betas.tolist(),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "estimate": self.estimate.tolist(),
            "lower_method": self.lower_methods,
            "upper_method": self.upper_methods,
            "status": self.statuses,
            "seconds": self.seconds.tolist(),
        }
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def to_pandas(self) -> pandas.DataFrame:
        """A table of one row per inverse temperature. Needs pandas."""
        return dataframe(self.to_records())

    def to_xarray(self) -> xarray.Dataset:
        """A dataset over the dimension `beta`. Needs xarray."""
        return dataset(self.to_records(), "beta")

    def plot(self, ax: Optional[Axes] = None) -> Axes:
        """Draws the brackets over beta. Needs matplotlib."""
        return plots.temperature(self, ax)


def temperature_scan(
    model: ModelLike,
    betas: Union[Iterable[float], NDArray[np.float64]],
    method: Union[str, Sequence[str]] = "auto",
    *,
    tol: float = 1e-8,
    time_limit: Optional[float] = None,
    threads: int = 1,
    memory_limit: Optional[int] = None,
    seed: int = 0,
    progress: ProgressLike = None,
) -> Scan:
    """Certified bounds on log Z(beta) = log sum_x exp(beta f(x)) at every inverse temperature.

    beta multiplies f, so that `zbound.bound(model, eps=1 / beta).log_z` is log Z(beta) / beta; beta = 0 counts the
    states. log Z is convex in beta, and what is proved at some points is used at the others. `time_limit` covers all
    points together; without one, `auto` takes about a minute in all. Other arguments are those of `bound`.

    >>> import numpy as np, zbound as zb
    >>> model = zb.generate("gaussian", "complete", d=6, seed=1)
    >>> scan = zb.temperature_scan(model, np.linspace(0, 2, 5))
    >>> bool(np.all(scan.upper - scan.lower < 1e-9)), bool(np.isclose(scan.upper[0], 6 * np.log(2)))
    (True, True)
    """
    with Watcher(progress) as callback:
        raw = _zbound.temperature_scan(
            plain(model),
            [float(beta) for beta in betas],
            methods=[method] if isinstance(method, str) else list(method),
            tol=tol,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
            seed=seed,
            progress=callback,
        )
    return Scan(**raw)
