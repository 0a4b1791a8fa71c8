"""Checks of arguments: each returns a plain value of Python, or names the argument in its error."""

from __future__ import annotations

import operator
import os
import sys
from typing import Any

import numpy as np

from ._errors import UsageError

_most = 2**64 - 1  # that the library takes
_longest = 60  # characters of a value in a message


def call() -> tuple[str, int]:
    """Returns the function of this package that the program has called, and how many calls the
    program is away, as the `stacklevel` of warnings.warn()."""
    frame, name, level = sys._getframe(1), "", 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ooc."):
        frame, name, level = frame.f_back, frame.f_code.co_name, level + 1
    return name, level


def shown(value: Any) -> str:
    """Returns a value as messages show it: its type if it is long."""
    try:
        text = repr(value)
    except Exception:  # of an integer with thousands of digits, for one
        text = ""
    return text if 0 < len(text) <= _longest and "\n" not in text else f"<{type(value).__name__}>"


def integer(value: Any, name: str, least: int = 0, most: int = _most) -> int:
    """Returns an int. A bool is none: threads=True is a mistake."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={shown(value)} is no integer") from None
    if number < least:
        raise UsageError(f"{name}={shown(number)} is " +
                         ("negative" if least == 0 else f"less than {least}"))
    if number > most:
        raise UsageError(f"{name}={shown(number)} is more than {most:,}")
    return number


def lengths(shape: Any) -> tuple[int | None, ...]:
    """Returns a shape, of which the first length may be None."""
    if not isinstance(shape, (tuple, list)) or not shape:
        raise TypeError(f"shape={shown(shape)} is no tuple of lengths, such as (None, 64)")
    first = None if shape[0] is None else integer(shape[0], "shape[0]")
    return (first, *(integer(length, f"shape[{i}]") for i, length in enumerate(shape[1:], 1)))


def number(value: Any, name: str) -> float:
    """Returns a float. A text is none, though float() would parse it."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            raise TypeError
        if not isinstance(value, (float, int)) and np.ndim(value) != 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={shown(value)} is no number") from None
    except OverflowError:
        raise UsageError(f"{name}={shown(value)} is beyond double precision") from None


def flag(value: Any, name: str) -> bool:
    """Returns a bool. Nothing else is one: strict="no" is a mistake."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name}={shown(value)} is neither True nor False")


def part_of(shard: Any) -> tuple[int, int]:
    """Returns the index and number of a shard."""
    if not isinstance(shard, (tuple, list)) or len(shard) != 2:
        raise TypeError(f"shard={shown(shard)} is no pair of integers: (0, 4) is the first of four")
    count = integer(shard[1], "shard[1]", least=1)
    return integer(shard[0], "shard[0]", most=count - 1), count


def omits_nan(nan: Any) -> bool:
    """Returns whether NaN is skipped."""
    if isinstance(nan, str) and nan in ("propagate", "omit"):
        return nan == "omit"
    raise UsageError(f"nan={shown(nan)} is neither 'propagate' nor 'omit'")


def path(value: Any, name: str) -> str:
    """Returns the path of a file."""
    try:
        text = os.fsdecode(value)
        os.fsencode(text)
    except TypeError:
        raise TypeError(f"{name}={shown(value)} is no path") from None
    except UnicodeEncodeError:
        raise UsageError(f"{name}={shown(value)} is no name that a file can have") from None
    if "\0" in text:
        raise UsageError(f"{name}={shown(value)} has a null character")
    return text


def unicode(text: str) -> str:
    """Returns a text without lone surrogates, which the library does not take."""
    return text.encode("utf-8", "replace").decode()
