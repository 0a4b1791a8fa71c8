"""What a call did: its time, its bytes and the reasons for its choices."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from . import _ooc


class RunStats:
    """Statistics of the passes of a call."""

    def __init__(self, stats: _ooc.RunStats) -> None:
        self._stats = stats

    @property
    def seconds(self) -> float:
        """The time of all passes."""
        return self._stats.seconds

    @property
    def nbytes(self) -> int:
        """The bytes of the data."""
        return self._stats.nbytes

    @property
    def passes(self) -> int:
        """How often the data were read."""
        return self._stats.passes

    @property
    def reasons(self) -> list[str]:
        """Sentences that say why the passes ran as they did."""
        return list(self.run["reasons"])

    @cached_property
    def run(self) -> dict[str, Any]:
        """The object `run` of what `ooc-run --json` prints: device, stages, memory and more."""
        run: dict[str, Any] = json.loads(self._stats.json())
        return run

    def __repr__(self) -> str:
        rate = self.nbytes / self.seconds if self.seconds > 0 else 0.0
        return (f"RunStats({self.nbytes / 1e6:.3g} MB in {self.seconds:.3g} s, "
                f"{rate / 1e9:.3g} GB/s, {self.run['device']})")
