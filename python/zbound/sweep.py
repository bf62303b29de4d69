"""Many solves side by side, on any `concurrent.futures` executor."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._zbound import Model
from .errors import SettingError
from .results import Results, dataframe
from .solve import bound, generate

if TYPE_CHECKING:
    import pandas

__all__ = ["Sweep", "sweep"]

Cell = dict[str, Any]
Grid = Union[Mapping[str, Any], Iterable[Mapping[str, Any]]]

_GENERATE = ("family", "graph", "d", "w", "seed")


@dataclass(frozen=True)
class Sweep(Sequence[dict[str, Any]]):
    """The rows of a sweep, in the order of the grid: the cell's parameters and the flat record."""

    rows: tuple[dict[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]

    def __repr__(self) -> str:
        return f"Sweep({len(self.rows)} rows)"

    def to_dataframe(self) -> pandas.DataFrame:
        """A table with one row per cell and method. Needs pandas."""
        return dataframe(list(self.rows))


def sweep(
    grid: Grid,
    executor: Optional[Executor] = None,
    progress: Optional[Callable[[int, int], Any]] = None,
) -> Sweep:
    """Runs `bound` on every cell of a grid.

    Args:
        grid: a mapping from names to values, whose product is taken (a string or a `Model` counts as one value),
            or an iterable of cells. A cell holds either `model`, or `family`, `graph`, `d` and `w`, `seed`
            for `generate`; the rest (`method`, `eps`, ...) goes to `bound`.
        executor: anything with `submit` that returns futures: a thread or process pool, Dask's
            `client.get_executor()`, Ray's, mpi4py's. Solves run one after another without one. Rows do not
            depend on it, times apart.
        progress: called with (cells done, cells) as rows come in, in order.

    >>> import zbound as zb
    >>> grid = {"family": "gaussian", "graph": "complete", "d": [4, 5], "seed": range(2), "method": ["quantum", "trw"]}
    >>> rows = zb.sweep(grid)
    >>> len(rows), rows[0]["d"], rows[0]["method"], rows[0]["status"]
    (8, 4, 'quantum', 'converged')
    """
    cells = list(_cells(grid))
    rows: list[dict[str, Any]] = []
    if executor is None:
        for done, cell in enumerate(cells, 1):
            rows.extend(run_cell(cell))
            if progress is not None:
                progress(done, len(cells))
        return Sweep(tuple(rows))
    futures = [executor.submit(run_cell, cell) for cell in cells]
    try:
        for done, future in enumerate(futures, 1):
            rows.extend(future.result())
            if progress is not None:
                progress(done, len(cells))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return Sweep(tuple(rows))


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    """One cell of a sweep, where the executor runs it: a row per method, made of plain values."""
    options = dict(cell)
    model = options.pop("model", None)
    if model is None:
        spec = {name: options.pop(name) for name in _GENERATE if name in options}
        if not {"family", "graph", "d"} <= spec.keys():
            raise SettingError("a cell of a sweep needs `model`, or `family`, `graph` and `d`")
        model = generate(spec.pop("family"), spec.pop("graph"), **spec)
    method = options.pop("method", "auto")
    answer = bound(model, method, **options)
    solutions = answer.solutions if isinstance(answer, Results) else (answer,)
    labels = {name: _label(value) for name, value in cell.items()}
    return [{**labels, **solution.to_record()} for solution in solutions]


def _cells(grid: Grid) -> Iterator[Cell]:
    if not isinstance(grid, Mapping):
        yield from (dict(cell) for cell in grid)
        return
    axes = [_values(value) for value in grid.values()]
    for values in itertools.product(*axes):
        yield dict(zip(grid, values))


def _values(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Model)) or not isinstance(value, Iterable):
        return [value]
    return [v.item() if hasattr(v, "item") else v for v in value]


def _label(value: Any) -> Any:
    return (value.path or repr(value)) if isinstance(value, Model) else value
