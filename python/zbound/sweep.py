"""Many solves side by side, on any `concurrent.futures` executor."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _zbound
from ._zbound import Model
from .errors import SettingError
from .frames import dataframe
from .inputs import feature_spec

if TYPE_CHECKING:
    import pandas

__all__ = ["Sweep", "sweep"]

Grid = Union[str, "os.PathLike[str]", Mapping[str, Any], Iterable[Mapping[str, Any]]]

# The keys of a flat grid that say what is solved; those of the whole sweep; the rest says how.
_INSTANCE = ("family", "graph", "d", "w", "eps", "seed", "model")
_WHOLE = ("draws", "exact_operations")


@dataclass(frozen=True)
class Sweep(Sequence[dict[str, Any]]):
    """The records of a sweep, in the order of the grid.

    A row is flat and has the columns of the `records.csv` that `zbound sweep` writes; `records` holds the same
    as in its `records.jsonl`, with the trace of a method that keeps one.
    """

    rows: tuple[dict[str, Any], ...]
    records: tuple[dict[str, Any], ...] = field(repr=False)
    _lines: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]

    def __repr__(self) -> str:
        return f"Sweep({len(self.rows)} rows)"

    def _repr_html_(self) -> str:
        return f"<p>Sweep of {len(self.rows)} rows; <code>to_dataframe()</code> shows them.</p>"

    def to_dataframe(self) -> pandas.DataFrame:
        """A table with one row per record. Needs pandas."""
        return dataframe(list(self.rows))

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the records as JSON lines, as the command line does; `zbound plot` reads them."""
        Path(path).write_text("".join(line + "\n" for line in self._lines), encoding="utf-8")


def sweep(
    grid: Grid,
    executor: Optional[Executor] = None,
    progress: Optional[Callable[[int, int], Any]] = None,
) -> Sweep:
    """Every method on every instance of a grid: the records of `zbound sweep`, times apart.

    Args:
        grid: a flat mapping from names to values, whose product is taken: `model`, or `family`, `graph`, `d`, `w`
            and `seed` of `generate`, at temperatures `eps`; then `method` and its settings (`features`, `n`,
            `greedy`, `tol`, `gap`, `max_iterations`, `time_limit`, `solver`, `rho`, `pairwise`, `trace`). With `draws`
            the seeds are derived from the base `seed`, as on the command line. A list of such mappings
            runs one after another. Or the configuration of `zbound sweep`: its file, or the same as a mapping with
            the keys `grid` and `method`.
        executor: anything with `submit` that returns futures: a thread or process pool, Dask's
            `client.get_executor()`, mpi4py's `MPIPoolExecutor`, Ray through the adapter in `examples/python`. Solves
            run one after another without one. Records do not depend on it; what a broken pool leaves
            undone is done here, with a warning.
        progress: called with (instances done, instances) as they come in, in order.

    What goes wrong with one record is its `status` and `reason`, and leaves the others alone.

    >>> import zbound as zb
    >>> grid = {"family": "gaussian", "graph": "complete", "d": [4, 5], "seed": range(2), "method": ["quantum", "trw"]}
    >>> rows = zb.sweep(grid)
    >>> len(rows), rows[0]["d"], rows[0]["method"], rows[0]["status"]
    (8, 4, 'quantum', 'converged')
    >>> all(row["log_z_lower"] is None and row["bound"] >= row["exact"] for row in rows)
    True
    """
    models: dict[str, Model] = {}
    tasks, order = _zbound._sweep_plan(list(_configs(grid, models)), models)
    jobs = [(task, models.get(name) if name is not None else None) for task, name in tasks]
    lines: dict[str, str] = {}
    for done, records in enumerate(_run(jobs, executor), 1):
        lines.update(records)
        if progress is not None:
            progress(done, len(jobs))
    ordered = tuple(lines[key] for key, _, _ in order)
    rows = tuple(_zbound._sweep_row(line, grid, curve) for line, (_, grid, curve) in zip(ordered, order))
    return Sweep(rows, tuple(json.loads(line) for line in ordered), ordered)


def run_task(task: str, model: Optional[Model]) -> list[tuple[str, str]]:
    """The records of one instance, where the executor runs it: plain text, by key."""
    return _zbound._sweep_solve(task, model)


def _run(jobs: list[tuple[str, Optional[Model]]], executor: Optional[Executor]) -> Iterator[list[tuple[str, str]]]:
    if executor is None:
        yield from (run_task(*job) for job in jobs)
        return
    futures: list[Any] = []
    try:
        for job in jobs:
            try:
                futures.append(executor.submit(run_task, *job))
            except BrokenExecutor:
                futures.append(None)
        broken = False
        for job, future in zip(jobs, futures):
            try:
                records = future.result() if future is not None else None
            except BrokenExecutor as error:
                records = None
                if not broken:
                    warnings.warn(f"the executor broke ({error}): the rest runs here", RuntimeWarning, stacklevel=3)
                broken = True
            yield run_task(*job) if records is None else records
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


def _configs(grid: Grid, models: dict[str, Model]) -> Iterator[tuple[str, bool]]:
    """Texts of configurations, each with whether it is TOML; `models` gets the models named in them."""
    if isinstance(grid, (str, os.PathLike)):
        yield Path(grid).read_text(encoding="utf-8"), True
    elif isinstance(grid, Mapping):
        config = dict(grid) if "grid" in grid else _unfolded(grid, models)
        yield json.dumps(config, default=_plain), False
    else:
        for cell in grid:
            yield from _configs(cell, models)


def _unfolded(flat: Mapping[str, Any], models: dict[str, Model]) -> dict[str, Any]:
    """The configuration that a flat mapping stands for."""
    where = {key: flat[key] for key in _INSTANCE if key in flat}
    whole = {key: flat[key] for key in _WHOLE if key in flat}
    how = {key: value for key, value in flat.items() if key not in _INSTANCE and key not in _WHOLE}
    if "model" in where:
        where["model"] = [_named(model, models) for model in _values(where["model"])]
    if "draws" in whole and "seed" in where:
        whole["seed"] = where.pop("seed")
    if "features" in how:
        how["features"] = [feature_spec(features) for features in _choices(how["features"])]
    if "method" not in how:
        raise SettingError("a sweep needs `method`")
    names = _values(how.pop("method"))
    return {**whole, "grid": [where], "method": [{"method": name, **how} for name in names]}


def _choices(features: Any) -> list[Any]:
    """The choices of features on an axis; a list of variable sets is one choice."""
    values = _values(features)
    is_set = [not isinstance(v, str) and all(not isinstance(i, (str, Iterable)) for i in v) for v in values]
    return [values] if values and all(is_set) else values


def _named(model: Any, models: dict[str, Model]) -> Any:
    """The name under which a model takes part; a path stays one."""
    if not isinstance(model, Model):
        return os.fspath(model)
    known = [name for name, other in models.items() if other is model]
    if known:
        return known[0]
    name = label = model.path or repr(model)
    while name in models:
        name = f"{label} #{len(models)}"
    models[name] = model
    return name


def _values(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, os.PathLike, Model)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays, ranges and tuples as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Iterable):
        return list(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise SettingError(f"{value!r} cannot be part of a sweep")
