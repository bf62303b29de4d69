"""Variables by name: what dimod, networkx and pgmpy call them, or their number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._zbound import Model
from .errors import SettingError

__all__ = ["positions"]


def positions(model: Model, variables: Iterable[Any]) -> list[int]:
    """The number of every variable; a model with names takes its names first, then numbers.

    >>> import zbound as zb
    >>> from zbound.names import positions
    >>> positions(zb.Ising([0.0, 0.0, 0.0], names=["a", "b", "c"]), ["c", 0])
    [2, 0]
    """
    known = {} if model.names is None else {name: k for k, name in enumerate(model.names)}

    def number(variable: Any) -> int:
        try:
            if variable in known:
                return known[variable]
        except TypeError:  # not hashable, so no name
            pass
        try:
            return int(variable.__index__())
        except AttributeError:
            few = ", ".join(map(repr, list(known)[:6])) + (", ..." if len(known) > 6 else "")
            hint = f"names are {few}" if known else "the model has no names, use numbers"
            raise SettingError(f"no variable {variable!r}: {hint}") from None

    return [number(variable) for variable in variables]
