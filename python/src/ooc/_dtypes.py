"""Types of elements: those of NumPy, and their names in the library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _ooc
from ._arguments import shown, unicode
from ._errors import UsageError

largest_item = 8  # bytes of a number


def code_of(dtype: Any) -> str:
    """Returns the type as the library names it: a text is passed on, for example 'bf16'."""
    # f16 has 16 bytes in NumPy.
    if isinstance(dtype, str) and dtype.lstrip("<>=") not in ("f16", "?", "bool"):
        return unicode(dtype)
    try:
        known = np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"dtype={shown(dtype)} is no type, such as 'f4' or numpy.float32") from None
    if known.names is not None:
        return _code_of_struct(known)
    if known.name == "bfloat16":  # of ml_dtypes
        return "bf16"
    if known.kind not in "biuf" or known.itemsize > largest_item:
        raise UsageError(f"dtype={known} is no type that can be read")
    code: str = known.str
    return code


def _code_of_struct(dtype: np.dtype[Any]) -> str:
    """Returns "{'x':<f4,:V2,'v':<i2[3]}": ":V2" are 2 bytes of padding."""
    parts, end = [], 0
    fields: Any = dtype.fields or {}
    for name in sorted(dtype.names or (), key=lambda name: fields[name][1]):
        kind, offset = fields[name][:2]
        if offset < end:
            raise UsageError(f"dtype={shown(dtype)} has fields that overlap")
        if offset > end:
            parts.append(f":V{offset - end}")
        number, each = _numbers_in(kind.base)
        elements = each * math.prod(kind.shape)
        count = f"[{elements}]" if elements != 1 else ""
        quoted = name.replace("'", "''")
        parts.append(f"'{quoted}':{number}{count}")
        end = offset + kind.itemsize
    if end < dtype.itemsize:
        parts.append(f":V{dtype.itemsize - end}")
    return unicode("{" + ",".join(parts) + "}")


def _numbers_in(dtype: np.dtype[Any]) -> tuple[str, int]:
    """Returns the type of the numbers in an element of a field, and their number: dates are 64-bit
    integers, strings and opaque bytes are their units."""
    order = dtype.str[0]
    if dtype.kind in "mM":
        return f"{order}i8", 1
    if dtype.kind == "U":
        return f"{order}u4", dtype.itemsize // 4
    if dtype.type in (np.bytes_, np.void) and dtype.names is None:
        return "|u1", dtype.itemsize
    if dtype.name == "bfloat16":  # of ml_dtypes, whose types are no np.void
        return f"{order}bf16", 1
    if dtype.kind == "V" and dtype.names is None:
        raise UsageError(f"dtype={shown(dtype)} of a field is no type that can be read")
    return dtype.str, 1


def dtype_of(source: _ooc.Input) -> np.dtype[Any]:
    """Returns NumPy's type of the elements as they are read: in this machine's byte order, except
    for structs."""
    if source.fields:
        names = [field[0] for field in source.fields]
        formats = [_dtype_named(code) if count == 1 else np.dtype((_dtype_named(code), (count,)))
                   for _, code, count, _ in source.fields]
        offsets = [field[3] for field in source.fields]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets,
                         "itemsize": source.itemsize})
    if source.is_bool:
        return np.dtype(bool)
    return _dtype_named(source.code).newbyteorder("=")


def _dtype_named(code: str) -> np.dtype[Any]:
    if "bf16" not in code:
        return np.dtype(code)
    try:
        import ml_dtypes  # type: ignore[import-not-found]
    except ImportError:
        return np.dtype("V2")
    bfloat: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat
