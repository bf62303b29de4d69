"""Questions beside log Z: the maximum of f, divergences, samples."""

from __future__ import annotations

from typing import Optional, Union

from numpy.typing import ArrayLike

from . import _zbound
from ._zbound import Model
from .answers import Kl, KlStep, Map, Samples
from .inputs import FeaturesLike, ModelLike, feature_spec, plain
from .progress import ProgressLike, Watcher

__all__ = ["kl", "map", "sample"]


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
