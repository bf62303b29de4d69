"""Plots for notebooks; matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .results import Solution

__all__ = ["bracket", "convergence"]


def convergence(solutions: Sequence[Solution], ax: Optional[Axes] = None) -> Axes:
    """Relaxation gap, upper minus lower value on phi, against the iterations."""
    axes = _axes(ax)
    for solution in solutions:
        trace = solution.trace
        gap = trace.upper - trace.lower
        seen = gap > 0  # NaN compares false
        if seen.any():
            axes.semilogy(trace.iteration[seen], gap[seen], marker=".", label=solution.method)
    axes.set_xlabel("iteration")
    axes.set_ylabel("relaxation gap on phi")
    if axes.get_legend_handles_labels()[1]:
        axes.legend()
    return axes


def bracket(solutions: Sequence[Solution], ax: Optional[Axes] = None) -> Axes:
    """Certified interval on eps log Z of every method; an open end is an arrow."""
    axes = _axes(ax)
    names: list[str] = []
    sides = [v for s in solutions for v in (s.log_z.lower, s.log_z.upper) if v is not None]
    reach = 0.15 * ((max(sides) - min(sides)) if sides else 0.0) or 0.5
    for solution in solutions:
        lower, upper = solution.log_z.lower, solution.log_z.upper
        if lower is None and upper is None:
            continue
        y = len(names)
        names.append(solution.method)
        start = lower if lower is not None else (upper or 0.0) - reach
        end = upper if upper is not None else (lower or 0.0) + reach
        axes.plot([start, end], [y, y], color="C0", linewidth=2, alpha=0.6)
        if lower is not None:
            axes.plot([lower], [y], marker="|", markersize=14, color="C0")
        if upper is not None:
            axes.plot([upper], [y], marker="|", markersize=14, color="C3")
        if lower is None:
            axes.plot([start], [y], marker="<", color="C0")
        if upper is None:
            axes.plot([end], [y], marker=">", color="C0")
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names)
    axes.set_xlabel("log Z" if all(s.eps == 1.0 for s in solutions) else "eps log Z")
    axes.margins(y=0.3)
    return axes


def _axes(ax: Optional[Axes]) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=(6, 3.5), layout="constrained")[1]
    return axes
