"""The values that results are made of: both sides of a number, moments, traces."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

__all__ = ["Best", "Bounds", "History", "PairMoments", "Step", "Trace", "Verification"]


class Bounds(NamedTuple):
    """Both sides of an unknown value. `lower` and `upper` are proved; `estimate` is not a bound.

    A side that is not known is None.
    """

    lower: Optional[float]
    upper: Optional[float]
    estimate: Optional[float] = None


class PairMoments(NamedTuple):
    """E[x_i x_j]: `values[k]` belongs to the pair `edges[k] = (i, j)`."""

    edges: NDArray[np.int64]
    values: NDArray[np.float64]


class Step(NamedTuple):
    """One greedy step: the feature added and the certified bound on phi after it."""

    feature: tuple[int, ...]
    phi_upper: Optional[float]


class Trace(NamedTuple):
    """Values on phi along the iterations, in plain floating point (NaN where not computed)."""

    iteration: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    seconds: NDArray[np.float64]
    eigendecompositions: NDArray[np.float64]


class History(NamedTuple):
    """How the proved bracket on eps log Z shrank, one entry per improvement; a side that was open is NaN."""

    seconds: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class Best(NamedTuple):
    """The best certified sides over several methods, and the methods behind them."""

    log_z: Bounds
    phi: Bounds
    lower_method: Optional[str]
    upper_method: Optional[str]
    estimate: Optional[float] = None
    estimate_method: Optional[str] = None


class Verification(NamedTuple):
    """What a certificate proves about a model."""

    eps: float
    phi: Bounds
    log_z: Bounds
