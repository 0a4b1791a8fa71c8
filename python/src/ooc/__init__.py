"""Statistics, histograms, conversions and products of arrays far larger than memory.

Files are opened lazily, and read at the speed of the disk, on the CPU or on a GPU:

    >>> import numpy, ooc
    >>> numpy.save("a.npy", numpy.arange(1000, dtype="f4"))
    >>> a = ooc.open("a.npy")
    >>> a
    ooc.Array('a.npy', shape=(1000,), dtype=float32)
    >>> ooc.mean(a)
    499.5
    >>> counts, edges = ooc.histogram(a, bins=4)
    >>> counts.tolist()
    [250, 250, 250, 250]
"""

import atexit as _atexit

from ._array import Array, open, shard
from ._distinct import distinct
from ._errors import (
    BadInput,
    DeviceError,
    Error,
    InputChanged,
    InputError,
    InputNotFound,
    LimitError,
    OutputError,
    OutputExists,
    StalledError,
    UsageError,
    VerifyError,
)
from ._columns import ColumnStatistics, cov, gram
from ._files import convert, matmul, reduce_rows, running
from ._filter import filter
from ._histogram import Histogram, WeightedHistogram, histogram
from ._histogram2d import Histogram2d, histogram2d
from ._machine import devices, doctor
from ._options import options
from ._quantile import quantile
from ._run import RunStats
from ._statistics import (
    Statistics,
    argmax,
    argmin,
    max,
    mean,
    min,
    reduce,
    std,
    sum,
    var,
)
from ._stream import Chunk, Resident, Stream, Zip, resident, stream, zip
from ._top import top
from ._writer import Writer, writer
from ._ooc import end_calls as _end_calls
from ._ooc import version as __version__

_atexit.register(_end_calls)

__all__ = [
    "Array",
    "BadInput",
    "Chunk",
    "ColumnStatistics",
    "DeviceError",
    "Error",
    "Histogram",
    "Histogram2d",
    "InputChanged",
    "InputError",
    "InputNotFound",
    "LimitError",
    "OutputError",
    "OutputExists",
    "Resident",
    "RunStats",
    "StalledError",
    "Statistics",
    "Stream",
    "UsageError",
    "VerifyError",
    "WeightedHistogram",
    "Writer",
    "Zip",
    "__version__",
    "argmax",
    "argmin",
    "convert",
    "cov",
    "devices",
    "distinct",
    "doctor",
    "filter",
    "gram",
    "histogram",
    "histogram2d",
    "matmul",
    "max",
    "mean",
    "min",
    "open",
    "options",
    "quantile",
    "reduce",
    "resident",
    "reduce_rows",
    "running",
    "shard",
    "std",
    "stream",
    "sum",
    "top",
    "var",
    "writer",
    "zip",
]
