"""Statistics of all elements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Union

from . import _ooc
from ._arguments import flag, number, shown
from ._array import opened_elements
from ._errors import UsageError
from ._merge import merged
from ._options import Options, settings
from ._progress import reporting
from ._run import RunStats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._array import ArrayLike

Number = Union[int, float]


class ReduceOptions(Options, total=False):
    """Keyword arguments of functions that return one of the statistics. See `reduce`."""

    nan: Literal["propagate", "omit"]
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


def reduce(x: ArrayLike, *, nan: Literal["propagate", "omit"] = "propagate", exact: bool = False,
           **given: Unpack[Options]) -> Statistics:
    """Returns the statistics of all elements, found in one pass.

    nan: "propagate" makes statistics NaN if an element is, as NumPy does; "omit" skips NaN.
    exact: rounds sum and mean once, from their exact values.

    Sums of floats are computed in double precision and have the same bits for every file layout,
    number of threads and device. NumPy adds f4 and f2 in their own precision.

        >>> ooc.reduce(numpy.array([1, 2, 6])).mean
        3.0
    """
    if not isinstance(nan, str) or nan not in ("propagate", "omit"):
        raise UsageError(f"nan={shown(nan)} is neither 'propagate' nor 'omit'")
    is_exact = flag(exact, "exact")
    wanted = settings(given)
    array = opened_elements(x)
    source = array._input
    with reporting(wanted.progress) as progress:
        values, stats = _ooc.reduce(source, nan == "omit", is_exact, array._machine(wanted),
                                    progress)
    return Statistics(**values, stats=RunStats(stats), is_shard=source.is_section)


def sum(x: ArrayLike, **given: Unpack[ReduceOptions]) -> Number:
    """Returns the sum of all elements: of integers an int of any size, exact."""
    return reduce(x, **given).sum


def mean(x: ArrayLike, **given: Unpack[ReduceOptions]) -> float:
    """Returns the mean of all elements; NaN if there are none."""
    return _or_nan(reduce(x, **given).mean)


def var(x: ArrayLike, *, ddof: int = 0, **given: Unpack[ReduceOptions]) -> float:
    """Returns the variance; `ddof` as in numpy.var."""
    lost = number(ddof, "ddof")
    found = reduce(x, **given)
    values = found.count - found.nan
    if found.variance is None or values <= lost:
        return math.nan
    return found.variance if lost == 0 else found.variance * values / (values - lost)


def std(x: ArrayLike, *, ddof: int = 0, **given: Unpack[ReduceOptions]) -> float:
    """Returns the standard deviation; `ddof` as in numpy.std."""
    if number(ddof, "ddof") == 0:
        return _or_nan(reduce(x, **given).stddev)
    return math.sqrt(var(x, ddof=ddof, **given))


def min(x: ArrayLike, **given: Unpack[ReduceOptions]) -> Number:
    """Returns the smallest element. Raises ValueError if there are none."""
    return _required(reduce(x, **given).min)


def max(x: ArrayLike, **given: Unpack[ReduceOptions]) -> Number:
    """Returns the largest element. Raises ValueError if there are none."""
    return _required(reduce(x, **given).max)


def argmin(x: ArrayLike, **given: Unpack[ReduceOptions]) -> int:
    """Returns the first index of the smallest element, in row-major order."""
    return int(_required(reduce(x, **given).argmin))


def argmax(x: ArrayLike, **given: Unpack[ReduceOptions]) -> int:
    """Returns the first index of the largest element, in row-major order."""
    return int(_required(reduce(x, **given).argmax))


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _required(value: Number | None) -> Number:
    if value is None:
        raise ValueError("an empty array has no smallest and no largest element")
    return value


def _shown(value: Number | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value!r}"
