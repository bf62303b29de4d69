"""Bounds as differentiable functions of the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from ._zbound import Ising, Polynomial
from .errors import NotApplicableError
from .results import Solution
from .solve import Options, bound

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Gradient", "value_and_gradient"]


class Gradient(NamedTuple):
    """Derivatives of a bound on eps log Z: the moments of the relaxation at its optimum.

    `fields[i]` is E[x_i] and `couplings[k]` is E[x_i x_j] on `model.edges[k] = (i, j)`.
    """

    fields: NDArray[np.float64]
    couplings: NDArray[np.float64]


@overload
def value_and_gradient(model: Ising, method: str = ..., **options: Unpack[Options]) -> tuple[float, Gradient]: ...
@overload
def value_and_gradient(
    model: Polynomial, method: str = ..., **options: Unpack[Options]
) -> tuple[float, dict[tuple[int, ...], float]]: ...
def value_and_gradient(
    model: Union[Ising, Polynomial], method: str = "quantum", **options: Unpack[Options]
) -> tuple[float, Union[Gradient, dict[tuple[int, ...], float]]]:
    """The certified upper bound on eps log Z and its gradient in the parameters of the model.

    The relaxation is a supremum over moments, `sup_mu theta.mu + entropy(mu)`, so its gradient in theta is the
    optimal mu: a `Gradient` for an `Ising`, and for a `Polynomial` E[x^A] under every key A of `coefficients`.
    Options are those of `bound`; a method without an upper bound gives its lower one.
    Coefficients of value zero count as long as the model has them: see `Ising.from_edges`.

    >>> import numpy as np, zbound as zb
    >>> model = zb.Ising([0.0, 0.3], [[0, 0.7], [0.7, 0]])
    >>> value, gradient = zb.value_and_gradient(model, "exact")
    >>> step = 1e-5
    >>> other, _ = zb.value_and_gradient(zb.Ising([step, 0.3], [[0, 0.7], [0.7, 0]]), "exact")
    >>> bool(abs((other - value) / step - gradient.fields[0]) < 1e-4)
    True
    >>> value, moments = zb.value_and_gradient(zb.Polynomial(3, {(0, 1, 2): 0.7}), features="all")
    >>> bool(abs(moments[0, 1, 2] - np.tanh(0.7)) < 1e-6)
    True
    """
    options["pair_moments"] = True
    solution = bound(model, method, **options)
    if not isinstance(solution, Solution):
        raise NotApplicableError(f"method {method!r} runs several methods: name the one to differentiate")
    log_z = solution.log_z
    value = log_z.upper if log_z.upper is not None else log_z.lower
    if value is None or solution.marginals is None or solution.pairwise is None:
        raise NotApplicableError(f"{method} gives no bound with moments here: {solution.reason or solution.status}")
    means = 2.0 * solution.marginals - 1.0
    if isinstance(model, Ising):
        return value, Gradient(means, _on_edges(model.edges, model.d, solution))
    return value, _by_set(model, means, solution)


def _on_edges(edges: NDArray[np.int64], d: int, solution: Solution) -> NDArray[np.float64]:
    """The pair moments in the order of `edges`."""
    assert solution.pairwise is not None
    pairs, values = solution.pairwise
    if np.array_equal(edges, pairs):
        return values
    wanted, given = edges @ [d, 1], pairs @ [d, 1]
    order = np.argsort(given, kind="stable")
    position = np.searchsorted(given, wanted, sorter=order)
    found = order[np.minimum(position, len(order) - 1)] if len(order) else position
    if len(edges) and (not len(order) or not np.array_equal(pairs[found], edges)):
        raise NotApplicableError(f"{solution.method} does not give the moments of every edge")
    result: NDArray[np.float64] = values[found]
    return result


def _by_set(model: Polynomial, means: NDArray[np.float64], solution: Solution) -> dict[tuple[int, ...], float]:
    """The moment of every coefficient of a polynomial."""
    sets = list(model.coefficients)
    edges = [s for s in sets if len(s) == 2]
    pairs = _on_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), model.d, solution)
    moments: dict[tuple[int, ...], float] = {(): 1.0, **dict(zip(edges, pairs.tolist()))}
    moments.update({(i,): float(mean) for i, mean in enumerate(means)})
    moments.update(solution.terms or {})
    if missing := [s for s in sets if s not in moments]:
        raise NotApplicableError(f"{solution.method} does not give the moment of {missing[0]}")
    return {s: moments[s] for s in sets}


def of_values(values: Any, sets: Any, d: int, method: str, options: Mapping[str, Any]) -> tuple[float, Any]:
    """The bound of `sum_k values[k] x^sets[k]` and its gradient in `values`; what torch and jax call."""
    keys = [tuple(sorted(int(i) for i in s)) for s in sets]
    numbers = np.asarray(values, dtype=float).tolist()
    if len(set(keys)) != len(keys) or len(keys) != len(numbers):
        raise NotApplicableError("expected one coefficient for every set, and each set once")
    value, moments = value_and_gradient(Polynomial(d, dict(zip(keys, numbers))), method, **options)
    return value, np.array([moments[key] for key in keys])
