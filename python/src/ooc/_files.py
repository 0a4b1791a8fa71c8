"""Functions that write a file."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _ooc
from ._arguments import flag, omits_nan, path, shown
from ._array import Array, open, opened_elements
from ._dtypes import code_of
from ._errors import UsageError
from ._options import Options, machine, settings
from ._progress import reporting

if TYPE_CHECKING:
    from typing_extensions import TypeAlias, Unpack

    from ._array import ArrayLike

    Path: TypeAlias = Union[str, bytes, os.PathLike[str]]


def convert(x: ArrayLike, out: Path, dtype: Any = None, *, strict: bool = False,
            clip: bool = False, overwrite: bool = False, **given: Unpack[Options]) -> Array:
    """Writes all elements to a file, as another type, and returns it as a lazy array.

    out: .npy if its extension says so, else raw. It appears complete or not at all.
    dtype: default: the type of `x`.
    strict: raise BadInput if a value would change.
    clip: values beyond the type become its largest or smallest.

    Warns if values were beyond the type: of floats they are infinite then.
    """
    wanted = settings(given)
    target = path(out, "out")
    code = None if dtype is None else code_of(dtype)
    if code is not None and code.startswith("{"):
        raise UsageError(f"dtype={shown(dtype)} has fields", hint="give the type of one element")
    is_strict, clips = flag(strict, "strict"), flag(clip, "clip")
    replaces = flag(overwrite, "overwrite")
    array = opened_elements(x)
    shape = [] if array.is_stream else list(array.shape)
    with reporting(wanted.progress) as progress:
        count, beyond, _ = _ooc.convert(array._input, target, code, shape, is_strict, clips,
                                        replaces, array._machine(wanted), progress)
    if beyond:
        warnings.warn(f"{beyond:,} of {count:,} values are beyond the type", stacklevel=2)
    return _reopened(target, code or array._input.code)


_ROW_VALUES = ("sum", "mean", "min", "max", "argmin", "argmax", "var", "std")


def reduce_rows(x: ArrayLike, out: Path,
                value: Literal["sum", "mean", "min", "max", "argmin", "argmax", "var",
                               "std"] = "sum", *, nan: Literal["propagate", "omit"] = "propagate",
                overwrite: bool = False, **given: Unpack[Options]) -> Array:
    """Writes a result for each row, and returns the file as a lazy array of one dimension.

    As numpy.mean(x, axis=1) and so on, with the bits that `reduce` finds for the row alone. A row
    is all elements with the same first index. Sums of integers are i8 (of u8: u8) and wrap around,
    indices are i8, minima and maxima have the type of x, and all else is f8. The values of a row of
    nothing but NaN are NaN, and its indices -1, if nan="omit".
    """
    wanted = settings(given)
    target = path(out, "out")
    if not isinstance(value, str) or value not in _ROW_VALUES:
        raise UsageError(f"value={shown(value)} is none of {', '.join(_ROW_VALUES)}")
    omits = omits_nan(nan)
    array = opened_elements(x)
    with reporting(wanted.progress) as progress:
        code = _ooc.reduce_rows(array._input, target, _ROW_VALUES.index(value), omits,
                                flag(overwrite, "overwrite"), array._machine(wanted), progress)
    return _reopened(target, code)


def running(x: ArrayLike, out: Path, value: Literal["sum", "min", "max"] = "sum", *,
            exclusive: bool = False, overwrite: bool = False, **given: Unpack[Options]) -> Array:
    """Writes, for each element, the sum of all elements up to it, their minimum or their maximum,
    and returns the file as a lazy array of one dimension.

    As numpy.cumsum(x) and numpy.minimum.accumulate(x.ravel()). Sums of integers are i8 (of u8: u8)
    and wrap around, those of floats are f8, with an error that does not grow with their number. NaN
    stay from the first one on.
    exclusive: a sum is of the elements before each one, so the first one is 0.
    """
    wanted = settings(given)
    target = path(out, "out")
    if value not in ("sum", "min", "max"):
        raise UsageError(f"value={shown(value)} is none of sum, min and max")
    array = opened_elements(x)
    with reporting(wanted.progress) as progress:
        code = _ooc.running(array._input, target, value, flag(exclusive, "exclusive"),
                            flag(overwrite, "overwrite"), array._machine(wanted), progress)
    return _reopened(target, code)


def matmul(a: ArrayLike, b: ArrayLike, out: Path, *, overwrite: bool = False,
           **given: Unpack[Options]) -> Array:
    """Writes the product of two matrices to a file, and returns it as a lazy array.

    The matrices may be larger than all memory. The product has f8 if they have, else f4.
    """
    wanted = settings(given)
    target = path(out, "out")
    replaces = flag(overwrite, "overwrite")
    left, right = opened_elements(a, "a"), opened_elements(b, "b")
    with reporting(wanted.progress) as progress:
        code, _ = _ooc.matmul(left._input, right._input, target, replaces, machine(wanted),
                              progress)
    return _reopened(target, code)


def _reopened(out: str, code: str) -> Array:
    # A raw file may have any name, so nothing is doubted.
    return Array(_ooc.open_files([out], None if out.lower().endswith(".npy") else code, 0))
