"""Certified bounds inside JAX programs: `pip install zbound[jax]`."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._zbound import Ising
from .gradient import of_values, value_and_gradient

__all__ = ["log_z_bound", "polynomial_log_z_bound"]


def log_z_bound(fields: Any, couplings: Any, edges: Any, method: str = "quantum", **options: Any) -> Any:
    """The certified upper bound on eps log Z as a scalar, differentiable in fields and couplings.

    `edges` is a concrete integer array of shape (m, 2), `couplings` has shape (m,); options are those of `bound`.
    Works under `jit` and `grad`: the solve runs on the host in double precision; a float32 result is
    rounded up.
    """
    pairs = np.asarray(edges)
    return _bound(fields, couplings, (_Static(pairs, method, options)))


def polynomial_log_z_bound(values: Any, sets: Any, d: int, method: str = "quantum", **options: Any) -> Any:
    """The same for `f(x) = sum_k values[k] x^sets[k]` on d spins, with terms of any arity.

    `sets` lists the variables of every term, `values` has as many coefficients.
    """
    key = tuple(tuple(int(i) for i in s) for s in sets)
    return _polynomial_bound(values, _Terms(key, d, method, tuple(sorted(options.items()))))


class _Terms(NamedTuple):
    """Arguments of a polynomial bound that are not traced."""

    sets: tuple[tuple[int, ...], ...]
    d: int
    method: str
    options: tuple[tuple[str, Any], ...]

    def solve(self, values: Any) -> Any:
        """Value and gradient in the type of the argument."""
        values = np.asarray(values)
        value, gradient = of_values(values, self.sets, self.d, self.method, dict(self.options))
        return _rounded_up(value, values.dtype), gradient.astype(values.dtype)


def _rounded_up(value: float, dtype: Any) -> Any:
    """`value` as `dtype`: a narrower type must not round an upper bound down."""
    answer = dtype.type(value)
    return np.asarray(answer if float(answer) >= value else np.nextafter(answer, dtype.type(np.inf)))


class _Static:
    """Arguments that are not traced, compared by content so that `jit` can cache."""

    def __init__(self, edges: Any, method: str, options: dict[str, Any]) -> None:
        self.edges, self.method, self.options = edges, method, options
        self._key = (edges.tobytes(), edges.shape, method, repr(sorted(options.items())))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and self._key == other._key

    def solve(self, fields: Any, couplings: Any) -> Any:
        """Value and gradient in the types of the arguments."""
        fields, couplings = np.asarray(fields), np.asarray(couplings)
        model = Ising.from_edges(fields.astype(float), self.edges, couplings.astype(float))
        value, gradient = value_and_gradient(model, self.method, **self.options)
        low, high = self.edges.min(axis=1, initial=model.d), self.edges.max(axis=1, initial=0)
        order = np.argsort(np.argsort(low * model.d + high, kind="stable"), kind="stable")
        moments = gradient.couplings[order].astype(couplings.dtype)
        return _rounded_up(value, fields.dtype), gradient.fields.astype(fields.dtype), moments


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _bound(fields: Any, couplings: Any, static: _Static) -> Any:
    return _forward(fields, couplings, static)[0]


def _forward(fields: Any, couplings: Any, static: _Static) -> Any:
    fields, couplings = jnp.asarray(fields), jnp.asarray(couplings)
    shapes = (
        jax.ShapeDtypeStruct((), fields.dtype),
        jax.ShapeDtypeStruct(fields.shape, fields.dtype),
        jax.ShapeDtypeStruct(couplings.shape, couplings.dtype),
    )
    value, of_fields, of_couplings = jax.pure_callback(static.solve, shapes, fields, couplings)
    return value, (of_fields, of_couplings)


def _backward(_: _Static, moments: Any, cotangent: Any) -> Any:
    return cotangent * moments[0], cotangent * moments[1]


_bound.defvjp(_forward, _backward)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _polynomial_bound(values: Any, static: _Terms) -> Any:
    return _polynomial_forward(values, static)[0]


def _polynomial_forward(values: Any, static: _Terms) -> Any:
    values = jnp.asarray(values)
    shapes = (jax.ShapeDtypeStruct((), values.dtype), jax.ShapeDtypeStruct(values.shape, values.dtype))
    value, gradient = jax.pure_callback(static.solve, shapes, values)
    return value, gradient


def _polynomial_backward(_: _Terms, moments: Any, cotangent: Any) -> Any:
    return (cotangent * moments,)


_polynomial_bound.defvjp(_polynomial_forward, _polynomial_backward)
