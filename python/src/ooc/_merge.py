"""The merge of the statistics of two parts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._statistics import Statistics


def merged(a: Statistics, b: Statistics) -> Statistics:
    """Returns the statistics of the data of both, by the rules of the library for one array."""
    are_shards = a.is_shard and b.is_shard
    both: dict[str, Any] = {"count": a.count + b.count, "nan": a.nan + b.nan,
                            "inf": a.inf + b.inf, "stats": None, "is_shard": are_shards}
    if _is_nan(a) or _is_nan(b):
        nans = [part for part in (a, b) if _is_nan(part)]
        first = min((part.argmin or 0 for part in nans)) if are_shards else None
        return replace(nans[0], **both, argmin=first, argmax=first)
    if not _values(a) or not _values(b):
        kept = a if _values(a) or (a.count and not _values(b)) else b
        return replace(kept, **both, argmin=kept.argmin if are_shards else None,
                       argmax=kept.argmax if are_shards else None)
    return replace(a, **both, **_extremes(a, b, are_shards), **_moments(a, b))


def _values(part: Statistics) -> int:
    """Returns how many elements are numbers."""
    return part.count - part.nan


def _is_nan(part: Statistics) -> bool:
    """True if a NaN has spread. If all are NaN and left out, the sum is 0."""
    return part.min != part.min and part.sum != part.sum


def _extremes(a: Any, b: Any, are_shards: bool) -> dict[str, Any]:
    """Of equal extremes, the first counts; -0 equals +0."""
    a_is_first = not are_shards or a.argmin < b.argmin
    low = a if a.min < b.min or (a.min == b.min and a_is_first) else b
    a_is_first = not are_shards or a.argmax < b.argmax
    high = a if a.max > b.max or (a.max == b.max and a_is_first) else b
    return {"min": low.min, "argmin": low.argmin if are_shards else None,
            "max": high.max, "argmax": high.argmax if are_shards else None}


def _moments(a: Any, b: Any) -> dict[str, Any]:
    """Merges by the formula of Chan, Golub and LeVeque (1979), in shares, which overflow later."""
    count = _values(a) + _values(b)
    share_a, share_b = _values(a) / count, _values(b) / count
    total = a.sum + b.sum
    # The mean of exact sums is finite though their sum may not be.
    mean = total / count if math.isfinite(total) else a.mean * share_a + b.mean * share_b
    between = b.mean - a.mean
    variance = (a.variance * share_a + b.variance * share_b
                + between * between * share_a * share_b)
    return {"sum": total, "mean": mean, "variance": variance, "stddev": math.sqrt(variance)}
