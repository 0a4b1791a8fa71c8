"""Functions that write a file."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Union

from . import _ooc
from ._array import Array, _code_of, open
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
    array = open(x)
    shape = [] if array.is_stream else list(array.shape)
    code = None if dtype is None else _code_of(dtype)
    with reporting(wanted.progress) as progress:
        count, beyond, _ = _ooc.convert(array._input, os.fsdecode(out), code, shape, strict, clip,
                                         overwrite, machine(wanted), progress)
    if beyond:
        warnings.warn(f"{beyond:,} of {count:,} values are beyond the type", stacklevel=2)
    return _reopened(out, code or array._input.code)


def matmul(a: ArrayLike, b: ArrayLike, out: Path, *, overwrite: bool = False,
           **given: Unpack[Options]) -> Array:
    """Writes the product of two matrices to a file, and returns it as a lazy array.

    The matrices may be larger than all memory. The product has f8 if they have, else f4.
    """
    wanted = settings(given)
    with reporting(wanted.progress) as progress:
        code, _ = _ooc.matmul(open(a)._input, open(b)._input, os.fsdecode(out), overwrite,
                              machine(wanted), progress)
    return _reopened(out, code)


def _reopened(out: Path, code: str) -> Array:
    path = os.fsdecode(out)
    return open([path], None if path.lower().endswith(".npy") else code)  # as a list, no pattern
