"""Bounds as differentiable functions of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._zbound import Ising
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


def value_and_gradient(
    model: Ising, method: str = "quantum", **options: Unpack[Options]
) -> tuple[float, Gradient]:
    """The certified upper bound on eps log Z and its gradient in the fields and couplings.

    The relaxation is a supremum over moments, `sup_mu theta.mu + entropy(mu)`, so its gradient in theta is the
    optimal mu. Options are those of `bound`; a method without an upper bound gives its lower one.
    Couplings of value zero count as long as they are edges: see `Ising.from_edges`.

    >>> import numpy as np, zbound as zb
    >>> model = zb.Ising([0.0, 0.3], [[0, 0.7], [0.7, 0]])
    >>> value, gradient = zb.value_and_gradient(model, "exact")
    >>> step = 1e-5
    >>> other, _ = zb.value_and_gradient(zb.Ising([step, 0.3], [[0, 0.7], [0.7, 0]]), "exact")
    >>> bool(abs((other - value) / step - gradient.fields[0]) < 1e-4)
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
    return value, Gradient(2.0 * solution.marginals - 1.0, _on_edges(model, solution))


def _on_edges(model: Ising, solution: Solution) -> NDArray[np.float64]:
    """The pair moments in the order of the model's edges."""
    assert solution.pairwise is not None
    edges, (pairs, values) = model.edges, solution.pairwise
    if np.array_equal(edges, pairs):
        return values
    wanted, given = edges @ [model.d, 1], pairs @ [model.d, 1]
    order = np.argsort(given, kind="stable")
    position = np.searchsorted(given, wanted, sorter=order)
    found = order[np.minimum(position, len(order) - 1)] if len(order) else position
    if len(edges) and (not len(order) or not np.array_equal(pairs[found], edges)):
        raise NotApplicableError(f"{solution.method} does not give the moments of every edge")
    result: NDArray[np.float64] = values[found]
    return result
