"""What a call did: its time, its bytes and the reasons for its choices."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from . import _ooc
from ._report import report


class RunStats:
    """Statistics of the passes of a call."""

    seconds: float
    """The time of all passes."""
    nbytes: int
    """The bytes of the data."""
    passes: int
    """How often the data were read."""

    def __init__(self, stats: _ooc.RunStats) -> None:
        self._stats: _ooc.RunStats | None = stats
        self.seconds = stats.seconds
        self.nbytes = stats.nbytes
        self.passes = stats.passes

    def __getstate__(self) -> dict[str, Any]:
        """Pickles plain values: results travel between processes."""
        return {"_stats": None, "seconds": self.seconds, "nbytes": self.nbytes,
                "passes": self.passes, "run": self.run}

    @property
    def reasons(self) -> list[str]:
        """Sentences that say why the passes ran as they did."""
        return list(self.run["reasons"])

    @cached_property
    def run(self) -> dict[str, Any]:
        """The object `run` of what `ooc-run --json` prints: device, stages, memory and more."""
        assert self._stats is not None  # else it was pickled with this
        run: dict[str, Any] = json.loads(self._stats.json())
        return run

    def __repr__(self) -> str:
        rate = self.nbytes / self.seconds if self.seconds > 0 else 0.0
        return (f"RunStats({self.nbytes / 1e6:.3g} MB in {self.seconds:.3g} s, "
                f"{rate / 1e9:.3g} GB/s, {self.run['device']})")

    def _repr_html_(self) -> str:
        return report(self.run, self.nbytes)
