"""Statistics of each column of rows, as NumPy's functions with axis=0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _ooc
from ._arguments import shown
from ._array import opened_elements
from ._errors import UsageError
from ._options import Settings
from ._progress import reporting
from ._run import RunStats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._array import ArrayLike


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """What `reduce` has found with axis=0. Arrays have the shape of a row."""

    count: int
    """The number of rows."""
    nan: NDArray[np.int64]
    """Elements of each column that are NaN."""
    inf: NDArray[np.int64]
    """Elements that are infinite."""
    sum: NDArray[Any]
    """Of integers exact: int64 or uint64, or Python integers if they need more bits."""
    min: NDArray[Any]
    """Of the type of the elements; of NaN only, or of no rows, NaN."""
    max: NDArray[Any]
    argmin: NDArray[np.int64]
    """The first row of the minimum; -1 if there is none."""
    argmax: NDArray[np.int64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    """Of the population, as numpy.var has it by default."""
    stddev: NDArray[np.float64]
    stats: RunStats = field(repr=False)
    """How it was computed."""


def first_axis(axis: Any) -> Literal[0]:
    """Returns an axis that can be reduced."""
    if isinstance(axis, (int, np.integer)) and not isinstance(axis, bool) and axis == 0:
        return 0
    raise UsageError(f"axis={shown(axis)} is not 0",
                     why="only the first axis is reduced, which is that of the rows")


def reduce_columns(x: ArrayLike, omit_nan: bool, wanted: Settings) -> ColumnStatistics:
    """Returns the statistics of each column, found in one pass."""
    array = opened_elements(x)
    with reporting(wanted.progress) as progress:
        rows, values, stats = _ooc.reduce_columns(array._input, omit_nan, array._machine(wanted),
                                                  progress)
    shape = array.shape[1:]
    native = array.dtype.newbyteorder("=")
    extremes = native if native.kind in "iuf" and rows else np.dtype(np.float64)

    def of(name: str, missing: Any, dtype: Any) -> NDArray[Any]:
        found = [missing if value is None else value for value in values[name]]
        return np.array(found, dtype).reshape(shape)

    return ColumnStatistics(
        count=rows,
        nan=of("nan", 0, np.int64),
        inf=of("inf", 0, np.int64),
        sum=of("sum", 0, None if native.kind in "iu" else np.float64),
        min=of("min", np.nan, extremes),
        max=of("max", np.nan, extremes),
        argmin=of("argmin", -1, np.int64),
        argmax=of("argmax", -1, np.int64),
        mean=of("mean", np.nan, np.float64),
        variance=of("variance", np.nan, np.float64),
        stddev=of("stddev", np.nan, np.float64),
        stats=RunStats(stats))
