"""What `exact`, `map`, `marginal_intervals`, `sample` and `kl` return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from ._zbound import Certificate
from .bounds import Bounds, PairMoments
from .frames import dataframe
from .text import interval, rows_of

if TYPE_CHECKING:
    import pandas

__all__ = ["Exact", "Intervals", "Kl", "KlStep", "Map", "Samples"]


class KlStep(NamedTuple):
    """One greedy step of `kl`: the feature added and the bounds after it.

    `phi_upper` is the bound on phi that follows when p is a model and q is uniform, else None.
    """

    feature: tuple[int, ...]
    kl_lower: Optional[float]
    kl_lower_diag: Optional[float]
    phi_upper: Optional[float]


class _Row:
    """An answer that is one row of a table."""

    def to_record(self) -> dict[str, Any]:
        """The numbers of the answer without its arrays."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """A table of one row. Needs pandas."""
        return dataframe([self.to_record()])


@dataclass(frozen=True, eq=False)
class Exact(_Row):
    """Exact inference: `estimate` is the value, `lower` and `upper` a rigorous enclosure of it.

    `max_f` and `argmax` are a state of largest f (spins, or states where some variable has other than two);
    `entropy` is in nats. `marginals` are None unless all variables are spins; `state_marginals` never are.
    """

    log_z: Bounds
    phi: Bounds
    marginals: Optional[NDArray[np.float64]]
    state_marginals: Optional[list[NDArray[np.float64]]]
    pairwise: PairMoments
    entropy: float
    max_f: float
    argmax: NDArray[np.int64]
    algorithm: str
    states_or_width: int
    seconds: float

    def __repr__(self) -> str:
        return (
            f"Exact(log_z={self.log_z.estimate}, entropy={self.entropy:.6g}, max_f={self.max_f:.6g}, "
            f"algorithm={self.algorithm!r}, seconds={self.seconds:.3g})"
        )

    def to_record(self) -> dict[str, Any]:
        """The numbers of the answer without its arrays."""
        names = ("entropy", "max_f", "algorithm", "states_or_width", "seconds")
        sides = {f"log_z_{side}": getattr(self.log_z, side) for side in ("lower", "upper", "estimate")}
        return {**sides, **{name: getattr(self, name) for name in names}}

    def _repr_html_(self) -> str:
        rows = {"log Z": self.log_z.estimate, "entropy": self.entropy, "max f": self.max_f}
        return rows_of(rows)


@dataclass(frozen=True, eq=False)
class Map(_Row):
    """A certified upper bound on max f and the best assignment found, in the units of the model's file.

    `proof` says what proves `upper`: `elimination`, `branching`, `relaxation` (then there is a `certificate`), `mini-buckets`
    or `coefficients`; `relative_gap` is 0 when the assignment is proved to be optimal. `assignment` is in the letters of the
    model's file: -1 and +1 for spins, 0 and 1 for QUBOs, else numbers of states.
    `value` is f at `assignment`, a cut weight for max-cut files and -E for minimised formats, for which
    `energy` and `energy_lower` say the same in the file's own sign.
    """

    upper: Optional[float]
    value: Optional[float]
    assignment: NDArray[np.int8]
    status: str
    certified: bool
    relative_gap: Optional[float]
    proof: Optional[str]
    nodes: Optional[int]
    relaxation_gap: Optional[float]
    iterations: int
    seconds: float
    cuts: int
    energy: Optional[float]
    energy_lower: Optional[float]
    reason: Optional[str]
    certificate: Optional[Certificate]

    def __repr__(self) -> str:
        return (
            f"Map(value={self.value}, max_f={interval(self.value, self.upper)}, status={self.status!r}, "
            f"certified={self.certified}, iterations={self.iterations}, seconds={self.seconds:.3g})"
        )

    def to_record(self) -> dict[str, Any]:
        """The numbers of the answer without its arrays."""
        names = ("upper", "value", "relative_gap", "proof", "status", "certified", "nodes", "iterations", "cuts", "seconds")
        return {name: getattr(self, name) for name in names}

    def _repr_html_(self) -> str:
        rows = {"upper": self.upper, "value": self.value, "status": self.status}
        return rows_of(rows)


@dataclass(frozen=True, eq=False)
class Kl(_Row):
    """The divergence D(p || q) and lower bounds on it from moments; an infinite value is None, with a `reason`.

    `kl_lower` compares the moment matrices of `features`, `kl_lower_diag` the same in the best diagonal metric.
    """

    eps: float
    kl: Optional[float]
    kl_lower: Optional[float]
    kl_lower_diag: Optional[float]
    features: list[tuple[int, ...]]
    steps: Optional[list[KlStep]]
    reason: Optional[str]

    def __repr__(self) -> str:
        return (
            f"Kl(kl={self.kl}, kl_lower={self.kl_lower}, kl_lower_diag={self.kl_lower_diag}, "
            f"features={len(self.features)})"
        )

    def to_record(self) -> dict[str, Any]:
        """The numbers of the answer without its lists."""
        names = ("eps", "kl", "kl_lower", "kl_lower_diag", "reason")
        return {**{name: getattr(self, name) for name in names}, "features": len(self.features)}

    def _repr_html_(self) -> str:
        rows = {"D(p||q)": self.kl, "lower": self.kl_lower, "lower, diagonal metric": self.kl_lower_diag}
        return rows_of(rows)


class Intervals(np.ndarray):
    """Rows `[low, high]` around P(x_i = +1), an array with what else was proved.

    `variables` are the rows' variables, `states` their intervals by state (one array of shape (states, 2) each), `pairs` the
    joint laws `{(i, j): array of shape (states, states, 2)}`. `status` is `converged` or the limit that ended the work.
    """

    variables: list[int]
    states: list[NDArray[np.float64]]
    pairs: dict[tuple[int, int], NDArray[np.float64]]
    methods: list[str]
    status: str
    seconds: float
    reason: Optional[str]

    def to_pandas(self) -> pandas.DataFrame:
        """One row per variable and state: `variable`, `state`, `lower`, `upper`. Needs pandas."""
        laws = zip(self.variables, self.states)
        rows = [(i, s, law[s][0], law[s][1]) for i, law in laws for s in range(len(law))]
        return dataframe([dict(zip(("variable", "state", "lower", "upper"), row)) for row in rows])


def intervals_from(raw: dict[str, Any]) -> Intervals:
    """The result of `marginal_intervals` from what the extension gives."""
    laws = raw["laws"]
    rows = [law[1] if len(law) == 2 else [np.nan, np.nan] for law in laws]
    out = np.array(rows, dtype=float).reshape(len(laws), 2).view(Intervals)
    out.variables, out.states, out.pairs = raw["variables"], laws, raw["pairs"]
    out.methods, out.status = raw["methods"], raw["status"]
    out.seconds, out.reason = raw["seconds"], raw["reason"]
    return out


@dataclass(frozen=True, eq=False)
class Samples:
    """States drawn from a model: one row per sample, one column per variable.

    Spins are -1 and +1, QUBOs 0 and 1, other variables numbers of states. `kind` is `exact` or `annealed`.
    """

    states: NDArray[np.int64]
    kind: str
    seed: int
    status: str
    seconds: float
    reason: Optional[str]

    def __len__(self) -> int:
        return len(self.states)

    def to_pandas(self) -> pandas.DataFrame:
        """One row per sample, a column per variable. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.states)

    def __repr__(self) -> str:
        return f"Samples(n={len(self)}, kind={self.kind!r}, seed={self.seed})"
