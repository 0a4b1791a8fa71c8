"""Files that a loop of the program writes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ooc
from ._arguments import flag, lengths, path
from ._array import Array
from ._dtypes import code_of
from ._errors import UsageError
from ._files import _reopened
from ._foreign import contiguous
from ._options import Options, machine, settings

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from ._files import Path


class Writer:
    """A file that grows by arrays. See `writer`. Any thread may write."""

    _writer: _ooc.Writer | None = None  # from the first array on

    def __init__(self, out: Path, dtype: Any, shape: tuple[int | None, ...] | None,
                 overwrite: bool, given: Options) -> None:
        self._out = path(out, "out")
        self._code = None if dtype is None else _ooc.code_of(code_of(dtype))
        self._shape = None if shape is None else lengths(shape)
        self._overwrite = flag(overwrite, "overwrite")
        self._settings = settings(given)
        self._lock = threading.Lock()
        self._row: tuple[int, ...] | None = None
        self._device = ""
        self._rows = 0  # once it is complete
        self._is_done = False

    @property
    def rows(self) -> int:
        """The number of rows that were written."""
        writer = self._writer
        return writer.rows if writer else self._rows

    def write(self, x: Any) -> None:
        """Appends the rows of an array on the host or on a GPU. It may be changed afterwards.

        Raises UsageError if its type or the shape of its rows are not those of the file.
        """
        with self._lock:
            self._write(x)

    def _write(self, x: Any) -> None:
        if self._is_done:
            raise UsageError(f"{self._out}: is complete, or was given up")
        if hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == 2:  # CUDA
            self._write_device(x)
            return
        if isinstance(x, np.ma.MaskedArray):
            raise UsageError("a masked array: its mask would be ignored", hint="x.compressed()")
        values = np.asarray(x)
        is_bfloat = values.dtype == np.dtype("V2") and self._code == "bf16"
        code = "bf16" if is_bfloat else _ooc.code_of(code_of(values.dtype))
        self._begin(code, list(values.shape), "cpu")
        # Structs are written as they are.
        dtype = values.dtype if values.dtype.names else values.dtype.newbyteorder("=")
        values = np.ascontiguousarray(values, dtype=dtype)
        self._put(lambda out: out.write(values.ctypes.data, len(values)))

    def _write_device(self, x: Any) -> None:
        code, shape, index, is_contiguous = _ooc.device_array(x)
        self._begin(code, shape, f"cuda:{index}")
        if self._device != f"cuda:{index}":
            raise UsageError(f"{self._out}: was begun with an array on {self._device}",
                             hint="give arrays of one device")
        if not is_contiguous:
            x = contiguous(x)
        rows = x.__dlpack__(stream=1)  # ordered with the default stream, with which the file is
        self._put(lambda out: out.write_device(rows))

    def _put(self, write: Callable[[_ooc.Writer], None]) -> None:
        """Appends rows. If that fails, the file would lack some, so it is given up."""
        assert self._writer is not None
        try:
            write(self._writer)
        except BaseException:
            self._is_done = True
            self._writer = None
            raise

    def _begin(self, code: str, shape: list[int], device: str) -> None:
        """Makes the writer, which the first array decides on. Checks those that follow."""
        if not shape:
            raise UsageError("a number has no rows", hint="numpy.atleast_1d(x)")
        row = tuple(shape[1:])
        held = self._code or code
        wanted = (self._shape[1:] if self._shape is not None
                  else row if self._row is None else self._row)
        if row != wanted:
            raise UsageError(f"{self._out}: has rows of {wanted}, not {row}")
        if _kind(code) != _kind(held):
            raise UsageError(f"{self._out}: has {_kind(held)}, not {_kind(code)}",
                             hint="x.astype()")
        if self._writer is None:
            self._writer = _ooc.Writer(self._out, held, list(row), self._overwrite,
                                       machine(self._settings, device=device))
            self._code, self._row, self._device = held, row, device

    def commit(self) -> Array:
        """Completes the file, moves it into place and returns it as a lazy array."""
        with self._lock:
            return self._commit()

    def _commit(self) -> Array:
        if self._is_done:
            raise UsageError(f"{self._out}: is complete, or was given up")
        if self._writer is None:
            if self._code is None or self._shape is None:
                raise UsageError(f"{self._out}: nothing was written", hint="give dtype and shape")
            self._begin(self._code, [0, *(length or 0 for length in self._shape[1:])], "cpu")
        assert self._writer is not None and self._code is not None
        if self._shape is not None and self._shape[0] not in (None, self.rows):
            raise UsageError(f"{self._out}: is to have {self._shape[0]} rows, not {self.rows}")
        self._rows = self._writer.commit()
        self._is_done = True
        self._writer = None
        return _reopened(self._out, self._code)

    def __del__(self) -> None:
        if self._writer is not None and not self._is_done:
            warnings.warn(f"{self._out}: was given up, since no `with` or commit() completed it",
                          ResourceWarning, source=self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if kind is None and not self._is_done:
                self.commit()
        finally:
            self._is_done = True
            self._writer = None


def _kind(code: str) -> str:
    """Returns a type in any byte order."""
    return code.lstrip("<>=|")


def writer(out: Path, dtype: Any = None, shape: tuple[int | None, ...] | None = None, *,
           overwrite: bool = False, **given: Unpack[Options]) -> Writer:
    """Writes the arrays that a loop computes to a file, one after another.

    The file appears at the end of the `with` block, complete, or not at all if that is left by an
    exception. Arrays on a GPU go home and to the disk while the loop goes on.

    out: .npy if its extension says so, else raw.
    dtype, shape: default: those of the first array. The first length may be None: as many rows as
    are written.

        >>> with ooc.writer("positive.npy") as out:
        ...     for chunk in ooc.stream(numpy.array([1.0, -2.0, 3.0])):
        ...         x = numpy.from_dlpack(chunk)
        ...         out.write(x[x > 0])
        >>> numpy.load("positive.npy").tolist()
        [1.0, 3.0]
    """
    return Writer(out, dtype, shape, overwrite, given)
