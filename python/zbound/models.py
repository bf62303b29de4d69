"""Models that are neither pairwise in spins nor read from a file: tables of any cardinality, and QUBOs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._zbound import Ising, Model
from .errors import ModelError
from .files import read_bytes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["FactorModel", "Qubo"]


def FactorModel(
    cardinalities: Sequence[int],
    factors: Iterable[tuple[Sequence[int], ArrayLike]],
    *,
    constant: float = 0.0,
    names: Sequence[Any] | None = None,
) -> Model:
    """f = constant + the sum of tables over variables of any number of states.

    A factor is `(scope, log_values)`: an array with one axis per variable of the scope, in its order (or the
    same values flat, last variable fastest). `-inf` is a hard zero.

    >>> import numpy as np, zbound as zb
    >>> model = zb.FactorModel([3, 2], [((0, 1), np.log([[1, 2], [3, 4], [5, 6]]))])
    >>> round(float(np.exp(zb.exact(model).log_z.estimate)), 9)
    21.0
    """
    sizes = [int(q) for q in cardinalities]
    listed = []
    for scope, values in factors:
        members = [int(i) for i in scope]
        if any(i < 0 or i >= len(sizes) for i in members):
            raise ModelError(f"factor {members}: a variable is out of range for {len(sizes)} variables")
        table = np.asarray(values, dtype=float)
        shape = tuple(sizes[i] for i in members)
        if table.shape != shape and table.shape != (int(np.prod(shape)),):
            raise ModelError(f"factor {members}: its table has shape {table.shape}, expected {shape}")
        if np.isnan(table).any() or np.isposinf(table).any():
            raise ModelError(f"factor {members}: a log value is NaN or +inf")
        log = [None if np.isneginf(v) else v for v in table.ravel().tolist()]
        listed.append({"scope": members, "log": log})
    document = {"cardinalities": sizes, "constant": float(constant), "factors": listed}
    return read_bytes(json.dumps(document).encode(), "json", 1.0, names)


def Qubo(
    Q: ArrayLike | Mapping[tuple[Any, Any], float],
    *,
    offset: float = 0.0,
    beta: float = 1.0,
    names: Sequence[Any] | None = None,
) -> Ising:
    """The Boltzmann distribution of the energy E(x) = x^T Q x + offset over x in {0,1}^d: f = -beta E.

    `Q` is a square matrix (Q_ij and Q_ji add up) or a mapping `{(i, j): value}` as in dimod, whose keys may be any
    labels. `zbound.map` gives the least energy.

    >>> import zbound as zb
    >>> zb.map(zb.Qubo([[1.0, -3.0], [0.0, 1.0]])).energy
    -1.0
    """
    if isinstance(Q, Mapping):
        labels = list(names) if names is not None else list(dict.fromkeys(v for pair in Q for v in pair))
        position = {label: k for k, label in enumerate(labels)}
        unknown = [v for pair in Q for v in pair if v not in position]
        if unknown:
            raise ModelError(f"names lack the variable {unknown[0]!r}")
        matrix = np.zeros((len(labels), len(labels)))
        for (a, b), value in Q.items():
            matrix[position[a], position[b]] += value
        if names is None and labels != list(range(len(labels))):
            names = labels
    else:
        matrix = np.asarray(Q, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ModelError(f"Q has shape {matrix.shape}, expected a square matrix")
    upper = np.triu(matrix, 1) + np.tril(matrix, -1).T
    heads, tails = np.nonzero(upper)
    document = {
        "variable_type": "BINARY",
        "offset": float(offset),
        "linear_biases": np.diag(matrix).tolist(),
        "quadratic_biases": upper[heads, tails].tolist(),
        "quadratic_head": heads.tolist(),
        "quadratic_tail": tails.tolist(),
    }
    model = read_bytes(json.dumps(document).encode(), "dimod", beta, names)
    assert isinstance(model, Ising)
    return model
