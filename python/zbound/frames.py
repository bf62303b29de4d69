"""Records as tables of pandas and datasets of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = ["dataframe", "dataset"]


def dataframe(records: list[dict[str, Any]]) -> pandas.DataFrame:
    """A table with one row per record."""
    import pandas

    return pandas.DataFrame.from_records(records)


def dataset(records: list[dict[str, Any]], dimension: str) -> xarray.Dataset:
    """The same table as arrays over one dimension; an unknown number is NaN."""
    import xarray

    def column(name: str) -> Any:
        values = [record[name] for record in records]
        numeric = all(value is None or isinstance(value, (bool, int, float)) for value in values)
        if numeric and any(value is not None for value in values):
            return np.array([np.nan if value is None else value for value in values])
        return np.array(["" if value is None else str(value) for value in values])

    names = list(records[0]) if records else [dimension]
    data = {name: (dimension, column(name)) for name in names if name != dimension}
    return xarray.Dataset(data, coords={dimension: (dimension, column(dimension))})
