"""Statistics of all elements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Union, overload

import numpy as np

from . import _ooc
from ._arguments import flag, number, omits_nan
from ._array import opened_elements
from ._columns import ColumnStatistics, first_axis, reduce_columns
from ._errors import UsageError
from ._merge import merged
from ._options import Options, settings
from ._progress import reporting
from ._run import RunStats

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._array import ArrayLike

Number = Union[int, float]
NanPolicy = Literal["propagate", "omit"]


class ReduceOptions(Options, total=False):
    """Keyword arguments of functions that return one of the statistics. See `reduce`."""

    nan: NanPolicy
    exact: bool


@dataclass(frozen=True)
class Statistics:
    """What `reduce` has found. Without elements, the sum is 0 and other values are None."""

    count: int
    """All elements."""
    nan: int
    """Elements that are NaN."""
    inf: int
    """Elements that are infinite."""
    sum: Number
    """Of integers an int, exact; else rounded as `ooc-run reduce` does."""
    min: Number | None
    max: Number | None
    argmin: int | None
    """The first index of the minimum, in row-major order; of a shard, the index in the whole."""
    argmax: int | None
    mean: float | None
    variance: float | None
    """Of the population, as numpy.var has it by default."""
    stddev: float | None
    stats: RunStats | None = field(repr=False, compare=False)
    """How it was computed; None for a sum of statistics."""
    is_shard: bool = field(default=False, repr=False, compare=False)
    """True for a shard, and for a sum of shards."""

    def __add__(self, other: Statistics) -> Statistics:
        """Returns the statistics of the data of both, which are parts of one array.

        Counts, extremes and sums of integers are those of the whole. Sums of floats, mean and
        variance are merged from rounded values, so their last bits may differ from those of the
        whole, also after reduce(..., exact=True). Of parts that are no shards, argmin and argmax
        are None: their indices do not say where the parts lie.
        """
        if not isinstance(other, Statistics):
            return NotImplemented
        return merged(self, other)

    def __radd__(self, other: object) -> Statistics:
        """Lets sum() add statistics, which begins with 0."""
        if other == 0:
            return self
        return NotImplemented

    def _repr_html_(self) -> str:
        names = ("count", "nan", "inf", "sum", "min", "max", "argmin", "argmax", "mean",
                 "variance", "stddev")
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th>"
                        f"<td style='text-align:right'>{_shown(getattr(self, name))}</td></tr>"
                        for name in names)
        return f"<table>{cells}</table>"


@overload
def reduce(x: ArrayLike, *, axis: None = None, nan: NanPolicy = "propagate", exact: bool = False,
           **given: Unpack[Options]) -> Statistics: ...
@overload
def reduce(x: ArrayLike, *, axis: Literal[0], nan: NanPolicy = "propagate", exact: bool = False,
           **given: Unpack[Options]) -> ColumnStatistics: ...
def reduce(x: ArrayLike, *, axis: Literal[0] | None = None, nan: NanPolicy = "propagate",
           exact: bool = False, **given: Unpack[Options]) -> Statistics | ColumnStatistics:
    """Returns the statistics of all elements, found in one pass.

    axis: 0 returns those of each column, that is, of the elements with the same place in a row.
    nan: "propagate" makes statistics NaN if an element is, as NumPy does; "omit" skips NaN.
    exact: rounds sum and mean once, from their exact values; not with axis=0.

    Sums of floats are computed in double precision and have the same bits for every file layout,
    number of threads and device. NumPy adds f4 and f2 in their own precision.

        >>> ooc.reduce(numpy.array([1, 2, 6])).mean
        3.0
        >>> ooc.reduce(numpy.array([[1, 2], [3, 8]]), axis=0).mean
        array([2., 5.])
    """
    omits = omits_nan(nan)
    is_exact = flag(exact, "exact")
    wanted = settings(given)
    if axis is not None:
        if first_axis(axis) == 0 and is_exact:
            raise UsageError("exact=True with axis=0",
                             why="the sums of columns are not rounded once")
        return reduce_columns(x, omits, wanted)
    array = opened_elements(x)
    source = array._input
    with reporting(wanted.progress) as progress:
        values, stats = _ooc.reduce(source, omits, is_exact, array._machine(wanted), progress)
    return Statistics(**values, stats=RunStats(stats), is_shard=source.is_section)


@overload
def sum(x: ArrayLike, *, axis: None = None, **given: Unpack[ReduceOptions]) -> Number: ...
@overload
def sum(x: ArrayLike, *, axis: Literal[0], **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def sum(x: ArrayLike, *, axis: Literal[0] | None = None,
        **given: Unpack[ReduceOptions]) -> Number | NDArray[Any]:
    """Returns the sum of all elements, of integers an int of any size, exact; or of each column."""
    return reduce(x, axis=axis, **given).sum


@overload
def mean(x: ArrayLike, *, axis: None = None, **given: Unpack[ReduceOptions]) -> float: ...
@overload
def mean(x: ArrayLike, *, axis: Literal[0], **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def mean(x: ArrayLike, *, axis: Literal[0] | None = None,
         **given: Unpack[ReduceOptions]) -> float | NDArray[Any]:
    """Returns the mean of all elements, or of each column; NaN if there are none."""
    found = reduce(x, axis=axis, **given)
    return _or_nan(found.mean) if isinstance(found, Statistics) else found.mean


@overload
def var(x: ArrayLike, *, axis: None = None, ddof: int = 0,
        **given: Unpack[ReduceOptions]) -> float: ...
@overload
def var(x: ArrayLike, *, axis: Literal[0], ddof: int = 0,
        **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def var(x: ArrayLike, *, axis: Literal[0] | None = None, ddof: int = 0,
        **given: Unpack[ReduceOptions]) -> float | NDArray[Any]:
    """Returns the variance of all elements, or of each column; `ddof` as in numpy.var."""
    lost = number(ddof, "ddof")
    found = reduce(x, axis=axis, **given)
    values = found.count - found.nan
    if isinstance(found, ColumnStatistics):
        weight = np.where(values > lost, values / np.maximum(values - lost, 1), math.nan)
        return found.variance if lost == 0 else found.variance * weight
    if found.variance is None or values <= lost:
        return math.nan
    return found.variance if lost == 0 else found.variance * values / (values - lost)


@overload
def std(x: ArrayLike, *, axis: None = None, ddof: int = 0,
        **given: Unpack[ReduceOptions]) -> float: ...
@overload
def std(x: ArrayLike, *, axis: Literal[0], ddof: int = 0,
        **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def std(x: ArrayLike, *, axis: Literal[0] | None = None, ddof: int = 0,
        **given: Unpack[ReduceOptions]) -> float | NDArray[Any]:
    """Returns the standard deviation of all elements, or of each column; `ddof` as numpy.std."""
    if axis is not None:
        deviations: NDArray[Any] = np.sqrt(var(x, axis=axis, ddof=ddof, **given))
        return deviations
    if number(ddof, "ddof") == 0:
        return _or_nan(reduce(x, **given).stddev)
    return math.sqrt(var(x, ddof=ddof, **given))


@overload
def min(x: ArrayLike, *, axis: None = None, **given: Unpack[ReduceOptions]) -> Number: ...
@overload
def min(x: ArrayLike, *, axis: Literal[0], **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def min(x: ArrayLike, *, axis: Literal[0] | None = None,
        **given: Unpack[ReduceOptions]) -> Number | NDArray[Any]:
    """Returns the smallest element, or that of each column. Raises ValueError for no elements."""
    found = reduce(x, axis=axis, **given)
    return _required(found.min) if isinstance(found, Statistics) else _of_rows(found, found.min)


@overload
def max(x: ArrayLike, *, axis: None = None, **given: Unpack[ReduceOptions]) -> Number: ...
@overload
def max(x: ArrayLike, *, axis: Literal[0], **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def max(x: ArrayLike, *, axis: Literal[0] | None = None,
        **given: Unpack[ReduceOptions]) -> Number | NDArray[Any]:
    """Returns the largest element, or that of each column. Raises ValueError for no elements."""
    found = reduce(x, axis=axis, **given)
    return _required(found.max) if isinstance(found, Statistics) else _of_rows(found, found.max)


@overload
def argmin(x: ArrayLike, *, axis: None = None, **given: Unpack[ReduceOptions]) -> int: ...
@overload
def argmin(x: ArrayLike, *, axis: Literal[0], **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def argmin(x: ArrayLike, *, axis: Literal[0] | None = None,
           **given: Unpack[ReduceOptions]) -> int | NDArray[Any]:
    """Returns the first index of the smallest element, in row-major order; or the first row of
    that of each column."""
    found = reduce(x, axis=axis, **given)
    if isinstance(found, Statistics):
        return int(_required(found.argmin))
    return _of_rows(found, found.argmin)


@overload
def argmax(x: ArrayLike, *, axis: None = None, **given: Unpack[ReduceOptions]) -> int: ...
@overload
def argmax(x: ArrayLike, *, axis: Literal[0], **given: Unpack[ReduceOptions]) -> NDArray[Any]: ...
def argmax(x: ArrayLike, *, axis: Literal[0] | None = None,
           **given: Unpack[ReduceOptions]) -> int | NDArray[Any]:
    """Returns the first index of the largest element, in row-major order; or the first row of
    that of each column."""
    found = reduce(x, axis=axis, **given)
    if isinstance(found, Statistics):
        return int(_required(found.argmax))
    return _of_rows(found, found.argmax)


def _of_rows(found: ColumnStatistics, values: NDArray[Any]) -> NDArray[Any]:
    if found.count == 0:
        raise ValueError("an array without rows has no smallest and no largest elements")
    return values


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _required(value: Number | None) -> Number:
    if value is None:
        raise ValueError("an empty array has no smallest and no largest element")
    return value


def _shown(value: Number | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value!r}"
