"""The functions users call: bounds, exact inference, verification, models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal, Optional, Protocol, TypedDict, Union, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _zbound
from ._zbound import Certificate, Ising, Model
from .answers import Exact, Intervals, Kl, KlStep, Map, Samples, intervals_from
from .names import positions
from .progress import ProgressLike, Watcher
from .results import Bounds, PairMoments, Results, Solution, Verification, results_from, solution_from, verify_with
from .tasks import run_all

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Options",
    "bound",
    "exact",
    "generate",
    "kl",
    "map",
    "marginal_intervals",
    "read",
    "read_bytes",
    "sample",
    "verify",
]


class HasModel(Protocol):
    """What stands for a model, such as an `Rbm`."""

    @property
    def model(self) -> Model: ...


ModelLike = Union[Model, HasModel]
"""A model, or what has one as its `model`."""


def plain(model: ModelLike) -> Model:
    """The model itself."""
    # What is no model is refused by the extension, with its type.
    return model if isinstance(model, Model) else cast(Model, getattr(model, "model", model))


FeaturesLike = Union[None, str, Iterable[Iterable[Any]]]
"""`degree:K`, `first:N`, `all`, `edges`, or a list of sets of variables, by number or name."""


OneMethod = Literal[
    "exact",
    "quantum",
    "quantum-greedy",
    "quantum-diag",
    "logdet",
    "trw",
    "combined",
    "mean-field",
    "bethe",
    "wmb",
    "branch",
    "ais",
]


class Options(TypedDict, total=False):
    """The keyword arguments of `bound`."""

    eps: float
    features: FeaturesLike
    tol: float
    max_iterations: Optional[int]
    time_limit: Optional[float]
    threads: int
    solver: str
    rho: str
    pairwise: str
    greedy: Union[int, str]
    ibound: Optional[int]
    memory_limit: Optional[int]
    seed: int
    target_gap: Optional[float]
    pair_moments: bool
    want_certificate: bool
    progress: ProgressLike


@overload
def bound(model: ModelLike, method: OneMethod, **options: Unpack[Options]) -> Solution: ...
@overload
def bound(
    model: ModelLike, method: Union[Literal["auto", "all"], list[str], tuple[str, ...]] = ..., **options: Unpack[Options]
) -> Results: ...
@overload
def bound(model: ModelLike, method: Union[str, Sequence[str]], **options: Unpack[Options]) -> Union[Solution, Results]: ...
def bound(
    model: ModelLike,
    method: Union[str, Sequence[str]] = "auto",
    *,
    eps: float = 1.0,
    features: FeaturesLike = None,
    tol: float = 1e-8,
    max_iterations: Optional[int] = None,
    time_limit: Optional[float] = None,
    threads: int = 1,
    solver: str = "auto",
    rho: str = "optimized",
    pairwise: str = "all",
    greedy: Union[int, str] = 3,
    ibound: Optional[int] = None,
    memory_limit: Optional[int] = None,
    seed: int = 0,
    target_gap: Optional[float] = None,
    pair_moments: bool = False,
    want_certificate: bool = False,
    progress: ProgressLike = None,
) -> Union[Solution, Results]:
    """Certified bounds on eps log Z, Z = sum over x in {-1,+1}^d of exp(f(x)/eps).

    Args:
        model: an `Ising`, a `Polynomial` or what `read` returned.
        method: `exact`, `quantum`, `quantum-greedy`, `quantum-diag`, `logdet`, `trw`, `combined`, `mean-field`,
            `bethe`, `wmb`, `branch` or `ais` (an estimate) for one `Solution`; a list of these, `all` or `auto` for `Results`.
        eps: temperature.
        features: features of the quantum bounds; 1 and every x_i, plus what the terms need, by default.
        tol: relative relaxation gap at which a method has converged.
        max_iterations: iteration cap; each algorithm has its own by default.
        time_limit: seconds for all methods together; what they hold then is certified and returned.
        threads: for independent sub-problems; results do not depend on it.
        solver: `newton`, `chambolle-pock`, `interior-point`, `message-passing` or `auto`.
        rho: edge probabilities of trw: `uniform`, `resistance` or `optimized`.
        pairwise: pairs that carry constraints in logdet: `all`, `edges` or `none`.
        greedy: features that quantum-greedy adds, or `auto`.
        ibound: variables that a mini-bucket of wmb may have besides the one summed out; memory and time decide
            by default.
        memory_limit: bytes one solve may use, 8 GiB by default.
        seed: of randomised orders and restarts.
        target_gap: width of the bracket at which `auto` stops.
        pair_moments: also return E[x_i x_j] in `Solution.pairwise`, and the moments of higher terms in `Solution.terms`.
        want_certificate: let `exact` make a certificate too, which can cost more than the answer; every
            other method always has one.
        progress: `True` for a tqdm bar, or a function of `Progress`; returning `False` stops the solve
            with the best bound so far.

    Ctrl-C raises `KeyboardInterrupt` within half a second; other threads run meanwhile.

    >>> import numpy as np, zbound as zb
    >>> model = zb.Ising(np.array([0.1, 0.0, -0.2]), np.array([[0, 0.5, 0], [0, 0, -1.0], [0, 0, 0]]))
    >>> solution = zb.bound(model, "quantum")
    >>> solution.status, solution.certified
    ('converged', True)
    >>> solution.log_z.upper >= zb.exact(model).log_z.estimate
    True
    """
    several = not isinstance(method, str) or method in ("auto", "all")
    model = plain(model)
    with Watcher(progress) as callback:
        raw = _zbound.bound(
            model,
            methods=[method] if isinstance(method, str) else list(method),
            eps=eps,
            features=feature_spec(features, model),
            tol=tol,
            max_iterations=max_iterations,
            time_limit=time_limit,
            threads=threads,
            solver=solver,
            rho=rho,
            pairwise=pairwise,
            greedy=str(greedy),
            ibound=ibound,
            memory_limit=memory_limit,
            seed=seed,
            target_gap=target_gap,
            pair_moments=pair_moments,
            want_certificate=want_certificate,
            progress=callback,
        )
    return results_from(raw) if several else solution_from(raw["results"][0], eps)


def feature_spec(features: FeaturesLike, model: Any = None) -> Optional[str]:
    """The text form of a choice of features; variables of a model with names may be named."""
    if features is None or isinstance(features, str):
        return features
    if isinstance(model, Model):
        return json.dumps([positions(model, feature) for feature in features])
    return json.dumps([[int(i) for i in feature] for feature in features])


def exact(
    model: ModelLike,
    *,
    eps: float = 1.0,
    time_limit: Optional[float] = None,
    threads: int = 1,
    memory_limit: Optional[int] = None,
    progress: ProgressLike = None,
    executor: Optional[Executor] = None,
) -> Exact:
    """Exact inference by enumeration or elimination, whichever is cheaper.

    Raises `MemoryLimitError` when the tables do not fit and `StoppedError` at the time limit.

    With an `executor` (a process pool, Dask's `client.get_executor()`, mpi4py's `MPIPoolExecutor`), log Z alone is found as
    a sum over slices that need at most `memory_limit` bytes each, one task per slice; the answer does not depend on the
    workers, and there are no marginals, no entropy and no maximiser.

    >>> import numpy as np, zbound as zb
    >>> answer = zb.exact(zb.Ising(np.zeros(2), np.array([[0, 1.0], [1.0, 0]])))
    >>> bool(np.isclose(answer.log_z.estimate, np.log(4 * np.cosh(1))))
    True
    >>> answer.argmax.tolist()
    [-1, -1]
    """
    model = plain(model)
    if executor is not None:
        from .slicing import sliced

        return sliced(model, executor, eps=eps, time_limit=time_limit, memory_limit=memory_limit)
    with Watcher(progress) as callback:
        raw = _zbound.exact(
            model, eps=eps, time_limit=time_limit, threads=threads, memory_limit=memory_limit, progress=callback
        )
    raw["phi"], raw["log_z"] = Bounds(*raw["phi"]), Bounds(*raw["log_z"])
    raw["pairwise"] = PairMoments(*raw["pairwise"])
    return Exact(**raw)


def map(
    model: ModelLike,
    *,
    features: FeaturesLike = None,
    cuts: Optional[str] = None,
    tol: float = 1e-6,
    max_iterations: Optional[int] = None,
    time_limit: Optional[float] = None,
    memory_limit: Optional[int] = None,
    seed: int = 0,
    progress: ProgressLike = None,
) -> Map:
    """The zero-temperature case: a proved upper bound on max f and the best assignment found.

    Whatever closes the gap is tried: exact elimination, branch and bound, and the integrality of integer data, for a minute
    unless `time_limit` says otherwise. `cuts` (`none`, `pairwise` or `triangle`) or `features` ask for one relaxation instead,
    whose bound comes with a certificate.

    >>> import numpy as np, zbound as zb
    >>> triangle = zb.Ising(np.zeros(3), np.triu(-np.ones((3, 3)), 1))  # frustrated: max f = 1
    >>> best = zb.map(triangle, cuts="triangle")
    >>> best.value, bool(1 <= best.upper < 1.0001)
    (1.0, True)
    """
    model = plain(model)
    with Watcher(progress) as callback:
        raw = _zbound.map(
            model,
            features=feature_spec(features, model),
            cuts=cuts,
            tol=tol,
            max_iterations=max_iterations,
            time_limit=time_limit,
            memory_limit=memory_limit,
            seed=seed,
            progress=callback,
        )
    return Map(**raw)


def kl(
    p: Union[Model, ArrayLike],
    q: Union[Model, ArrayLike, None] = None,
    *,
    features: FeaturesLike = None,
    eps: float = 1.0,
    greedy: Optional[int] = None,
    time_limit: Optional[float] = None,
    progress: ProgressLike = None,
) -> Kl:
    """D(p || q) on at most 20 spins, and lower bounds on it from the moments of the features.

    p and q are models, p(x) ~ exp(f(x)/eps), or tables of 2^d probabilities in which bit i of the position is set
    when x_i = +1; q is uniform by default. `greedy` adds that many features, the best one at a time; a `time_limit` or a
    `progress` that returns `False` ends the selection with the features it has, and `reason` says so.

    >>> import zbound as zb
    >>> model = zb.generate("gaussian", "complete", d=4, seed=1)
    >>> linear, full = zb.kl(model), zb.kl(model, features="all")
    >>> linear.kl_lower < full.kl_lower <= full.kl
    True
    """
    with Watcher(progress) as callback:
        raw = _zbound.kl(
            p,
            q,
            features=feature_spec(features),
            eps=eps,
            greedy=greedy,
            time_limit=time_limit,
            progress=callback,
        )
    if raw["steps"] is not None:
        raw["steps"] = [KlStep(*step) for step in raw["steps"]]
    return Kl(**raw)


def marginal_intervals(
    model: ModelLike,
    variables: Optional[Iterable[Any]] = None,
    *,
    method: Union[str, Iterable[str]] = "auto",
    pairs: Iterable[tuple[int, int]] = (),
    evidence: Optional[Mapping[int, int]] = None,
    eps: float = 1.0,
    tol: float = 1e-8,
    time_limit: Optional[float] = None,
    threads: int = 1,
    memory_limit: Optional[int] = None,
    progress: ProgressLike = None,
    executor: Optional[Executor] = None,
) -> Intervals:
    """Proved intervals `[low, high]` around P(x_i = +1), one row per variable: what `zbound marginals` prints.

    One exact elimination gives them all where that fits the limits; otherwise each comes from certified bounds on log Z with the
    variable fixed to each of its states, in rounds that narrow the intervals until `time_limit`. `pairs` asks for joint laws (and,
    without `variables`, for nothing else), `evidence` fixes variables as `Model.with_evidence` does. The rows of variables
    with other than two states are NaN: see `.states` of the result, and `.pairs`, `.status`, `.reason`.
    An `executor`, as that of `sweep`, takes a few variables at a time, each group within `time_limit`.

    >>> import numpy as np, zbound as zb
    >>> chain = zb.Ising([0.5, 0.0, -0.2], np.diag([0.4, 0.3], 1))
    >>> low, high = zb.marginal_intervals(chain).T
    >>> marginals = zb.exact(chain).marginals
    >>> bool(np.all((low <= marginals) & (marginals <= high)))
    True
    >>> zb.marginal_intervals(chain, pairs=[(0, 2)]).pairs[0, 2].shape
    (2, 2, 2)
    """
    model = plain(model)
    chosen = None if variables is None else positions(model, variables)
    methods = [method] if isinstance(method, str) else list(method)
    joint = [(i, j) for i, j in (positions(model, pair) for pair in pairs)]
    if evidence:
        model = model.with_evidence(evidence)
    if executor is not None:
        rows = chosen if chosen is not None else list(range(0 if joint else model.variables))
        parts: list[tuple[list[int], list[tuple[int, int]]]]
        parts = [(rows[k : k + _GROUP], []) for k in range(0, len(rows), _GROUP)]
        parts += [([], [pair]) for pair in joint]
        jobs = [(model, some, methods, pair, eps, tol, time_limit, memory_limit) for some, pair in parts]
        return intervals_from(_joined(run_all(_interval_task, jobs, executor)))
    with Watcher(progress) as callback:
        raw = _zbound.marginal_intervals(
            model,
            chosen,
            methods=methods,
            pairs=joint,
            eps=eps,
            tol=tol,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
            progress=callback,
        )
    return intervals_from(raw)


# Variables of a task of `marginal_intervals`.
_GROUP = 8


def _interval_task(
    model: Model,
    variables: list[int],
    methods: list[str],
    pairs: list[tuple[int, int]],
    eps: float,
    tol: float,
    time_limit: Optional[float],
    memory_limit: Optional[int],
) -> dict[str, Any]:
    return _zbound.marginal_intervals(
        model,
        variables,
        methods=methods,
        pairs=pairs,
        eps=eps,
        tol=tol,
        time_limit=time_limit,
        threads=1,
        memory_limit=memory_limit,
        progress=None,
    )


def _joined(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The answers of several groups of variables as one."""
    worst = next((answer for answer in answers if answer["status"] != "converged"), answers[0])
    return {
        "variables": [i for answer in answers for i in answer["variables"]],
        "laws": [law for answer in answers for law in answer["laws"]],
        "pairs": {pair: law for answer in answers for pair, law in answer["pairs"].items()},
        "methods": answers[0]["methods"],
        "status": worst["status"],
        "seconds": sum(answer["seconds"] for answer in answers),
        "reason": worst["reason"],
    }


def sample(
    model: ModelLike,
    n: int = 1,
    *,
    seed: int = 0,
    eps: float = 1.0,
    time_limit: Optional[float] = None,
    threads: int = 1,
    memory_limit: Optional[int] = None,
    progress: ProgressLike = None,
) -> Samples:
    """Draws `n` states from exp(f/eps)/Z: what `zbound sample` prints.

    `kind` is `exact` for independent samples of the distribution itself, which elimination gives where it fits the limits, and
    `annealed` for the ends of annealed chains, which are only close to it.

    >>> import zbound as zb
    >>> samples = zb.sample(zb.generate("trw-attractive", "grid", d=9, w=0.5, seed=1), 100, seed=7)
    >>> samples.states.shape, samples.kind
    ((100, 9), 'exact')
    """
    model = plain(model)
    with Watcher(progress) as callback:
        raw = _zbound.sample(
            model,
            int(n),
            seed=seed,
            eps=eps,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
            progress=callback,
        )
    return Samples(**raw)


def verify(model: Model, certificate: Union[Certificate, str, "os.PathLike[str]"]) -> Verification:
    """Re-derives the bounds of a certificate (or a certificate file) from the model alone.

    Raises `CertificateError` when it does not prove what it claims.

    >>> import numpy as np, zbound as zb
    >>> model = zb.generate("gaussian", "complete", d=4, seed=1)
    >>> solution = zb.bound(model, "quantum")
    >>> zb.verify(model, solution.certificate).log_z.upper <= solution.log_z.upper
    True
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(os.fspath(certificate))
    return verify_with(certificate, model)


def read(
    path: Union[str, "os.PathLike[str]"],
    format: Optional[str] = None,
    beta: float = 1.0,
    evidence: Optional[Union[str, "os.PathLike[str]"]] = None,
) -> Model:
    """Reads a model file: native JSON, UAI (with `evidence`), libDAI, dimod, max-cut or QUBO.

    The extension names the format unless `format` does. Formats that hold a minimised energy E give
    f = -beta E. The result is an `Ising` or a `Polynomial` where it can be; factor tables and models
    with evidence stay a `Model`. Look at `warnings` on the result for anything the reader noticed.
    """
    return _zbound.read(os.fspath(path), format, beta, None if evidence is None else os.fspath(evidence))


def read_bytes(data: bytes, format: str, beta: float = 1.0, names: Optional[Iterable[Any]] = None) -> Model:
    """Reads a model from the bytes of a file.

    >>> import zbound as zb
    >>> zb.read_bytes(b'{"d": 2, "couplings": [[0, 1, 0.5]]}', "json")
    Ising(d=2, edges=1)
    """
    return _zbound.read_bytes(data, format, beta, names)


def generate(family: str, graph: str, *, d: int, w: Optional[float] = None, seed: int = 0) -> Ising:
    """A random model; the same arguments give the same bits on every machine.

    Families: `gaussian`, and with strength `w` `logdet-attractive`, `logdet-mixed`,
    `logdet-repulsive`, `trw-attractive`, `trw-mixed`. Graphs: `complete`, `grid`, `chain`, `tree`,
    `star`, `independent`, `regular`.

    >>> import zbound as zb
    >>> zb.generate("trw-mixed", "grid", d=9, w=0.5, seed=7)
    Ising(d=9, edges=12)
    """
    return _zbound.generate(family, graph, d, w, seed)
