"""The report of a run for notebooks, in light and dark."""

from __future__ import annotations

from html import escape
from typing import Any

_names = {"disk": "read", "h2d": "copy to the GPU", "kernel": "compute",
          "d2h": "copy from the GPU", "write": "write"}
_left, _width, _height = 130, 300, 18  # of names, of the longest bar, of a line


def report(run: dict[str, Any], nbytes: int) -> str:
    """Returns HTML. `run`: as `ooc-run --json` prints it. The colour is that of the text around it,
    so it fits every theme."""
    facts = [escape(str(run["device"])), f"{_size(nbytes)} in {_time(run['seconds'])}",
             _rate(run)]
    if run["passes"] != 1:
        facts.append(f"{run['passes']} passes")
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in run["reasons"])
    return (f"<div><p>{', '.join(fact for fact in facts if fact)}</p>{_bars(run)}"
            f"<ul>{reasons}</ul></div>")


def _rate(run: dict[str, Any]) -> str:
    """Returns the rate, and how much that is of the slowest measured limit, if there is one."""
    rate = run["bytes_per_second"]
    if not rate:
        return ""
    unused = "page_cache" if run["direct"] else "disk"
    limits = {name.removesuffix("_bytes_per_second").replace("_", " "): limit
              for name, limit in run["ceilings"].items()
              if name.endswith("_bytes_per_second") and not name.startswith(unused)}
    text = f"{rate / 1e9:,.3g} GB/s"
    if not limits:
        return text
    name, limit = min(limits.items(), key=lambda each: each[1])
    return f"{text}, {100 * rate / limit:.0f} % of the limit {limit / 1e9:,.3g} GB/s ({name})"


def _bars(run: dict[str, Any]) -> str:
    """Returns a bar for each stage: the part of the time in which it was busy."""
    stages = [(_names.get(name, name), stage) for name, stage in run["stages"].items() if stage]
    longest = max([run["seconds"], *(stage["busy_seconds"] for _, stage in stages)]) or 1
    lines = []
    for index, (name, stage) in enumerate(stages):
        busy, y = stage["busy_seconds"], index * _height
        lines.append(
            f'<rect x="{_left}" y="{y + 3}" width="{_width * busy / longest:.1f}" '
            f'height="{_height - 6}" fill-opacity="0.6"/><rect x="{_left}" y="{y + 3}" '
            f'width="{_width}" height="{_height - 6}" fill-opacity="0.1"/>'
            f'<text x="0" y="{y + 13}">{escape(name)}</text>'
            f'<text x="{_left + _width + 8}" y="{y + 13}">{_time(busy)} busy</text>')
    return (f'<svg width="{_left + _width + 100}" height="{len(stages) * _height}" role="img" '
            'aria-label="busy times of the stages" fill="currentColor" font-size="12" '
            f'font-family="sans-serif">{"".join(lines)}</svg>')


def _size(nbytes: int) -> str:
    return f"{nbytes / 1e6:.3g} MB" if nbytes < 1e9 else f"{nbytes / 1e9:,.4g} GB"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:,.4g} s"
