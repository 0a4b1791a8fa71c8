"""Histograms."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _ooc
from ._array import open
from ._errors import UsageError
from ._options import Options, machine, settings
from ._progress import reporting
from ._run import RunStats
from ._svg import bars

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Union

    from typing_extensions import TypeAlias, Unpack

    from ._array import ArrayLike

    Bins: TypeAlias = Union[int, str, Sequence[float], NDArray[Any]]

_rules = ("sqrt", "sturges", "scott")  # of numpy.histogram_bin_edges


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


def histogram(x: ArrayLike, bins: Bins = 10, range: tuple[float, float] | None = None, *,
              log: bool = False, **given: Unpack[Options]) -> Histogram:
    """Counts elements in bins, as numpy.histogram does.

    bins: their number, their edges, or a rule: "sqrt", "sturges" or "scott".
    range: lower and upper edge. Without it, a first pass over the data finds the extremes.
    log: bins of equal width on a logarithmic scale.

    Other than in NumPy, NaN is counted and no error, and edges are not cast to f4 for f4 data.

        >>> ooc.histogram(numpy.array([1, 2, 1]), bins=[0, 1, 2, 3]).counts.tolist()
        [0, 2, 1]
    """
    edges: list[float] = []
    number: int | str = 1
    if isinstance(bins, str):
        if bins not in _rules:
            raise UsageError(f"bins={bins!r} is no rule", hint=f"the rules are {', '.join(_rules)}")
        number = bins
    elif np.ndim(bins) == 0:
        number = operator.index(bins)  # type: ignore[arg-type]
    else:
        edges = [float(edge) for edge in bins]  # type: ignore[union-attr]
        if len(edges) < 2:
            raise UsageError("bins have two edges at least")
        if any(isinstance(exact, (int, np.integer)) and int(edge) != int(exact)
               for edge, exact in zip(edges, bins)):  # type: ignore[arg-type]
            raise UsageError("an edge is an integer that double precision does not have")
    if isinstance(number, int) and number < 1:
        raise UsageError(f"bins={number} is less than one")
    if isinstance(number, int) and number > _ooc.max_bins:
        raise UsageError(f"bins={number} is more than {_ooc.max_bins:,}")
    limits = None
    if range is not None:
        lower, upper = range
        limits = (float(lower), float(upper))
    array = open(x)
    if limits is None and not edges and isinstance(number, int) and not log:
        if array.is_stream:
            raise UsageError(f"{array.name}: is read once, so its extremes are not known",
                             hint="give range=(lower, upper)")
        if array.size == 0:
            limits = (0.0, 1.0)  # as in NumPy
        elif array.dtype.itemsize == 1:
            limits = _extremes(array, given)
    wanted = settings(given)
    with reporting(wanted.progress) as progress:
        counts, ends, below, above, nan, count, stats = _ooc.histogram(
            array._input, number, limits, edges, log, machine(wanted), progress)
    return Histogram(np.frombuffer(counts, np.int64), np.frombuffer(ends, np.float64), below,
                     above, nan, count, RunStats(stats))


def _extremes(array: Any, given: Options) -> tuple[float, float]:
    """Returns the extremes of bytes: the library's default are all values that a byte can have."""
    from ._statistics import reduce

    found = reduce(array, **given)
    return float(found.min or 0), float(found.max or 0)
