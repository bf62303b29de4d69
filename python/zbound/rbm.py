"""Restricted Boltzmann machines with units in {0, 1}, as scikit-learn and torch train them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._zbound import Ising
from .errors import ModelError
from .files import read_bytes
from .solve import bound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Likelihood", "Rbm"]


class Likelihood(NamedTuple):
    """Proved bounds on the average log-likelihood of data, in nats."""

    lower: float
    upper: float


class Rbm:
    """p(v, h) proportional to exp(v^T W h + b.v + c.h), v and h in {0, 1}.

    `W` has one row per hidden unit, as `BernoulliRBM.components_` of scikit-learn and the weights of a torch layer do;
    its transpose is taken when only that fits the biases. Biases that are not given are zero.
    `rbm.model` is the same distribution as an Ising model, first the visible units, then the hidden ones: use it with
    `zbound.bound`, `zbound.map` and the rest.

    >>> import numpy as np, zbound as zb
    >>> rbm = zb.Rbm(np.array([[1.0, -2.0, 0.5]]), visible_bias=[0.0, 0.1, -0.3], hidden_bias=[0.2])
    >>> sides = rbm.log_likelihood_bounds([[1, 0, 1], [0, 0, 1]])
    >>> sides.lower <= sides.upper < 0
    True
    """

    def __init__(
        self,
        W: ArrayLike,
        visible_bias: ArrayLike | None = None,
        hidden_bias: ArrayLike | None = None,
    ) -> None:
        weights = np.asarray(W, dtype=float)
        if weights.ndim != 2:
            raise ModelError(f"W has shape {weights.shape}, expected a matrix")
        b = None if visible_bias is None else np.asarray(visible_bias, dtype=float).ravel()
        c = None if hidden_bias is None else np.asarray(hidden_bias, dtype=float).ravel()
        if not _fits(weights, b, c):
            if not _fits(weights.T, b, c):
                raise ModelError(
                    f"W has shape {weights.shape}, which fits no {_count(b)} visible and {_count(c)} hidden units"
                )
            weights = weights.T
        self.weights: np.ndarray[Any, np.dtype[np.float64]] = weights
        self.visible_bias: np.ndarray[Any, np.dtype[np.float64]] = np.zeros(weights.shape[1]) if b is None else b
        self.hidden_bias: np.ndarray[Any, np.dtype[np.float64]] = np.zeros(weights.shape[0]) if c is None else c
        for name in ("weights", "visible_bias", "hidden_bias"):
            if not np.isfinite(getattr(self, name)).all():
                raise ModelError(f"{name}: every entry must be finite")
        self.model = self._ising()

    def __repr__(self) -> str:
        hidden, visible = self.weights.shape
        return f"Rbm({visible} visible and {hidden} hidden units)"

    def _ising(self) -> Ising:
        hidden, visible = np.nonzero(self.weights)
        document = {
            "variable_type": "BINARY",
            "offset": 0.0,
            "linear_biases": (-np.concatenate([self.visible_bias, self.hidden_bias])).tolist(),
            "quadratic_biases": (-self.weights[hidden, visible]).tolist(),
            "quadratic_head": visible.tolist(),
            "quadratic_tail": (hidden + self.weights.shape[1]).tolist(),
        }
        model = read_bytes(json.dumps(document).encode(), "dimod", 1.0)
        assert isinstance(model, Ising)
        return model

    def log_weights(self, X: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
        """log sum_h exp(v^T W h + b.v + c.h) for every row v of `X`: the log-likelihood but for log Z."""
        data = self._data(X)
        fields = data @ self.weights.T + self.hidden_bias
        return np.asarray(data @ self.visible_bias + np.logaddexp(0.0, fields).sum(axis=1))

    def log_likelihood_bounds(self, X: ArrayLike, method: Any = "auto", **options: Any) -> Likelihood:
        """Bounds on the average of log p(v) over the rows of `X`, whose entries are 0 or 1.

        `method` and `options` are those of `zbound.bound`, which bounds log Z.
        """
        data = self._data(X)
        weights = self.log_weights(data)
        # Sums of n products err by n roundings of their size, log(1 + e^x) by a few.
        hidden, visible = self.weights.shape
        size = data @ np.abs(self.visible_bias)
        size = size + (data @ np.abs(self.weights).T + np.abs(self.hidden_bias) + 1.0).sum(axis=1)
        rounding = float((hidden + visible + len(data) + 8) * np.finfo(float).eps * size.mean())
        log_z = bound(self.model, method, **options).log_z
        average = float(weights.mean())
        lower = -np.inf if log_z.upper is None else average - rounding - log_z.upper
        upper = np.inf if log_z.lower is None else average + rounding - log_z.lower
        return Likelihood(float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf)))

    def _data(self, X: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
        data = np.atleast_2d(np.asarray(X, dtype=float))
        visible = self.weights.shape[1]
        if data.ndim != 2 or data.shape[1] != visible or len(data) == 0:
            raise ModelError(f"the data have shape {data.shape}, expected rows of {visible} visible units")
        if not np.isin(data, (0.0, 1.0)).all():
            raise ModelError("the data have entries other than 0 and 1")
        return data


def _fits(weights: Any, b: Any, c: Any) -> bool:
    return (b is None or len(b) == weights.shape[1]) and (c is None or len(c) == weights.shape[0])


def _count(bias: Any) -> str:
    return "(unsaid)" if bias is None else str(len(bias))
