"""Quantiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _ooc
from ._arguments import number, omits_nan, shown, unicode
from ._array import opened_elements
from ._errors import UsageError
from ._options import Options, settings
from ._progress import reporting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import TypeAlias, Unpack

    from ._array import ArrayLike

    Places: TypeAlias = Union[float, Sequence[float], NDArray[Any]]


def quantile(x: ArrayLike, q: Places, *, method: str = "linear",
             nan: Literal["propagate", "omit"] = "propagate",
             **given: Unpack[Options]) -> int | float | NDArray[Any]:
    """Returns exact quantiles of all elements, as numpy.quantile does for them as float64.

    q: a number from 0 to 1, or up to 1,000 of them. For several, the result is an array.
    method: one of those of numpy.quantile. "lower", "higher", "nearest" and "inverted_cdf" return
    elements of the data: of integers, exact integers.
    nan: "propagate" makes all quantiles NaN if an element is; "omit" skips NaN.

    Nothing is sorted. The data are read in one pass or a few: floats of 4 bytes in two.

        >>> ooc.quantile(numpy.array([1, 2, 6]), 0.5)
        2.0
    """
    omits = omits_nan(nan)
    if not isinstance(method, str):
        raise TypeError(f"method={shown(method)} is no name of a method")
    wanted = settings(given)
    is_one = not isinstance(q, (list, tuple)) and np.ndim(q) == 0
    places = [number(q, "q")] if is_one else _places(q)
    array = opened_elements(x)
    with reporting(wanted.progress) as progress:
        values, _ = _ooc.quantile(array._input, places, unicode(method), omits,
                                  array._machine(wanted), progress)
    found = [math.nan if value is None else value for value in values]
    return found[0] if is_one else np.array(found)


def _places(q: Any) -> list[float]:
    given = q.tolist() if isinstance(q, np.ndarray) else q
    return [number(each, f"q[{index}]") for index, each in enumerate(given)]
