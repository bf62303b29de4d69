"""Plots for notebooks; matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .bounds import History
    from .results import Solution
    from .scan import Scan

__all__ = ["bracket", "convergence", "history", "temperature"]

# More points than this are a line without dots.
_DOTS = 40

# A legend where it hides nothing.
_ABOVE: dict[str, Any] = {
    "fontsize": "small",
    "loc": "lower center",
    "bbox_to_anchor": (0.5, 1.0),
    "ncols": 2,
    "frameon": False,
}


def convergence(solutions: Sequence[Solution], ax: Optional[Axes] = None) -> Axes:
    """Relaxation gap, upper minus lower value on phi, against the iterations."""
    from matplotlib.ticker import MaxNLocator

    axes = _axes(ax)
    lengths = []
    for solution in solutions:
        trace = solution.trace
        gap = trace.upper - trace.lower
        seen = gap > 0  # NaN compares false
        if seen.any():
            dots = "." if seen.sum() <= _DOTS else None
            axes.semilogy(trace.iteration[seen], gap[seen], marker=dots, label=solution.method)
            lengths.append(float(trace.iteration[seen][-1]))
    axes.set_xlabel("iteration")
    axes.set_ylabel("relaxation gap on phi")
    if not lengths:
        axes.text(0.5, 0.5, "no iterations to show", ha="center", va="center", transform=axes.transAxes)
        axes.set_xticks([])
        axes.set_yticks([])
    elif max(lengths) > 20 * min(lengths):
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if axes.get_legend_handles_labels()[1]:
        axes.legend()
    return axes


def bracket(solutions: Sequence[Solution], ax: Optional[Axes] = None) -> Axes:
    """Certified interval on eps log Z of every method; an open end is a dashed arrow, the best interval is shaded."""
    axes = _axes(ax)
    shown = [s for s in solutions if s.log_z.lower is not None or s.log_z.upper is not None]
    lowers = [s.log_z.lower for s in shown if s.log_z.lower is not None]
    uppers = [s.log_z.upper for s in shown if s.log_z.upper is not None]
    sides = lowers + uppers
    width = max(sides) - min(sides) if sides else 0.0
    # An interval of rounding errors would be drawn as if it were wide.
    least = 0.02 * max(1.0, abs(sides[0])) if sides else 1.0
    reach = 0.15 * max(width, least)
    for y, solution in enumerate(shown):
        lower, upper = solution.log_z.lower, solution.log_z.upper
        if lower is not None and upper is not None:
            axes.plot([lower, upper], [y, y], color="0.5", linewidth=2, zorder=1)
        elif upper is not None:
            _open_end(axes, upper, upper - reach, y)
        elif lower is not None:
            _open_end(axes, lower, lower + reach, y)
        if lower is not None:
            axes.plot([lower], [y], marker="|", markersize=20, markeredgewidth=2, color="C0")
        if upper is not None:
            # Shorter, so that both ends of a closed interval are seen.
            axes.plot([upper], [y], marker="|", markersize=11, markeredgewidth=2, color="C3")
    if len(shown) > 1 and lowers and uppers:
        axes.axvspan(max(lowers), min(uppers), color="0.9", zorder=0)
    axes.set_yticks(range(len(shown)))
    axes.set_yticklabels([s.method for s in shown])
    axes.set_xlabel("log Z" if all(s.eps == 1.0 for s in solutions) else "eps log Z")
    axes.ticklabel_format(axis="x", useOffset=False)
    if sides:
        middle = 0.5 * (max(sides) + min(sides))
        half = 0.5 * max(width, least) + 1.5 * reach
        axes.set_xlim(middle - half, middle + half)
        axes.set_ylim(len(shown) - 0.4, -0.6)  # the first method on top
        _legend(axes, bool(lowers), bool(uppers))
    return axes


def history(shrinking: Optional[History], eps: float = 1.0, ax: Optional[Axes] = None) -> Axes:
    """The proved bracket on eps log Z against time: every step is an improvement."""
    axes = _axes(ax)
    if shrinking is not None and len(shrinking.seconds):
        for values, color, name in (
            (shrinking.upper, "C3", "proved upper bound"),
            (shrinking.lower, "C0", "proved lower bound"),
        ):
            axes.step(shrinking.seconds, values, where="post", marker=".", color=color, label=name)
        axes.set_xscale("log")
        axes.legend(**_ABOVE)
    axes.set_xlabel("seconds")
    axes.set_ylabel("log Z" if eps == 1.0 else "eps log Z")
    return axes


def temperature(scan: Scan, ax: Optional[Axes] = None) -> Axes:
    """The proved bracket on log Z(beta) over the inverse temperature."""
    axes = _axes(ax)
    order = scan.betas.argsort()
    betas, lower, upper = scan.betas[order], scan.lower[order], scan.upper[order]
    axes.fill_between(betas, lower, upper, color="C0", alpha=0.15, linewidth=0)
    dots = "." if len(betas) <= _DOTS else None
    # Wider, so that both sides of a closed bracket are seen.
    axes.plot(betas, upper, marker=dots, markersize=9, linewidth=3.5, color="C3", label="proved upper bound")
    axes.plot(betas, lower, marker=dots, color="C0", label="proved lower bound")
    axes.set_xlabel("inverse temperature beta")
    axes.set_ylabel("log Z(beta)")
    axes.legend(**_ABOVE)
    return axes


def _open_end(axes: Axes, start: float, end: float, y: int) -> None:
    arrow = {"arrowstyle": "->", "linestyle": "--", "color": "0.5", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(end, y), xytext=(start, y), arrowprops=arrow)


def _legend(axes: Axes, has_lower: bool, has_upper: bool) -> None:
    from matplotlib.lines import Line2D

    names = [("C0", "proved lower bound", has_lower), ("C3", "proved upper bound", has_upper)]
    style: dict[str, Any] = {"marker": "|", "markersize": 10, "markeredgewidth": 2, "linestyle": ""}
    handles = [Line2D([], [], color=color, label=name, **style) for color, name, is_there in names if is_there]
    axes.legend(handles=handles, **_ABOVE)


def _axes(ax: Optional[Axes]) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=(6, 3.5), layout="constrained")[1]
    return axes
