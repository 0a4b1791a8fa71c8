"""Statistics of each column of rows, as NumPy's functions with axis=0, and of pairs of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _ooc
from ._arguments import shown
from ._array import opened_elements
from ._errors import UsageError
from ._options import Options, Settings, settings
from ._progress import reporting
from ._run import RunStats

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

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
                     why="only the first axis is reduced, which is that of the rows",
                     hint="reduce_rows(x, out, value) writes a result for each row")


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


def gram(x: ArrayLike, **given: Unpack[Options]) -> NDArray[np.float64]:
    """Returns x.T @ x for the values as float64, found in one pass.

    Rows of several dimensions are flat: of shape (n, 28, 28), the matrix has 784 columns. At most
    32,768 are possible. The bits are the same for any memory and number of threads.

        >>> ooc.gram(numpy.array([[1, 2], [3, 4]])).tolist()
        [[10.0, 14.0], [14.0, 20.0]]
    """
    return _matrix(x, False, settings(given))


def cov(x: ArrayLike, **given: Unpack[Options]) -> NDArray[np.float64]:
    """Returns numpy.cov(x, rowvar=False): the covariances of all pairs of columns, as `gram` does.

    They are divided by the number of rows minus one, of which there are two at least. A large mean
    costs no digits. A column with NaN or infinity has NaN.
    """
    return _matrix(x, True, settings(given))


def _matrix(x: ArrayLike, covariance: bool, wanted: Settings) -> NDArray[np.float64]:
    array = opened_elements(x)
    with reporting(wanted.progress) as progress:
        values, _ = _ooc.gram(array._input, covariance, array._machine(wanted), progress)
    matrix = np.frombuffer(values, np.float64)
    columns = math.isqrt(matrix.size)
    return matrix.reshape(columns, columns)
