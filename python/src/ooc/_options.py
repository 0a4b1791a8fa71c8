"""Options that all functions take."""

from __future__ import annotations

import contextvars
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from . import _ooc
from ._arguments import call, integer, shown, unicode
from ._errors import UsageError
from ._progress import Progress

_most_threads = 1024  # as ooc-run


class Options(TypedDict, total=False):
    """Keyword arguments of all functions that read data. See `options`."""

    device: str | None
    memory: int | str | None
    vram: int | str | None
    threads: int | None
    progress: Progress


@dataclass(frozen=True)
class Settings:
    device: str = "auto"
    memory: int = 0  # bytes; 0: chosen by the library, as of the next two
    vram: int = 0
    threads: int = 0
    progress: Progress = None


_current: contextvars.ContextVar[Settings] = contextvars.ContextVar("ooc", default=Settings())


@contextmanager
def options(*, device: str | None = None, memory: int | str | None = None,
            vram: int | str | None = None, threads: int | None = None,
            progress: Progress = None) -> Iterator[None]:
    """Sets defaults for the calls of this thread or task within a `with` block.

    device: "auto" (the first GPU, else the CPU), "cpu", "cuda", "cuda:1", "cuda:all" or "all".
    memory: limit for buffers on the host, in bytes or as "512M", "2G" (binary) or "5GB".
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


def settings(given: Options) -> Settings:
    """Returns the current settings with those that are given."""
    names = {field.name for field in fields(Settings)}
    for name in given:
        if name not in names:
            raise TypeError(f"{call()[0]}() got an unexpected keyword argument '{name}'")
    known = {name: _checked(value, name) for name, value in given.items() if value is not None}
    return replace(_current.get(), **known)


def _checked(value: Any, name: str) -> Any:
    if name == "device":
        _devices_in(value)
    elif name == "threads":
        return integer(value, name, least=1, most=_most_threads)
    elif name in ("memory", "vram"):
        return bytes_in(value, name)
    elif not isinstance(value, bool) and not callable(value):
        raise TypeError(f"{name}={shown(value)} is neither True, False nor a function")
    return value


def bytes_in(value: Any, name: str) -> int:
    """Returns a number of bytes: 2147483648 for "2G", by the rules of ooc-run."""
    if isinstance(value, str):
        value = _ooc.bytes_in(unicode(value), name)
    try:
        return integer(value, name, least=1)
    except TypeError:
        raise TypeError(f"{name}={shown(value)} is no size: a number of bytes, or as '512M' or "
                        "'2G'") from None


def _devices_in(text: Any) -> list[int]:
    """Returns the devices that a text names: indices of GPUs, and -1 for the CPU; none for "auto",
    which is the first GPU or the CPU."""
    if not isinstance(text, str):
        raise TypeError(f"device={shown(text)} is no name of a device, such as 'cuda:1'")
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
    match = re.fullmatch(r"cuda:([0-9]{1,4}(?:,[0-9]{1,4})*)", text)
    if not match:
        raise UsageError(f"device={text!r} is no device", hint="'auto', 'cpu', 'cuda', 'cuda:1', "
                         "'cuda:0,1', 'cuda:all' or 'all'")
    indices = [int(index) for index in match[1].split(",")]
    if len(set(indices)) < len(indices):
        raise UsageError(f"device={text!r} names a GPU twice")
    return indices


def machine(given: Settings, streams: int = 0, device: str | None = None) -> _ooc.Machine:
    """Returns the settings as the library takes them. `device`: instead of the one given."""
    return _ooc.Machine(devices=_devices_in(device or given.device), memory=given.memory,
                        vram=given.vram, threads=given.threads, streams=streams)
