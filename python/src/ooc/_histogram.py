"""Histograms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _ooc
from ._arguments import flag, integer, number, shown, unicode
from ._array import opened_elements
from ._errors import UsageError
from ._options import Options, Settings, settings
from ._progress import reporting
from ._run import RunStats
from ._svg import bars

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Union

    from typing_extensions import TypeAlias, Unpack

    from ._array import Array, ArrayLike

    Bins: TypeAlias = Union[int, str, Sequence[float], NDArray[Any]]


@dataclass(frozen=True)
class Histogram:
    """A histogram, which unpacks to counts and edges as that of NumPy does.

    Every element is counted once: counts.sum() + below + above + nan == count.
    """

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    below: int
    """Elements below the first edge."""
    above: int
    """Elements above the last edge."""
    nan: int
    """Elements that are NaN."""
    count: int
    """All elements."""
    stats: RunStats | None = field(repr=False, compare=False)
    """How it was computed; None for a sum of histograms."""

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.counts, self.edges))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        return (np.array_equal(self.counts, other.counts)
                and np.array_equal(self.edges, other.edges)
                and (self.below, self.above, self.nan, self.count)
                == (other.below, other.above, other.nan, other.count))

    def __add__(self, other: Histogram) -> Histogram:
        """Returns the histogram of the data of both, which must have the same edges."""
        if not isinstance(other, Histogram):
            return NotImplemented
        if not np.array_equal(self.edges, other.edges):
            raise UsageError("histograms with different edges cannot be added",
                             hint="give all parts the same range and number of bins")
        return Histogram(self.counts + other.counts, self.edges, self.below + other.below,
                         self.above + other.above, self.nan + other.nan, self.count + other.count,
                         None)

    def __radd__(self, other: object) -> Histogram:
        """Lets sum() add histograms, which begins with 0."""
        if other == 0:
            return self
        return NotImplemented

    def _repr_html_(self) -> str:
        return bars(self.counts, self.edges)


@dataclass(frozen=True)
class WeightedHistogram:
    """A histogram with weights, which unpacks to sums and edges as that of NumPy does.

    Sums are exact: they do not depend on the order of the data.
    """

    sums: NDArray[Any]
    """Of the weights in each bin: float64, or int64 for weights that are integers. If one of these
    sums has more digits, all are integers of Python."""
    sum_below: int | float
    """Of the weights of elements below the first edge."""
    sum_above: int | float
    """Of the weights of elements above the last edge."""
    sum_nan: int | float
    """Of the weights of elements that are NaN."""
    histogram: Histogram
    """Of the elements, without weights."""

    @property
    def edges(self) -> NDArray[np.float64]:
        return self.histogram.edges

    @property
    def stats(self) -> RunStats | None:
        """How it was computed."""
        return self.histogram.stats

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.sums, self.edges))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WeightedHistogram):
            return NotImplemented
        return (np.array_equal(self.sums, other.sums) and self.histogram == other.histogram
                and (self.sum_below, self.sum_above, self.sum_nan)
                == (other.sum_below, other.sum_above, other.sum_nan))


@overload
def histogram(x: ArrayLike, bins: Bins = 10, range: tuple[float, float] | None = None, *,
              log: bool = False, weights: None = None,
              **given: Unpack[Options]) -> Histogram: ...


@overload
def histogram(x: ArrayLike, bins: Bins = 10, range: tuple[float, float] | None = None, *,
              log: bool = False, weights: ArrayLike,
              **given: Unpack[Options]) -> WeightedHistogram: ...


def histogram(x: ArrayLike, bins: Bins = 10, range: tuple[float, float] | None = None, *,
              log: bool = False, weights: ArrayLike | None = None,
              **given: Unpack[Options]) -> Histogram | WeightedHistogram:
    """Counts elements in bins, as numpy.histogram does, or adds their weights.

    bins: their number, their edges, or a rule: "sqrt", "sturges", "scott", "fd" or "auto".
    range: lower and upper edge. Without it, a first pass over the data finds the extremes.
    log: bins of equal width on a logarithmic scale.
    weights: of the elements, of any type, with the shape of x. Bins by a rule take none.

    Other than in NumPy, NaN is counted and no error, and edges are not cast to f4 for f4 data.

        >>> ooc.histogram(numpy.array([1, 2, 1]), bins=[0, 1, 2, 3]).counts.tolist()
        [0, 2, 1]
        >>> ooc.histogram(numpy.array([1, 2, 1]), bins=2, weights=numpy.array([0.5, 3, 1])).sums
        array([1.5, 3. ])
    """
    wanted = settings(given)
    sought = bins_of(bins)
    limits = None if range is None else limits_of(range)
    is_log = flag(log, "log")
    array = opened_elements(x)
    if weights is not None:
        return _weighted(array, opened_elements(weights, "weights"), sought, limits, is_log, wanted)
    with reporting(wanted.progress) as progress:
        counts, ends, below, above, nan, count, stats = _ooc.histogram(
            array._input, sought, limits, is_log, array._machine(wanted), progress)
    return Histogram(np.frombuffer(counts, np.int64), np.frombuffer(ends, np.float64), below,
                     above, nan, count, RunStats(stats))


def _weighted(array: Array, weights: Array, bins: int | str | list[float],
              range: tuple[float, float] | None, log: bool, wanted: Settings) -> WeightedHistogram:
    if array.shape != weights.shape:
        raise UsageError(f"x has the shape {array.shape}, and weights {weights.shape}")
    with reporting(wanted.progress) as progress:
        sums, others, counts, ends, below, above, nan, count, stats = _ooc.weighted_histogram(
            array._input, weights._input, bins, range, log, array._machine(wanted), progress)
    counted = Histogram(np.frombuffer(counts, np.int64), np.frombuffer(ends, np.float64), below,
                        above, nan, count, RunStats(stats))
    dtype: type = np.float64
    if isinstance(others[0], int):
        limits = np.iinfo(np.int64)
        dtype = np.int64 if all(limits.min <= each <= limits.max for each in sums) else object
    return WeightedHistogram(np.array(sums, dtype), *others, counted)


def bins_of(bins: Any) -> int | str | list[float]:
    """Returns a number of bins, the name of a rule, or edges. The library checks their values."""
    if isinstance(bins, str):
        return unicode(bins)
    if not isinstance(bins, (list, tuple)) and np.ndim(bins) == 0:
        try:
            return integer(bins, "bins")
        except TypeError:
            raise TypeError(f"bins={shown(bins)} is no number of bins, no list of edges and no "
                            "rule") from None
    given = bins.tolist() if isinstance(bins, np.ndarray) else bins
    edges = [number(edge, f"bins[{index}]") for index, edge in enumerate(given)]
    if any(isinstance(exact, (int, np.integer)) and int(edge) != int(exact)
           for edge, exact in zip(edges, given)):
        raise UsageError("bins: an edge is an integer that double precision does not have")
    return edges


def limits_of(range: Any) -> tuple[float, float]:
    try:
        if isinstance(range, str):
            raise TypeError
        ends = tuple(range)
    except TypeError:
        raise TypeError(f"range={shown(range)} is no pair of numbers") from None
    if len(ends) != 2:
        raise UsageError(f"range={shown(range)} has not two ends")
    return number(ends[0], "range[0]"), number(ends[1], "range[1]")
