"""Checks of arguments: each returns a plain value of Python, or names the argument in its error."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from ._errors import UsageError

_most = 2**64 - 1  # that the library takes
_longest = 60  # characters of a value in a message


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
