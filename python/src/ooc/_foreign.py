"""Arrays of h5py and pyarrow, whose bytes need not pass through those libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _ooc
from ._dtypes import code_of
from ._errors import BadInput


def is_of(x: Any, package: str, *names: str) -> bool:
    """True if an object is of one of the classes of a package, which need not be imported."""
    return any(kind.__module__.partition(".")[0] == package and kind.__name__ in names
               for kind in type(x).__mro__)


def contiguous(x: Any) -> Any:
    """Returns an array on a GPU in C order."""
    return x.contiguous() if hasattr(x, "contiguous") else x.copy()  # of PyTorch, of CuPy


def of_h5py(x: Any) -> _ooc.Input:
    """Opens a dataset of h5py by its place in the file."""
    name = f"{x.file.filename}::{x.name}"

    def refuse(why: str, hint: str = "") -> BadInput:
        return BadInput(f"{name}: cannot be read by its place in the file", cause="bad_input",
                        path=x.file.filename, why=why, hint=hint)

    if x.chunks is not None:
        raise refuse("it is stored in chunks", f"close the file, then ooc.open({name!r})")
    if x.is_virtual or x.external or x.file.driver not in ("sec2", "stdio", "core", "split"):
        raise refuse("its bytes are in other files")
    if x.dtype.kind not in "biuf" and x.dtype.names is None:
        raise refuse(f"its elements are of type {x.dtype}")
    if x.size == 0:
        raise refuse("it has no elements")
    if x.id.get_storage_size() != x.size * x.dtype.itemsize:
        raise refuse("nothing was written to it, so all elements are its fill value")
    if x.file.mode != "r":
        x.file.flush()
    return _ooc.open_files([x.file.filename], code_of(x.dtype), x.id.get_offset(),
                           list(x.shape) or [1])


def of_arrow(x: Any, name: str) -> np.ndarray[Any, Any]:
    """Returns a view of an array of pyarrow, which may lie in a memory map."""
    if is_of(x, "pyarrow", "Table", "RecordBatch"):
        raise BadInput(f"{name}: is a table", cause="bad_input", hint="give one of its columns")
    if is_of(x, "pyarrow", "ChunkedArray"):
        if x.num_chunks != 1:
            raise BadInput(f"{name}: has {x.num_chunks} chunks", cause="bad_input",
                           hint="x.combine_chunks(), or each of x.chunks")
        x = x.chunk(0)
    if x.null_count:
        raise BadInput(f"{name}: has {x.null_count} nulls, which are no numbers",
                       cause="bad_input", hint="x.drop_null() or x.fill_null(0)")
    try:
        values: np.ndarray[Any, Any] = x.to_numpy(zero_copy_only=True)
    except ValueError as error:  # pyarrow's own are of this class
        raise BadInput(f"{name}: {x.type} cannot be read as an array of numbers",
                       cause="bad_input", why=str(error)) from None
    return values
