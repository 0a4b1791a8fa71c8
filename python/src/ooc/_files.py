"""Functions that write a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _ooc
from ._array import Array, _code_of, open
from ._options import Options, machine, settings
from ._progress import reporting

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._array import ArrayLike


def convert(x: ArrayLike, out: str | os.PathLike[str], dtype: Any = None, *, strict: bool = False,
            clip: bool = False, overwrite: bool = False, **given: Unpack[Options]) -> Array:
    """Writes all elements to a file, as another type, and returns it as a lazy array.

    out: .npy if its extension says so, else raw. It appears complete or not at all.
    dtype: default: the type of `x`.
    strict: raise BadInput if a value would change.
    clip: values beyond the type become its largest or smallest.
    """
    wanted = settings(given)
    array = open(x)
    shape = [] if array.is_stream else list(array.shape)
    code = None if dtype is None else _code_of(dtype)
    with reporting(wanted.progress) as progress:
        _ooc.convert(array._input, os.fspath(out), code, shape, strict, clip, overwrite,
                     machine(wanted), progress)
    return open(out, code if not os.fspath(out).endswith(".npy") else None)


def matmul(a: ArrayLike, b: ArrayLike, out: str | os.PathLike[str], dtype: Any = None, *,
           overwrite: bool = False, **given: Unpack[Options]) -> Array:
    """Writes the product of two matrices to a file, and returns it as a lazy array.

    The matrices may be larger than all memory. `dtype` is that of the product; by default f8 for f8
    inputs, else f4.
    """
    wanted = settings(given)
    with reporting(wanted.progress) as progress:
        _ooc.matmul(open(a)._input, open(b)._input, os.fspath(out),
                    None if dtype is None else _code_of(dtype), overwrite, machine(wanted),
                    progress)
    return open(out)
