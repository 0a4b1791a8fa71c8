"""Lazy arrays over files, memory and streams."""

from __future__ import annotations

import glob
import io
import operator
import os
import re
import socket
import stat
import sys
import warnings
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

import numpy as np

from . import _ooc
from ._arguments import call, integer, lengths, shown, unicode
from ._arguments import path as path_of
from ._dtypes import code_of, dtype_of, largest_item
from ._foreign import contiguous, is_of, of_arrow, of_h5py
from ._errors import BadInput, InputNotFound, UsageError
from ._options import Settings, machine, settings
from ._progress import reporting

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

    ArrayLike: TypeAlias = Union[
        "Array", str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]], Any]



class Array:
    """An array that is not read until a function needs it. See `open`.

    Immutable; any thread may use it.
    """

    __slots__ = ("_dtype", "_input")

    def __init__(self, source: _ooc.Input) -> None:
        self._input = source
        self._dtype = dtype_of(source)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements as they are read."""
        return self._dtype

    @property
    def name(self) -> str:
        """The path of the first file."""
        return self._input.name

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions; of a stream, which is not read yet, (0,)."""
        return tuple(self._input.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._input.size

    @property
    def nbytes(self) -> int:
        """The size of all elements."""
        return self._input.nbytes

    @property
    def device(self) -> str:
        """Where it is: "cpu", also for files, or "cuda:0" for an array on a GPU."""
        return "cpu" if self._input.gpu < 0 else f"cuda:{self._input.gpu}"

    @property
    def is_stream(self) -> bool:
        """True for a pipe or socket, which can be read once."""
        return self._input.is_stream

    def __len__(self) -> int:
        return self.shape[0]

    def _machine(self, given: Settings) -> _ooc.Machine:
        """Returns the machine of a pass: an array on a GPU is read where it is."""
        is_free = self._input.gpu >= 0 and given.device == "auto"
        return machine(given, device=self.device if is_free else None)

    def __getitem__(self, key: slice | SupportsIndex | str) -> Array | Any:
        """Returns rows, or a field of structs, as a lazy array, or one row as NumPy has it."""
        if isinstance(key, slice):
            first, end, step = key.indices(len(self))
            if step != 1:
                raise UsageError(f"{self.name}: has no slices with a step of {step}",
                                 hint="numpy.asarray(a[i:j])[::k] of rows that fit in memory")
            return self._rows(first, max(0, end - first))
        if isinstance(key, tuple):
            raise UsageError(f"{self.name}: only rows can be selected",
                             hint="read the rows with numpy.asarray(a[i:j]), then the columns")
        if isinstance(key, str) and self.dtype.names is not None:
            return self._field(key)
        try:
            if isinstance(key, (bool, np.bool_, str)):
                raise TypeError
            index = operator.index(key)
        except TypeError:
            raise TypeError(f"{shown(key)} is neither the number of a row nor a slice") from None
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of bounds for {len(self)} rows")
        return np.asarray(self._rows(index % len(self), 1))[0]

    def _rows(self, first: int, count: int) -> Array:
        if self._input.by_columns:
            raise self._in_fortran_order()
        return Array(self._input.rows(first=first, count=count))

    def _in_fortran_order(self) -> UsageError:
        return UsageError(f"{self.name}: is in Fortran order, so its rows are not together",
                          hint="write it in C order")

    def _field(self, name: str) -> Array:
        names = self.dtype.names or ()
        if name not in names:
            raise UsageError(f"{self.name}: has no field {name!r}",
                             hint=f"the fields are {', '.join(names)}")
        if self.is_stream:
            raise UsageError(f"{self.name}: fields of a stream are not read by themselves",
                             hint=f"numpy.asarray(chunk)[{name!r}] in a loop over ooc.stream(a)")
        if self.dtype[name].shape:
            raise UsageError(f"{self.name}: field {name!r} has several elements in each struct",
                             hint=f"numpy.asarray(a[i:j])[{name!r}] reads those of some rows")
        return Array(self._input.field(name))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Reads all of it: numpy.asarray(a[:1000])."""
        if copy is False:
            raise ValueError("an array in a file is copied when it is read")
        if self.is_stream:
            raise UsageError(f"{self.name}: is a stream, whose length is not known")
        if self._input.gpu >= 0:
            raise TypeError(f"the array is on {self.device}: x.get() of CuPy or x.cpu() of PyTorch "
                            "copies it")
        values = np.empty(self.size, self.dtype)
        wanted = settings({})
        with reporting(wanted.progress) as progress:
            _ooc.read_into(self._input, values.ctypes.data, values.nbytes, machine(wanted),
                           progress)
        shaped = values.reshape(self.shape[::-1]).T if self._input.by_columns else values.reshape(
            self.shape)
        return shaped if dtype is None else shaped.astype(dtype, copy=False)

    def __reduce__(self) -> Any:
        raise TypeError("an array that is open is not pickled: give the other process its path")

    def __repr__(self) -> str:
        return f"ooc.Array({self.name!r}, shape={self.shape}, dtype={self.dtype})"

    def _repr_html_(self) -> str:
        rows = [("shape", " × ".join(f"{length:,}" for length in self.shape)),
                ("dtype", f"{self.dtype}, {self._input.type_reason}"),
                ("size", f"{self.nbytes:,} bytes"),
                ("format", self._input.format)]
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th>"
                        f"<td style='text-align:left'>{escape(text)}</td></tr>"
                        for name, text in rows)
        return f"<b>ooc.Array</b> <code>{escape(self.name)}</code><table>{cells}</table>"


def open(x: ArrayLike, dtype: Any = None, *, offset: int = 0,
         shape: tuple[int | None, ...] | None = None) -> Array:
    """Opens data as a lazy array. Nothing but headers and the beginning of raw files is read.

    x: a path, an address (https, s3), a list of them, a pattern ("run-*.npy"), an array of a file
    or Zarr store that has several ("model.safetensors::weight", "a.npz::weight"), a slice of any of
    these ("x.npy[100:200]"), an array in memory or on a GPU (NumPy's, or of anything that has the
    buffer protocol or DLPack), which is not copied, a dataset of h5py that is stored in one piece,
    an array of pyarrow without nulls, or a pipe, socket or file object with a descriptor, which is
    read once, from where it is. A pipe must have been opened with buffering=0. Files may be
    compressed ("x.f32.zst"); one that is a single stream is read once, too.
    dtype: of raw files, unless their extension names it (.f32, .u16, ...); also one with fields.
    offset: bytes to skip at the beginning of each raw file.
    shape: of raw files, which have one dimension otherwise. The first length may be None.

    Of an array on a GPU, work that the stream of its library has at this time is waited for, and
    later on work of the default stream.

    Raises InputError if a file cannot be opened, BadInput for formats that are not supported.
    """
    return opened(x, "x", dtype, offset, None if shape is None else lengths(shape))


def opened(x: Any, name: str, dtype: Any = None, offset: Any = 0,
           shape: tuple[int | None, ...] | None = None) -> Array:
    """See `open`. `name`: of the argument, for messages."""
    offset = integer(offset, "offset")
    if isinstance(x, Array):
        if dtype is not None or offset or shape is not None:
            raise UsageError("an array that is open has its type already")
        return x
    code = None if dtype is None else code_of(dtype)
    if isinstance(x, (str, os.PathLike)):
        path = path_of(x, name)
        if _is_pipe(path):
            with io.open(path, "rb", buffering=0) as file:
                return _stream(file, code, offset)
        return _files(_matches(path), code, offset, shape)
    if isinstance(x, (list, tuple)) and not x:
        raise UsageError(f"{name}={x} has no files")
    if isinstance(x, (list, tuple)) and any(isinstance(p, (str, os.PathLike)) for p in x):
        paths = [path_of(path, f"{name}[{index}]") for index, path in enumerate(x)]
        return _files(paths, code, offset, shape)
    if shape is not None:
        raise UsageError(f"{name}={shown(x)} is no path of a raw file, so it has its shape already")
    if isinstance(x, (io.IOBase, socket.socket)):
        return _stream(x, code, offset)
    if dtype is not None or offset:
        raise UsageError(f"{name}={shown(x)} is no path, and an array has its type already")
    if is_of(x, "h5py", "Group"):
        raise UsageError(f"{name} is a group of HDF5", hint="give one of its datasets: x['name']")
    if is_of(x, "h5py", "Dataset"):
        return Array(of_h5py(x))
    if is_of(x, "pyarrow", "Array", "ChunkedArray", "Table", "RecordBatch"):
        return _in_memory(of_arrow(x, name), name)
    return _in_memory(x, name)


def opened_elements(x: Any, name: str = "x") -> Array:
    """Opens data for a function that takes elements of one type. Refuses structs."""
    array = opened(x, name)
    if array.dtype.names is None:
        return array
    raise BadInput(f"{array.name}: holds structs {array._input.code}", cause="bad_input",
                   path=array.name, why="this function takes elements of one type",
                   hint=f"give it one field: a[{array.dtype.names[0]!r}]")


def shard(x: ArrayLike, index: int, count: int) -> Array:
    """Returns one of `count` parts of about equal size, so that several processes share the data.

    Statistics of all parts merge by `+`, and so do histograms with the same range. A part has one
    dimension: it may begin and end within a row.
    """
    count = integer(count, "count", least=1)
    index = integer(index, "index")
    if index >= count:
        raise UsageError(f"there is no part index={index} of count={count}")
    return Array(open(x)._input.shard(index=index, count=count))


def _files(paths: list[str], code: str | None, offset: int,
           shape: tuple[int | None, ...] | None) -> Array:
    rows = None if shape is None else [length or 0 for length in shape[1:]]
    source = _ooc.open_files(paths, code, offset, row_shape=rows)
    if source.doubt:
        warnings.warn(source.doubt, stacklevel=call()[1])
    if shape is None:
        return Array(source)
    if not source.is_raw:
        raise UsageError(f"{source.name}: is no raw file, so it has its shape already")
    if source.shape[1:] != rows or shape[0] not in (None, source.shape[0]):
        raise BadInput(f"{source.name}: has {source.size:,} elements, which are no array of shape "
                       f"{shape}", cause="bad_input", path=source.name)
    return Array(source)


def _matches(path: str) -> list[str]:
    """Returns the files that match a pattern, each with the name of an array or a slice behind."""
    pattern, between, name = path.partition("::")
    found_slice = None if between else re.search(r"\[[-\d:,. ]*\]$", path)
    if found_slice:
        file = path[:found_slice.start()]
        if ":" in found_slice[0] or os.path.exists(file):  # else a set of digits
            pattern, name = file, found_slice[0]
    if any(letter in pattern for letter in "*?[") and "://" not in path \
            and not os.path.exists(path) and not os.path.exists(pattern):
        found = sorted(glob.glob(pattern))
        if not found:
            raise InputNotFound(f"no file matches {path!r}", cause="input", path=path)
        return [file + between + name for file in found]
    return [path]


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _stream(x: Any, code: str | None, offset: int) -> Array:
    """Opens a file object or socket, whose descriptor the library duplicates. What the object has
    read ahead would be missing, so its kind must not do that."""
    ssl = sys.modules.get("ssl")  # to import it takes as long as all else in `import ooc`
    if ssl is not None and isinstance(x, ssl.SSLSocket):
        raise UsageError("the descriptor of a TLS socket delivers encrypted bytes")
    if isinstance(x, io.TextIOBase):
        raise UsageError("a text file has no numbers", hint="open it with mode 'rb'")
    try:
        descriptor = operator.index(x.fileno())
    except io.UnsupportedOperation as error:
        raise UsageError(f"{type(x).__name__} has no descriptor",
                         hint="numpy.frombuffer(x.getbuffer(), dtype)") from error
    if not isinstance(x, (io.RawIOBase, socket.socket)):
        if not x.seekable():
            raise UsageError("a pipe with a buffer may have been read ahead",
                             hint="open it with buffering=0")
        os.lseek(descriptor, x.tell(), os.SEEK_SET)
    name = getattr(x, "name", None)
    return Array(_ooc.open_descriptor(descriptor, code, offset,
                                      unicode(name) if isinstance(name, str) else "the input"))


def _on_gpu(x: Any) -> Array:
    code, shape, _, is_contiguous = _ooc.device_array(x)
    if not is_contiguous:
        x = contiguous(x)
    if not shape:
        x = x.reshape(1)
    # Its library lets the default stream wait for the work that makes it.
    return Array(_ooc.open_device_memory(x.__dlpack__(stream=1), code, owner=x))


def _in_memory(x: Any, name: str) -> Array:
    if isinstance(x, bytes):
        raise UsageError(f"{name} are bytes, which have no type",
                         hint="numpy.frombuffer(x, dtype)")
    if isinstance(x, np.ma.MaskedArray):
        raise UsageError("a masked array: its mask would be ignored", hint="x.compressed()")
    place = x.__dlpack_device__()[0] if hasattr(x, "__dlpack_device__") else 1
    if place == 2:  # CUDA
        return _on_gpu(x)
    if place not in (1, 3):  # host, pinned
        raise UsageError(f"{name} is on a device of kind {place} in DLPack, which is not read")
    if isinstance(x, np.ndarray):
        values = x
    elif hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        values = np.from_dlpack(x)
    else:
        try:
            values = np.asarray(x)
        except ValueError as error:
            raise UsageError(f"{name}={shown(x)} is no array", hint=str(error)) from None
        if values.dtype.kind == "O" and values.ndim == 0:
            raise TypeError(f"{name}={shown(x)} is no path, array, file or socket")
    is_number = values.dtype.kind in "biuf" and values.dtype.itemsize <= largest_item
    if not is_number and values.dtype.names is None:
        raise BadInput(f"an array in memory: {values.dtype} is no type that can be read",
                       cause="bad_input")
    if values.ndim == 0:
        values = values.reshape(1)
    contiguous = np.ascontiguousarray(values)
    code = contiguous.dtype.str if is_number else code_of(contiguous.dtype)
    source = _ooc.open_memory(contiguous.ctypes.data, contiguous.nbytes, code,
                              list(contiguous.shape), contiguous)
    return Array(source)
