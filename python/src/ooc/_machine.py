"""What this machine has."""

from __future__ import annotations

from typing import Any

from . import _ooc
from ._errors import UsageError


def doctor() -> dict[str, Any]:
    """Returns what `ooc-run doctor --json` prints: what works on this machine, and how fast."""
    import json
    import shutil
    import subprocess
    import sysconfig
    from pathlib import Path

    beside = Path(sysconfig.get_path("scripts")) / "ooc-run"
    program = str(beside) if beside.exists() else shutil.which("ooc-run")
    if program is None:
        raise UsageError("the program ooc-run is not there", hint="install the wheel of ooc")
    done = subprocess.run([program, "doctor", "--json"], capture_output=True, text=True,
                          check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def devices() -> list[str]:
    """Returns the names that `device=` takes for what is here: ["cpu", "cuda:0"]."""
    return ["cpu", *(f"cuda:{number}" for number in range(_ooc.gpus()))]
