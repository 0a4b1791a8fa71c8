"""A histogram as a picture for notebooks, in light and dark."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_width, _height, _most_bars = 480, 160, 120


def bars(counts: NDArray[Any], edges: NDArray[Any]) -> str:
    """Returns SVG. The colour is that of the text around it, so it fits every theme."""
    if len(counts) == 0:
        return "<p>no bins</p>"
    together = -(-len(counts) // _most_bars)  # bins of a bar
    heights = np.add.reduceat(counts, np.arange(0, len(counts), together))
    # Of bins of unequal width, a bar shows the density.
    ends = np.append(edges[:-1:together], edges[-1])
    widths = np.diff(ends)
    if not np.allclose(widths[:-1], widths[0]) and (widths > 0).all():
        heights = heights / widths
    top = heights.max() or 1
    span = (ends[-1] - ends[0]) or 1
    rectangles = "".join(
        f'<rect x="{_width * (left - ends[0]) / span:.1f}" y="{_height * (1 - part / top):.1f}" '
        f'width="{max(0.5, _width * width / span - 0.5):.1f}" '
        f'height="{_height * part / top:.1f}"/>'
        for left, width, part in zip(ends[:-1], widths, heights))
    text = f'y="{_height + 16}" font-size="12" font-family="sans-serif"'
    return (f'<svg viewBox="0 0 {_width} {_height + 20}" width="{_width}" role="img" '
            f'aria-label="histogram of {counts.sum():,} values" fill="currentColor">'
            f'<g fill-opacity="0.6">{rectangles}</g>'
            f'<text x="0" {text}>{edges[0]:.6g}</text>'
            f'<text x="{_width}" text-anchor="end" {text}>{edges[-1]:.6g}</text>'
            f'<text x="{_width / 2}" text-anchor="middle" {text}>{counts.sum():,} values, '
            f'{len(counts):,} bins</text></svg>')
