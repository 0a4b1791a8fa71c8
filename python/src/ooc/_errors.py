"""Exceptions. Each has the attributes of `Error`, and is also of a built-in class."""

from __future__ import annotations

import os
from errno import EEXIST, ENOENT
from typing import Any


class Error(Exception):
    """The base of all exceptions of this package.

    The message says what failed and where. `why` and `hint`, which may be empty, are also notes of
    the exception, so that tracebacks show them.
    """

    cause: str
    """The kind of the failure: "bad_input"."""
    path: str
    """The file that it is about; may be empty."""
    offset: int | None
    """The byte in that file."""
    why: str
    """The likely cause."""
    hint: str
    """What to do about it."""

    def __init__(self, message: str, *, cause: str = "usage", path: str = "",
                 offset: int | None = None, why: str = "", hint: str = "") -> None:
        super().__init__(message)
        self._message = message
        self.cause = cause
        self.path = path
        self.offset = offset
        self.why = why
        self.hint = hint
        notes = [f"why: {why}"] if why else []
        if hint:
            notes.append(f"hint: {hint}")
        if hasattr(self, "add_note"):
            for note in notes:
                self.add_note(note)
        elif notes:  # Python 3.10
            self.args = ("\n".join([message, *notes]),)

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> Any:
        return (exception_for, (self.cause, self._message, self.path, self.offset,
                                getattr(self, "errno", None) or 0, self.why, self.hint))


class UsageError(Error, ValueError):
    """The arguments are invalid."""


class BadInput(Error, ValueError):
    """The input is malformed or not supported."""


class InputError(Error, OSError):
    """The input could not be read."""


class InputNotFound(InputError, FileNotFoundError):
    """There is no such file."""


class InputChanged(Error, OSError):
    """Another program changed the input while it was read."""


class OutputError(Error, OSError):
    """The output could not be written."""


class OutputExists(OutputError, FileExistsError):
    """There is such a file already."""


class StalledError(Error, OSError):
    """The disk stopped answering."""


class LimitError(Error, MemoryError):
    """There is not enough memory within the limits."""


class DeviceError(Error, RuntimeError):
    """The GPU failed or cannot be used."""


class VerifyError(Error, ArithmeticError):
    """A result failed its verification."""


_classes: dict[str, type[Error]] = {
    "usage": UsageError,
    "bad_input": BadInput,
    "input": InputError,
    "input_changed": InputChanged,
    "output": OutputError,
    "memory": LimitError,
    "device": DeviceError,
    "stalled": StalledError,
    "verify": VerifyError,
}


def exception_for(cause: str, message: str, path: str, offset: int | None, errno: int, why: str,
                  hint: str) -> Error:
    """Returns the exception for an error of the library."""
    kind: Any = _classes.get(cause, Error)
    if kind is InputError and errno == ENOENT:
        kind = InputNotFound
    if kind is OutputError and errno == EEXIST:
        kind = OutputExists
    error: Error = kind(message, cause=cause, path=path, offset=offset, why=why, hint=hint)
    if isinstance(error, OSError) and errno:
        error.errno = errno
        error.strerror = os.strerror(errno)
        error.filename = path or None
    return error
