"""Numbers and tables for people: whatever is rounded is rounded outward, so that the text is still true."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

if TYPE_CHECKING:
    from .bounds import Bounds
    from .results import Solution

__all__ = ["interval", "outward", "rows_of", "table"]


def interval(lower: Optional[float], upper: Optional[float]) -> str:
    """`[lower, upper]` to seven digits."""
    low = "-inf" if lower is None else np.format_float_positional(outward(lower, -1), trim="-")
    high = "inf" if upper is None else np.format_float_positional(outward(upper, 1), trim="-")
    return f"[{low}, {high}]"


def outward(value: float, sign: int) -> float:
    """A number of seven digits, or `value` itself, on the side of `value` that `sign` says."""
    rounded = float(f"{value:.7g}")
    if sign * rounded >= sign * value:
        return rounded
    unit = 10.0 ** (int(np.floor(np.log10(abs(value)))) - 6)
    # Adding one unit may round, so the comparison decides.
    moved = float(f"{rounded + sign * unit:.7g}")
    return moved if sign * moved >= sign * value else value


def table(solutions: Sequence[Solution], eps: float, best: Optional[Bounds] = None) -> str:
    """An HTML table with a row per method."""
    name = "log Z" if eps == 1.0 else "eps log Z"
    rows = []
    for s in solutions:
        gap = "" if s.relaxation_gap is None else f"{s.relaxation_gap:.1e}"
        lower = "" if s.log_z.lower is None else repr(outward(s.log_z.lower, -1))
        upper = "" if s.log_z.upper is None else repr(outward(s.log_z.upper, 1))
        cells = [s.method, lower, upper, gap, s.iterations, f"{s.seconds:.3g}", s.status]
        hint = f' title="{escape(s.reason)}"' if s.reason else ""
        rows.append(f"<tr{hint}>" + "".join(f"<td>{escape(str(c))}</td>" for c in cells) + "</tr>")
    head = ["method", f"{name} lower", "upper", "gap", "iterations", "seconds", "status"]
    header = "<tr>" + "".join(f"<th>{h}</th>" for h in head) + "</tr>"
    caption = f"<caption>{name} in {interval(best.lower, best.upper)}</caption>" if best else ""
    return f"<table>{caption}<thead>{header}</thead><tbody>{''.join(rows)}</tbody></table>"


def rows_of(values: dict[str, Any]) -> str:
    """An HTML table with a row per value."""
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(v))}</td></tr>" for name, v in values.items())
    return f"<table>{cells}</table>"
