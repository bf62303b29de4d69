"""Certified bounds inside PyTorch graphs: `pip install zbound[torch]`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ._zbound import Ising
from .gradient import of_values, value_and_gradient

__all__ = ["log_z_bound", "polynomial_log_z_bound"]


class _LogZBound(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, fields: Any, couplings: Any, edges: Any, method: str, options: dict[str, Any]) -> Any:
        h = fields.detach().cpu().double().numpy()
        model = Ising.from_edges(h, edges, couplings.detach().cpu().double().numpy())
        value, gradient = value_and_gradient(model, method, **options)
        like = {"dtype": fields.dtype, "device": fields.device}
        order = _order(model, edges)
        ctx.save_for_backward(
            torch.as_tensor(gradient.fields, **like),
            torch.as_tensor(gradient.couplings[order], dtype=couplings.dtype, device=couplings.device),
        )
        return _rounded_up(value, fields)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        fields, couplings = ctx.saved_tensors
        return grads[0] * fields, grads[0] * couplings, None, None, None


class _PolynomialBound(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, values: Any, sets: Any, d: int, method: str, options: dict[str, Any]) -> Any:
        value, gradient = of_values(values.detach().cpu().double().numpy(), sets, d, method, options)
        ctx.save_for_backward(torch.as_tensor(gradient, dtype=values.dtype, device=values.device))
        return _rounded_up(value, values)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * ctx.saved_tensors[0], None, None, None, None


def _rounded_up(value: float, like: Any) -> Any:
    """`value` in the type of `like`: a narrower type must not round an upper bound down."""
    answer = torch.as_tensor(value, dtype=like.dtype, device=like.device)
    return answer if float(answer) >= value else torch.nextafter(answer, torch.full_like(answer, torch.inf))


def log_z_bound(fields: Any, couplings: Any, edges: Any, method: str = "quantum", **options: Any) -> Any:
    """The certified upper bound on eps log Z as a scalar tensor, differentiable in fields and couplings.

    `edges` is an integer array of shape (m, 2), `couplings` a tensor of shape (m,); options are those of `bound`.
    The solve runs on the CPU in double precision; a float32 result is rounded up.
    """
    return _LogZBound.apply(fields, couplings, np.asarray(edges), method, options)


def polynomial_log_z_bound(values: Any, sets: Any, d: int, method: str = "quantum", **options: Any) -> Any:
    """The same for `f(x) = sum_k values[k] x^sets[k]` on d spins, with terms of any arity.

    `sets` lists the variables of every term, `values` is a tensor of as many coefficients.
    """
    return _PolynomialBound.apply(values, sets, d, method, options)


def _order(model: Ising, edges: Any) -> Any:
    """Position of every given edge among the model's sorted ones."""
    low, high = np.min(edges, axis=1, initial=model.d), np.max(edges, axis=1, initial=0)
    return np.argsort(np.argsort(low * model.d + high, kind="stable"), kind="stable")
