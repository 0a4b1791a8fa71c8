"""The largest and smallest values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

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

_most = 2**24


def top(x: ArrayLike, k: SupportsIndex, *, smallest: bool = False,
        **given: Unpack[Options]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Returns the k largest elements, or the smallest, and their indices, in one pass.

    k: from 1 to 16,777,216. If fewer elements are not NaN, all of these are returned.

    Both arrays have the best element first; equal ones are in the order of their indices. -0 comes
    before +0, and NaN is left out. Indices count all elements, as those of numpy.ravel(x) do.

        >>> ooc.top(numpy.array([1, 6, 2, 6]), 3)
        (array([6, 6, 2]), array([1, 3, 2]))
    """
    count = integer(k, "k", 1, _most)
    wanted = settings(given)
    array = opened_elements(x)
    if array._input.by_columns:
        raise UsageError(f"{array.name}: is in Fortran order, so indices would be of another order",
                         hint="write it in C order")
    with reporting(wanted.progress) as progress:
        values, code, indices, _ = _ooc.top(array._input, count, bool(smallest),
                                            array._machine(wanted), progress)
    found = np.frombuffer(values, code).astype(array.dtype.newbyteorder("="))
    return found, np.frombuffer(indices, "u8").astype(np.intp)
