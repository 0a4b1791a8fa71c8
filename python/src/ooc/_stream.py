"""Loops over chunks, and data that stay on the device."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _ooc
from ._arguments import flag, integer, part_of
from ._array import Array, open
from ._dtypes import dtype_of
from ._errors import UsageError
from ._options import Options, machine, settings
from ._progress import reporting
from ._run import RunStats

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, TypeAlias, Unpack

    from ._array import ArrayLike

    Streamed: TypeAlias = Union["ArrayLike", "Zip", "Resident"]

_default_stream, _no_stream = 0, -1  # as DLPack counts, but that it has 1 for the first
_most_ahead = 1000  # each is a thread on the CPU
_numpy_version = tuple(map(int, np.__version__.split(".")[:2]))


class Chunk:
    """Rows on the device, for CuPy, PyTorch, JAX, Numba or NumPy to use without a copy.

        >>> for chunk in ooc.stream(numpy.arange(6.0), rows=4):
        ...     print(chunk.first, numpy.from_dlpack(chunk).sum())
        0 6.0
        4 9.0

    The rows belong to the loop: they may be written, unless they stay on the device (see
    `resident`), and no file changes by that. Their memory is used again when the chunk and all its
    views are gone, and the work of the streams that they were made for is done. An array on another
    stream has to be ordered with the first one, as always.
    """

    __slots__ = ("__weakref__", "_chunk", "_dtype", "_stream", "_use")

    def __init__(self, chunk: _ooc.Chunk, dtype: np.dtype[Any], stream: int) -> None:
        self._chunk = chunk
        self._dtype = dtype
        self._stream = stream  # of consumers that name none
        self._use: _ooc.Use | None = None  # by those that name no stream at all

    @property
    def first(self) -> int:
        """The index of the first row in the data."""
        return self._chunk.first

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and the lengths of their dimensions."""
        return tuple(self._chunk.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._dtype

    @property
    def nbytes(self) -> int:
        """The size of the rows."""
        return self._chunk.nbytes

    @property
    def device(self) -> str:
        """Where the rows are: "cpu" or "cuda:0"."""
        return "cpu" if self._chunk.is_on_cpu else f"cuda:{self._chunk.device_index}"

    def __len__(self) -> int:
        return self.shape[0]

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns the kind of the device as DLPack counts, and its index."""
        return (1, 0) if self._chunk.is_on_cpu else (2, self._chunk.device_index)

    def __dlpack__(self, *, stream: int | None = None,
                   max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """Gives a view to the consumer, ordered with its stream; see the array API standard."""
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) != here:
            if tuple(dl_device) != (1, 0) or copy is False:
                raise BufferError(f"the rows are on {self.device}")
            if max_version is None or _numpy_version < (2, 1):
                return self.numpy().__dlpack__()
            return self.numpy().__dlpack__(max_version=max_version)
        if self._chunk.is_on_cpu:
            if stream not in (None, _no_stream):
                raise BufferError(f"stream={stream}: the CPU has no streams")
            stream = _no_stream
        elif stream is None:
            stream = self._stream
        elif stream == 1:
            stream = _default_stream
        elif stream == _default_stream or stream < _no_stream:
            raise BufferError(f"stream={stream} is no stream: DLPack counts 1 for the default one")
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and not self._chunk.is_writable:  # the consumer would not learn of it
            if copy is False:
                raise BufferError("the rows stay on the device, and are read only")
            copy = True
        return self._chunk.dlpack(stream=stream, versioned=versioned, copy=bool(copy))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The rows for Numba. DLPack is better, since it tells which stream uses them: here, work
        on streams that do not wait for CUDA's default stream must have ended before the view."""
        if self._chunk.is_on_cpu:
            raise AttributeError("the rows are on the CPU")
        if self._use is None:
            self._use = _ooc.Use(self._chunk)
        return {**self._interface(self.shape, self.dtype), "stream": self._chunk.stream or 1}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not self._chunk.is_on_cpu or self.dtype.kind not in "biuf":
            raise AttributeError("the rows are no numbers of NumPy on the CPU")
        return self._interface(self.shape, self.dtype)

    def _interface(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
        return {"version": 3, "shape": shape, "typestr": dtype.str,
                "data": (self._chunk.address, not self._chunk.is_writable)}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if not self._chunk.is_on_cpu:
            raise TypeError(f"the rows are on {self.device}: chunk.numpy() copies them")
        rows = self.numpy()
        if dtype is not None and np.dtype(dtype) != rows.dtype:
            return rows.astype(dtype)
        return rows.copy() if copy else rows

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the rows as an array of NumPy: a view on the CPU, a copy from a GPU."""
        if self._chunk.is_on_cpu:
            values = np.asarray(_Bytes(self))
        else:
            values = np.empty(self.nbytes, "u1")
            self._chunk.copy_to_host(values.ctypes.data, stream=self._stream)
        return values.view(self.dtype).reshape(self.shape)

    def __repr__(self) -> str:
        return (f"ooc.Chunk(first={self.first}, shape={self.shape}, dtype={self.dtype}, "
                f"device={self.device!r})")


class _Bytes:
    """The bytes of a chunk, for NumPy, whose interface has no structs with gaps."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self.__array_interface__ = chunk._interface((chunk.nbytes,), np.dtype("u1"))


class Zip:
    """Arrays that are read side by side. See `zip`."""

    __slots__ = ("arrays",)

    def __init__(self, arrays: tuple[Array, ...]) -> None:
        self.arrays = arrays


def zip(*arrays: ArrayLike) -> Zip:
    """Lets `stream` give the same rows of up to eight arrays, as a tuple of chunks.

        >>> for x, y in ooc.stream(ooc.zip(numpy.arange(4.0), numpy.ones((4, 2)))):
        ...     print(x.shape, y.shape)
        (4,) (4, 2)
    """
    if not 2 <= len(arrays) <= _ooc.most_zipped:
        raise UsageError(f"zip takes 2 to {_ooc.most_zipped} arrays, not {len(arrays)}")
    return Zip(tuple(open(array) for array in arrays))


class Resident:
    """Data of which as much as fits stays on the device. See `resident`."""

    __slots__ = ("_kept", "_machine", "_of")

    def __init__(self, of: Array | Zip, nbytes: int, given: Options) -> None:
        self._of = of
        self._machine = machine(settings(given))
        self._kept: _ooc.Kept | None = _ooc.keep(_inputs(of), self._machine, nbytes)

    @property
    def nbytes(self) -> int:
        """The bytes that are on the device; 0 before the first loop."""
        return self._kept.nbytes if self._kept else 0

    def close(self) -> None:
        """Gives the memory back, once nothing uses it."""
        self._kept = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def resident(x: ArrayLike | Zip, *, nbytes: int = 0, **given: Unpack[Options]) -> Resident:
    """Keeps data on the device between loops.

    The first loop reads all data; later ones read only what had no room. Chunks of what stays are
    read only.

    nbytes: the most that stays; by default what is free on the GPU, but for a tenth. On the CPU
    nothing stays by default, since the page cache does the same.

        >>> with ooc.resident(numpy.arange(4.0), nbytes=1 << 20) as kept:
        ...     for step in range(3):
        ...         for chunk in ooc.stream(kept): pass
    """
    return Resident(_opened(x), integer(nbytes, "nbytes"), given)


class Stream:
    """The chunks of a loop. See `stream`."""

    def __init__(self, x: Streamed, rows: int, streams: int, shuffle: int | None,
                 shard: tuple[int, int], start: int, stream: Any, sync: bool,
                 given: Options) -> None:
        wanted = settings(given)
        if isinstance(x, Resident):
            if x._kept is None:
                raise UsageError("what was resident is closed")
            if streams or given.keys() - {"progress"}:
                raise UsageError("the options of what is resident are given to ooc.resident()")
            of, on, kept = x._of, x._machine, x._kept
        else:
            if wanted.threads == 0 and _is_on_cpu(wanted.device):
                wanted = replace(wanted, threads=_threads_beside_loop())
            of, on, kept = _opened(x), machine(wanted, streams), None
        inputs = _inputs(of)
        self.stats: RunStats | None = None
        self._is_zip = isinstance(of, Zip)
        self._dtypes = [dtype_of(source) for source in inputs]
        is_all = shard[1] == 1 and start == 0
        self._total = sum(source.nbytes for source in inputs) if is_all else 0  # 0: not known
        self._on = _stream_of(stream)
        self._done = 0
        self._has_ended = False
        self._report = reporting(wanted.progress)
        self._progress = self._report.__enter__()
        self._reported = time.monotonic()
        self._stream = _ooc.Stream(inputs=inputs, machine=on, rows=rows, shuffle=shuffle,
                                   shard=shard[0], shards=shard[1], skip=start,
                                   kept=kept, synchronous=sync,
                                   owner=stream)  # lives as long as views are ordered with it

    def __iter__(self) -> Iterator[Any]:
        if self._has_ended:
            raise UsageError("the stream has ended: it gives its chunks once",
                             hint="call ooc.stream() for each loop")
        return self

    def __next__(self) -> Any:
        self._tell()  # what it raises loses no chunk
        given = self._stream.next()
        if given is None:
            self._end()
            raise StopIteration
        self._done += sum(chunk.nbytes for chunk in given)
        chunks = tuple(map(self._chunk_of, given, self._dtypes))
        return chunks if self._is_zip else chunks[0]

    def _chunk_of(self, chunk: _ooc.Chunk, dtype: np.dtype[Any]) -> Chunk:
        return Chunk(chunk, dtype, self._on)

    def _tell(self) -> None:
        now = time.monotonic()
        if self._progress is None or now - self._reported < 0.1:
            return
        self._reported = now
        self._progress(self._done, self._total)

    def _end(self) -> None:
        self._has_ended = True
        stats = self._stream.stats()
        if stats is not None and self.stats is None:
            self.stats = RunStats(stats)
        self._report.__exit__(None, None, None)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"ooc.Stream({self._done:,} bytes done)"

    def __len__(self) -> int:
        """The number of chunks. Raises TypeError if it is not known, as of a pipe."""
        size = self._stream.size()
        if size is None:
            raise TypeError("the number of chunks is not known")
        return size

    def close(self) -> None:
        """Reads nothing more. Chunks that are in use stay as they are."""
        self._has_ended = True
        self._stream.close()
        self._report.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def stream(x: Streamed, *, rows: int | None = None, ahead: int | None = None,
           shuffle: int | None = None, shard: tuple[int, int] = (0, 1), start: int = 0,
           stream: Any = None, sync: bool = False, **given: Unpack[Options]) -> Stream:
    """Reads data chunk by chunk, for a loop that works on them: the loop is the operator.

        >>> total = 0.0
        >>> with ooc.stream(numpy.ones((1000, 3)), rows=256) as chunks:
        ...     for chunk in chunks:
        ...         total += numpy.from_dlpack(chunk).sum()
        >>> float(total)
        3000.0

    The next chunks are loaded while the loop works on one. A loop may keep views: then it takes
    more memory, within the limits, and in the end raises BufferError, after which the loop may go
    on.

    rows: of a chunk; the last one may have fewer. Default: chosen for the device.
    ahead: chunks that are loaded ahead.
    shuffle: a seed; the order of chunks depends on nothing else. Rows in a chunk keep theirs.
    shard: (i, n): every n-th chunk from number i on, after shuffling.
    start: chunks to leave out at first, to go on where another loop ended.
    stream: the CUDA stream of consumers that name none, as an object of PyTorch, CuPy or Numba or
    as an address. Default: CUDA's default stream.
    sync: True waits for the whole GPU before each chunk, and before the memory of one is used
    again. If results differ from those without it, work on several streams is not ordered.

    At the end, `.stats` tells how the loop ran. One thread at a time may use it.
    """
    rows = 0 if rows is None else integer(rows, "rows", least=1)
    shuffle = None if shuffle is None else integer(shuffle, "shuffle")
    streams = 0 if ahead is None else integer(ahead, "ahead", most=_most_ahead) + 2
    return Stream(x, rows, streams, shuffle, part_of(shard), integer(start, "start"), stream,
                  flag(sync, "sync"), given)


def _opened(x: ArrayLike | Zip) -> Array | Zip:
    return x if isinstance(x, Zip) else open(x)


def _inputs(of: Array | Zip) -> list[_ooc.Input]:
    arrays = of.arrays if isinstance(of, Zip) else (of,)
    for array in arrays:
        if array._input.gpu >= 0:
            raise UsageError("the array is on a GPU already", hint="loop over its slices: x[i:j]")
        if array._input.by_columns and array.ndim > 1:
            raise array._in_fortran_order()
    return [array._input for array in arrays]


def _is_on_cpu(device: str) -> bool:
    return device == "cpu" or (device == "auto" and _ooc.gpus() == 0)


def _threads_beside_loop() -> int:
    """Returns the number of threads that read, if the loop computes on many cores: half of them, or
    0 for the library's choice. Libraries whose threads wait by spinning lose more than they gain
    from cores that they share."""
    cores = len(os.sched_getaffinity(0))
    return cores // 2 if cores >= 8 else 0


def _stream_of(stream: Any) -> int:
    """Returns the address of a CUDA stream, which several libraries name in different ways."""
    if stream is None:
        return _default_stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        if hasattr(stream, name):
            value = getattr(stream, name)
            return int(getattr(value, "value", value) or 0)
    return operator.index(stream)
