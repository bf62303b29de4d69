"""Models from files, from bytes and from random families."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Optional, Union

from . import _zbound
from ._zbound import Ising, Model

__all__ = ["generate", "read", "read_bytes"]


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
