"""Bounds on log Z, exact inference, and the verification of certificates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Literal, Optional, TypedDict, Union, overload

from . import _zbound
from ._zbound import Certificate, Model
from .answers import Exact
from .bounds import Bounds, PairMoments, Verification
from .inputs import FeaturesLike, ModelLike, feature_spec, plain
from .progress import ProgressLike, Watcher
from .results import Results, Solution, results_from, solution_from, verify_with

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Options", "bound", "exact", "verify"]


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
