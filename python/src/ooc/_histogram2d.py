"""Histograms of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

import numpy as np
from numpy.typing import NDArray

from . import _ooc
from ._arguments import shown
from ._array import opened, opened_elements
from ._errors import UsageError
from ._filter import column_of
from ._histogram import bins_of, limits_of
from ._options import Options, settings
from ._progress import reporting
from ._run import RunStats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import TypeAlias, Unpack

    from ._array import ArrayLike

    AxisBins: TypeAlias = Union[int, Sequence[float], NDArray[Any]]
    Bins: TypeAlias = Union[AxisBins, tuple[AxisBins, AxisBins], list[AxisBins]]
    Ends: TypeAlias = Union[tuple[float, float], None]
    Column: TypeAlias = Union[str, SupportsIndex]


@dataclass(frozen=True)
class Histogram2d:
    """A histogram of pairs, which unpacks to counts and both edges as that of NumPy does.

    Every pair is counted once: counts.sum() + outside + nan == count.
    """

    counts: NDArray[np.int64]
    """Of shape (bins of x, bins of y)."""
    x_edges: NDArray[np.float64]
    y_edges: NDArray[np.float64]
    outside: int
    """Pairs with a number outside of the bins of its axis."""
    nan: int
    """Pairs with a NaN."""
    count: int
    """All pairs."""
    stats: RunStats = field(repr=False, compare=False)
    """How it was computed."""

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.counts, self.x_edges, self.y_edges))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram2d):
            return NotImplemented
        return (all(np.array_equal(mine, others) for mine, others in zip(self, other))
                and (self.outside, self.nan, self.count)
                == (other.outside, other.nan, other.count))


def histogram2d(x: ArrayLike, y: ArrayLike | None = None, bins: Bins = 10,
                range: tuple[Ends, Ends] | None = None, *,
                columns: tuple[Column, Column] = (0, 1),
                **given: Unpack[Options]) -> Histogram2d:
    """Counts pairs of numbers in cells, as numpy.histogram2d does.

    x, y: the numbers of both axes, of any types, with one shape. Without y, the pairs are two
        columns of x.
    bins: of both axes, or one for each: their number, or their edges.
    range: lower and upper edge of x, and those of y. Where there are none, a first pass over the
        data finds the extremes.
    columns: without y, the numbers of the columns of x and y, or the names of two fields.

    Other than in NumPy, NaN and infinities are counted and no error.

        >>> points = numpy.array([[1, 5], [2, 5], [2, 7]])
        >>> counts, x_edges, y_edges = ooc.histogram2d(points, bins=2)
        >>> counts.tolist()
        [[1, 0], [1, 1]]
    """
    wanted = settings(given)
    x_bins, y_bins = (bins_of(each) for each in _of_both(bins))
    x_range, y_range = (None if ends is None else limits_of(ends)
                        for ends in _pair(range, "range", (None, None)))
    if y is None:
        first = second = opened(x, "x")
        of_x, of_y = _pair(columns, "columns", (0, 1))
        names = column_of(of_x, "columns"), column_of(of_y, "columns")
    else:
        first, second = opened_elements(x), opened_elements(y, "y")
        names = ("", "")
        if first.shape != second.shape:
            raise UsageError(f"x has the shape {first.shape}, and y {second.shape}")
    with reporting(wanted.progress) as progress:
        counts, x_edges, y_edges, outside, nan, count, stats = _ooc.histogram2d(
            first._input, second._input, names, x_bins, y_bins, x_range, y_range,
            first._machine(wanted), progress)
    edges = np.frombuffer(x_edges, np.float64), np.frombuffer(y_edges, np.float64)
    cells = np.frombuffer(counts, np.int64).reshape([len(each) - 1 for each in edges])
    return Histogram2d(cells, *edges, outside, nan, count, RunStats(stats))


def _of_both(bins: Any) -> tuple[Any, Any]:
    """Returns the bins of both axes. As in NumPy, two values are one for each axis."""
    if isinstance(bins, (tuple, list, np.ndarray)) and len(bins) == 2:
        return bins[0], bins[1]
    return bins, bins


def _pair(given: Any, name: str, default: tuple[Any, Any]) -> tuple[Any, Any]:
    if given is None:
        return default
    if not isinstance(given, (tuple, list, np.ndarray)) or len(given) != 2:
        raise UsageError(f"{name}={shown(given)} has not one value for each axis")
    return given[0], given[1]
