"""The compiled part of zbound."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from typing_extensions import disjoint_base

from .bounds import Verification

__all__ = [
    "Certificate",
    "Ising",
    "Model",
    "Polynomial",
    "__version__",
    "_branch_expand",
    "_branch_total",
    "_panic",
    "_restore",
    "_slice_plan",
    "_slice_solve",
    "_slice_total",
    "_sweep_plan",
    "_sweep_row",
    "_sweep_solve",
    "bound",
    "exact",
    "generate",
    "kl",
    "map",
    "marginal_intervals",
    "read",
    "read_bytes",
    "sample",
    "temperature_scan",
]

__version__: str

@disjoint_base
class Model:
    """A binary model as read from a file: a polynomial or factor tables, with evidence."""

    @property
    def d(self) -> int: ...
    @property
    def variables(self) -> int: ...
    @property
    def names(self) -> tuple[Any, ...] | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def evidence(self) -> dict[int, int]: ...
    def with_evidence(self, evidence: Mapping[Any, int]) -> Model: ...
    def polynomial(self) -> Ising | Polynomial: ...
    def value(self, x: ArrayLike) -> Any: ...
    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Ising(Model):
    """A pairwise model `f(x) = c + h.x + sum_{i<j} J_ij x_i x_j` on spins in {-1, +1}."""

    def __new__(
        cls, h: ArrayLike, J: Any = None, *, constant: float = 0.0, names: Iterable[Any] | None = None
    ) -> Ising: ...
    @staticmethod
    def from_edges(
        h: ArrayLike,
        edges: ArrayLike,
        values: ArrayLike,
        *,
        constant: float = 0.0,
        names: Iterable[Any] | None = None,
    ) -> Ising: ...
    @property
    def constant(self) -> float: ...
    @property
    def fields(self) -> NDArray[np.float64]: ...
    @property
    def edges(self) -> NDArray[np.int64]: ...
    @property
    def couplings(self) -> NDArray[np.float64]: ...

@final
class Polynomial(Model):
    """A model `f(x) = sum_A theta_A x^A` with terms of any arity on spins in {-1, +1}."""

    def __new__(
        cls, d: int, coefficients: Mapping[tuple[int, ...], float], *, names: Iterable[Any] | None = None
    ) -> Polynomial: ...
    @property
    def coefficients(self) -> dict[tuple[int, ...], float]: ...

@final
class Certificate:
    """The proof behind a bound: enough data to re-derive it from the model alone."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Certificate: ...
    @staticmethod
    def from_bytes(data: bytes) -> Certificate: ...
    @property
    def eps(self) -> float: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def verify(self, model: Model) -> Verification: ...
    def _verify(
        self, model: Model
    ) -> tuple[float, tuple[float | None, float | None], tuple[float | None, float | None]]: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

def bound(
    model: Model,
    *,
    methods: list[str],
    eps: float,
    features: str | None,
    tol: float,
    max_iterations: int | None,
    time_limit: float | None,
    threads: int,
    solver: str,
    rho: str,
    pairwise: str,
    greedy: str,
    ibound: int | None,
    memory_limit: int | None,
    seed: int,
    target_gap: float | None,
    pair_moments: bool,
    want_certificate: bool,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def exact(
    model: Model,
    *,
    eps: float,
    time_limit: float | None,
    threads: int,
    memory_limit: int | None,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def kl(
    p: Model | ArrayLike,
    q: Model | ArrayLike | None,
    *,
    features: str | None,
    eps: float,
    greedy: int | None,
    time_limit: float | None,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def marginal_intervals(
    model: Model,
    variables: list[int] | None,
    *,
    methods: list[str],
    pairs: list[tuple[int, int]],
    eps: float,
    tol: float,
    time_limit: float | None,
    threads: int,
    memory_limit: int | None,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def sample(
    model: Model,
    n: int,
    *,
    seed: int,
    eps: float,
    time_limit: float | None,
    threads: int,
    memory_limit: int | None,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def map(
    model: Model,
    *,
    features: str | None,
    cuts: str | None,
    tol: float,
    max_iterations: int | None,
    time_limit: float | None,
    memory_limit: int | None,
    seed: int,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def temperature_scan(
    model: Model,
    betas: list[float],
    *,
    methods: list[str],
    tol: float,
    time_limit: float | None,
    threads: int,
    memory_limit: int | None,
    seed: int,
    progress: Callable[[str | None, int, float, float, float], Any] | None,
) -> dict[str, Any]: ...
def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    beta: float = 1.0,
    evidence: str | os.PathLike[str] | None = None,
) -> Model: ...
def read_bytes(data: bytes, format: str, beta: float = 1.0, names: Iterable[Any] | None = None) -> Model: ...
def generate(family: str, graph: str, d: int, w: float | None, seed: int) -> Ising: ...
def _restore(
    kind: str,
    numbers: tuple[int, float, float],
    tables: list[tuple[list[int], list[float]]],
    domains: tuple[list[int], list[int | None]],
    units: tuple[str, float],
    warnings: list[str],
    path: str | None,
    names: tuple[Any, ...] | None,
) -> Model: ...
def _sweep_plan(
    configs: list[tuple[str, bool]], models: dict[str, Model]
) -> tuple[list[tuple[str, str | None]], list[tuple[str, str, str]]]: ...
def _sweep_solve(task: str, model: Model | None) -> list[tuple[str, str]]: ...
def _sweep_row(line: str, grid: str, curve: str) -> dict[str, Any]: ...
def _panic(is_long: bool) -> None: ...

def _branch_expand(
    model: Model,
    states: list[tuple[int, int]],
    *,
    eps: float,
    splits: int,
    method: str | None,
    time_limit: float | None,
    memory_limit: int | None,
    seed: int,
) -> tuple[list[tuple[list[tuple[int, int]], float, float, bool]], str]: ...
def _branch_total(rows: list[tuple[float, float]], eps: float) -> tuple[float, float]: ...
def _slice_plan(
    model: Model, *, time_limit: float | None, memory_limit: int | None
) -> tuple[list[tuple[int, list[int]]], list[int], float, int]: ...
def _slice_solve(
    model: Model,
    states: list[tuple[int, int]],
    order: list[int],
    *,
    eps: float,
    time_limit: float | None,
    memory_limit: int | None,
) -> tuple[float, float]: ...
def _slice_total(
    model: Model, rows: list[tuple[float, float]], eps: float
) -> tuple[tuple[float, float, float], tuple[float, float, float]]: ...
