"""Options that all functions take."""

from __future__ import annotations

import contextvars
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from . import _ooc
from ._errors import UsageError
from ._progress import Progress

_units = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class Options(TypedDict, total=False):
    """Keyword arguments of all functions that read data. See `options`."""

    device: str | None
    memory: int | str | None
    vram: int | str | None
    threads: int | None
    progress: Progress


@dataclass(frozen=True)
class _Settings:
    device: str | None = None
    memory: int | str | None = None
    vram: int | str | None = None
    threads: int | None = None
    progress: Progress = None


_current: contextvars.ContextVar[_Settings] = contextvars.ContextVar("ooc", default=_Settings())


@contextmanager
def options(*, device: str | None = None, memory: int | str | None = None,
            vram: int | str | None = None, threads: int | None = None,
            progress: Progress = None) -> Iterator[None]:
    """Sets defaults for the calls of this thread or task within a `with` block.

    device: "auto" (the first GPU, else the CPU), "cpu", "cuda", "cuda:1", "cuda:all" or "all".
    memory: limit for buffers on the host, in bytes or as "2G".
    vram: limit for allocations on a GPU.
    threads: all threads that read or compute.
    progress: True shows a bar; a function is called with the bytes that are done and all of them.

        >>> with ooc.options(device="cpu", threads=2):
        ...     ooc.sum(numpy.ones(10))
        10.0
    """
    given = Options(device=device, memory=memory, vram=vram, threads=threads, progress=progress)
    token = _current.set(settings(given))
    try:
        yield
    finally:
        _current.reset(token)


def settings(given: Options) -> _Settings:
    """Returns the current settings with those that are given."""
    names = {field.name for field in fields(_Settings)}
    for name in given:
        if name not in names:
            raise TypeError(f"unexpected keyword argument '{name}'")
    known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(_current.get(), **known)


def bytes_in(value: int | str | None, name: str) -> int:
    """Returns a number of bytes: 2147483648 for "2G"; 0 for None."""
    if value is None:
        return 0
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+)([KMGT]?)(?:iB)?", value)
        if not match:
            raise UsageError(f"{name}={value!r} is no size", hint="as bytes, or as '512M' or '2G'")
        return int(match[1]) << _units[match[2]]
    if value < 0:
        raise UsageError(f"{name}={value} is negative")
    return value


def _devices_in(text: str) -> list[int]:
    """Returns the devices that a text names: indices of GPUs, and -1 for the CPU; none for "auto",
    which is the first GPU or the CPU."""
    if text == "auto":
        return []
    if text == "cpu":
        return [-1]
    if text == "cuda":
        return [0]
    gpus = list(range(_ooc.gpus()))
    if text == "cuda:all":
        return gpus or [0]
    if text == "all":
        return [*gpus, -1]
    match = re.fullmatch(r"cuda:(\d+(?:,\d+)*)", text)
    if not match:
        raise UsageError(f"device={text!r} is no device", hint="'auto', 'cpu', 'cuda', 'cuda:1', "
                         "'cuda:0,1', 'cuda:all' or 'all'")
    return [int(index) for index in match[1].split(",")]


def machine(given: _Settings) -> _ooc.Machine:
    """Returns the settings as the library takes them."""
    threads = given.threads or 0
    if threads < 0:
        raise UsageError(f"threads={threads} is negative")
    return _ooc.Machine(devices=_devices_in(given.device or "auto"),
                        memory=bytes_in(given.memory, "memory"),
                        vram=bytes_in(given.vram, "vram"), threads=threads)
