"""The progress of a call."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

Callback = Callable[[int, int], object]
Progress = Union[bool, Callback, None]

_width = 30


@contextmanager
def reporting(progress: Progress) -> Iterator[Callback | None]:
    """Gives the function to call with the bytes that are done and all of them, or None."""
    if progress is None or progress is False:
        yield None
    elif progress is not True:
        yield progress
    elif "ipykernel" in sys.modules:
        with _notebook_bar() as callback:
            yield callback
    elif sys.stderr.isatty():
        bar = _TerminalBar()
        try:
            yield bar
        finally:
            bar.clear()
    else:
        yield None


class _TerminalBar:
    """A bar on standard error, which is removed at the end."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._is_shown = False

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self._begin
        if seconds < 0.5 and not self._is_shown:
            return  # short calls need none
        self._is_shown = True
        rate = done / seconds if seconds > 0 else 0.0
        line = f"{done / 1e9:.2f} GB, {rate / 1e9:.2f} GB/s"
        if total > 0:
            full = min(_width, _width * done // total)
            line = f"{'█' * full}{'░' * (_width - full)} {100 * done // total} %, {line}"
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def _notebook_bar() -> Iterator[Callback | None]:
    """Gives tqdm's bar for notebooks, or None without tqdm."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        yield None
        return
    with tqdm(unit="B", unit_scale=True, leave=False) as bar:

        def update(done: int, total: int) -> Any:
            bar.total = total or None
            bar.update(done - bar.n)

        yield update
