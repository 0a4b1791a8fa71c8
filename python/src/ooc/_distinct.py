"""The number of distinct values, and the most frequent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from . import _ooc
from ._arguments import integer
from ._array import opened_elements
from ._errors import UsageError
from ._options import Options, settings
from ._progress import reporting

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._array import ArrayLike

_most = 2**20


@overload
def distinct(x: ArrayLike, counts: None = None, *, estimate: bool = False,
             **given: Unpack[Options]) -> int: ...


@overload
def distinct(x: ArrayLike, counts: SupportsIndex,
             **given: Unpack[Options]) -> tuple[int, NDArray[Any], NDArray[np.intp]]: ...


def distinct(x: ArrayLike, counts: SupportsIndex | None = None, *, estimate: bool = False,
             **given: Unpack[Options]) -> Any:
    """Returns the number of distinct values, as len(numpy.unique(x)), in one pass.

    counts: also returns so many of the most frequent values and their counts, up to 1,048,576: the
        most frequent first, of equal counts the smaller value, and NaN last.
    estimate: returns an estimate of the number, with a standard error of 0.81 %, in little memory.

    All NaN are one value, and -0 equals +0. Raises LimitError if the values do not fit in memory.

        >>> ooc.distinct(numpy.array([1, 6, 2, 6]))
        3
        >>> ooc.distinct(numpy.array([1, 6, 2, 6]), 2)
        (3, array([6, 1]), array([2, 1]))
    """
    most = 0 if counts is None else integer(counts, "counts", 1, _most)
    if counts is not None and estimate:
        raise UsageError("estimate=True keeps no values, so there are no counts",
                         hint="leave one of them out")
    wanted = settings(given)
    array = opened_elements(x)
    with reporting(wanted.progress) as progress:
        number, values, code, having, _ = _ooc.distinct(array._input, most, bool(estimate),
                                                        array._machine(wanted), progress)
    if counts is None:
        return number
    found = np.frombuffer(values, code).astype(array.dtype.newbyteorder("="))
    return number, found, np.frombuffer(having, "u8").astype(np.intp)
