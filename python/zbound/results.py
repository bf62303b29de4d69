"""What a solve returns: frozen objects with a readable form in terminals and notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import plots
from ._zbound import Certificate, Model, __version__
from .bounds import Best, Bounds, History, PairMoments, Step, Trace, Verification
from .frames import dataframe, dataset
from .text import interval, table

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

__all__ = ["Results", "Solution"]


@dataclass(frozen=True, eq=False)
class Solution:
    """The outcome of one method on one model at temperature `eps`.

    `log_z` bounds eps log Z and `phi = log_z - eps d log 2`. `status` says how the method ended,
    `certified` whether every side given is proved; the two are independent. `pairwise` and `terms` are E[x_i x_j] and,
    for terms of arity three and more, E[x^A]; both come with `pair_moments=True`.
    """

    method: str
    eps: float
    log_z: Bounds
    phi: Bounds
    marginals: Optional[NDArray[np.float64]]
    state_marginals: Optional[list[NDArray[np.float64]]]
    pairwise: Optional[PairMoments]
    terms: Optional[dict[tuple[int, ...], float]]
    status: str
    certified: bool
    relaxation_gap: Optional[float]
    solver: Optional[str]
    iterations: int
    eigendecompositions: int
    seconds: float
    features: Optional[list[tuple[int, ...]]]
    steps: Optional[list[Step]]
    reason: Optional[str]
    trace: Trace
    certificate: Optional[Certificate]

    def __repr__(self) -> str:
        gap = "" if self.relaxation_gap is None else f", gap={self.relaxation_gap:.1e}"
        what = "log_z" if self.eps == 1.0 else "eps_log_z"
        estimate = self.log_z.estimate
        guess = "" if self.certified or estimate is None else f", estimate={estimate:.7g}"
        return (
            f"Solution({self.method!r}, {what}={interval(*self.log_z[:2])}{guess}, status={self.status!r}, "
            f"certified={self.certified}{gap}, iterations={self.iterations}, seconds={self.seconds:.3g})"
        )

    def _repr_html_(self) -> str:
        return table([self], self.eps)

    def to_dict(self) -> dict[str, Any]:
        """The entry of `results` in the document `zbound.bound/1`, as plain Python values."""
        pairs = self.pairwise
        return {
            "method": self.method,
            "phi": self.phi._asdict(),
            "log_z": self.log_z._asdict(),
            "relaxation_gap": self.relaxation_gap,
            "status": self.status,
            "certified": self.certified,
            "solver": self.solver,
            "iterations": self.iterations,
            "eigendecompositions": self.eigendecompositions,
            "seconds": self.seconds,
            "features": None if self.features is None else [list(f) for f in self.features],
            "steps": None
            if self.steps is None
            else [{"feature": list(s.feature), "phi_upper": s.phi_upper} for s in self.steps],
            "marginals": None if self.marginals is None else self.marginals.tolist(),
            "state_marginals": None if self.state_marginals is None else [p.tolist() for p in self.state_marginals],
            "pairwise": None
            if pairs is None
            else [[int(i), int(j), float(v)] for (i, j), v in zip(pairs.edges, pairs.values)],
            "reason": self.reason,
        }

    def to_record(self) -> dict[str, Any]:
        """One flat row: what `to_dataframe` and sweeps keep."""
        return {
            "method": self.method,
            "eps": self.eps,
            "log_z_lower": self.log_z.lower,
            "log_z_upper": self.log_z.upper,
            "log_z_estimate": self.log_z.estimate,
            "phi_lower": self.phi.lower,
            "phi_upper": self.phi.upper,
            "phi_estimate": self.phi.estimate,
            "relaxation_gap": self.relaxation_gap,
            "status": self.status,
            "certified": self.certified,
            "iterations": self.iterations,
            "eigendecompositions": self.eigendecompositions,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def to_dataframe(self) -> pandas.DataFrame:
        """A table of one row. Needs pandas."""
        return dataframe([self.to_record()])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as `to_dataframe`."""
        return self.to_dataframe()

    def to_xarray(self) -> xarray.Dataset:
        """A dataset over the dimension `method`, of length one. Needs xarray."""
        return dataset([self.to_record()], "method")

    def plot_convergence(self, ax: Optional[Axes] = None) -> Axes:
        """Draws both values of the relaxation against the iterations. Needs matplotlib."""
        return plots.convergence([self], ax)

    def plot_bracket(self, ax: Optional[Axes] = None) -> Axes:
        """Draws the certified interval on log Z. Needs matplotlib."""
        return plots.bracket([self], ax)


@dataclass(frozen=True, eq=False)
class Results(Sequence[Solution]):
    """Several methods on one model: a sequence of `Solution`, also indexed by method name."""

    solutions: tuple[Solution, ...]
    best: Best
    eps: float
    path: Optional[str] = None
    d: int = 0
    edges: int = 0
    terms: int = 0
    advice: Optional[str] = None
    history: Optional[History] = None
    _by_name: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {s.method: k for k, s in enumerate(self.solutions)})

    @property
    def log_z(self) -> Bounds:
        """The best certified bounds on eps log Z."""
        return self.best.log_z

    @property
    def phi(self) -> Bounds:
        """The best certified bounds on phi."""
        return self.best.phi

    @property
    def lower_method(self) -> Optional[str]:
        """The method behind the lower bound."""
        return self.best.lower_method

    @property
    def upper_method(self) -> Optional[str]:
        """The method behind the upper bound."""
        return self.best.upper_method

    @property
    def marginals(self) -> Optional[NDArray[np.float64]]:
        """P(x_i = +1) by the best method that has them: exact, then that of the upper bound, then any."""
        known = {s.method: s.marginals for s in self.solutions if s.marginals is not None}
        order = ["exact", self.best.upper_method, self.best.lower_method, *known]
        return next((known[m] for m in order if m in known), None)

    @property
    def certificate(self) -> Optional[Certificate]:
        """The certificate behind the best upper bound that has one."""
        proved = [s for s in self.solutions if s.certificate is not None and s.log_z.upper is not None]
        return min(proved, key=lambda s: s.log_z.upper or 0.0).certificate if proved else None

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in the order they ran."""
        return tuple(s.method for s in self.solutions)

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @overload
    def __getitem__(self, key: Union[int, str]) -> Solution: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Solution, ...]: ...
    def __getitem__(self, key: Union[int, str, slice]) -> Union[Solution, tuple[Solution, ...]]:
        return self.solutions[self._by_name[key] if isinstance(key, str) else key]

    def __repr__(self) -> str:
        lines = "".join(f"\n  {solution!r}," for solution in self.solutions)
        return f"Results(log_z={interval(*self.log_z[:2])}, solutions=[{lines}\n])"

    def _repr_html_(self) -> str:
        return table(self.solutions, self.eps, self.log_z)

    def to_dict(self) -> dict[str, Any]:
        """The document `zbound.bound/1` as plain Python values."""
        best = self.best
        log_z = {"lower": best.log_z.lower, "upper": best.log_z.upper}
        phi = {"lower": best.phi.lower, "upper": best.phi.upper}
        return {
            "schema": "zbound.bound/1",
            "version": __version__,
            "model": {"path": self.path, "d": self.d, "edges": self.edges, "terms": self.terms},
            "eps": self.eps,
            "results": [solution.to_dict() for solution in self.solutions],
            "best": {
                "log_z": log_z,
                "phi": phi,
                "upper_method": best.upper_method,
                "lower_method": best.lower_method,
                "estimate": best.estimate,
                "estimate_method": best.estimate_method,
            },
            **({} if self.advice is None else {"advice": self.advice}),
        }

    def to_json(self) -> str:
        """The same document as text; floats read back bit for bit."""
        return json.dumps(self.to_dict())

    def to_dataframe(self) -> pandas.DataFrame:
        """A table of one row per method. Needs pandas."""
        return dataframe([solution.to_record() for solution in self.solutions])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as `to_dataframe`."""
        return self.to_dataframe()

    def to_xarray(self) -> xarray.Dataset:
        """A dataset over the dimension `method`. Needs xarray."""
        return dataset([solution.to_record() for solution in self.solutions], "method")

    def plot_history(self, ax: Optional[Axes] = None) -> Axes:
        """Draws the proved bracket against time. Needs matplotlib."""
        return plots.history(self.history, self.eps, ax)

    def plot(self, ax: Optional[Axes] = None) -> Axes:
        """Draws the proved bracket against time, as `plot_history` does. Needs matplotlib."""
        return self.plot_history(ax)

    def plot_convergence(self, ax: Optional[Axes] = None) -> Axes:
        """Draws the relaxation gap of every method against the iterations. Needs matplotlib."""
        return plots.convergence(self.solutions, ax)

    def plot_bracket(self, ax: Optional[Axes] = None) -> Axes:
        """Draws the certified interval of every method. Needs matplotlib."""
        return plots.bracket(self.solutions, ax)


def solution_from(raw: dict[str, Any], eps: float) -> Solution:
    """The `Solution` of one entry of the extension's answer."""
    raw["phi"], raw["log_z"] = Bounds(*raw["phi"]), Bounds(*raw["log_z"])
    raw["trace"] = Trace(*raw["trace"].T)
    if raw["pairwise"] is not None:
        raw["pairwise"] = PairMoments(*raw["pairwise"])
    if raw["steps"] is not None:
        raw["steps"] = [Step(*step) for step in raw["steps"]]
    raw["eps"] = eps
    # The generated __init__ of a frozen class sets one attribute at a time, a tenth of a small solve.
    solution = Solution.__new__(Solution)
    solution.__dict__.update(raw)
    return solution


def results_from(raw: dict[str, Any]) -> Results:
    """The `Results` of the extension's answer."""
    eps, (path, d, edges, terms) = raw["eps"], raw["model"]
    best = Best(Bounds(*raw["log_z"]), Bounds(*raw["phi"]), *raw["best_methods"], *raw["best_estimate"])
    solutions = tuple(solution_from(entry, eps) for entry in raw["results"])
    return Results(solutions, best, eps, path, d, edges, terms, raw["advice"], History(*raw["history"].T))


def verify_with(certificate: Certificate, model: Model) -> Verification:
    """What `certificate` proves about `model`."""
    eps, phi, log_z = certificate._verify(model)
    return Verification(eps, Bounds(*phi), Bounds(*log_z))
