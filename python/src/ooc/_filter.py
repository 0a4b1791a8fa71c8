"""Files of the elements that fit."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, Union, overload

from . import _ooc
from ._arguments import flag, path, shown, unicode
from ._array import Array, opened, opened_elements
from ._errors import UsageError
from ._files import _reopened
from ._options import Options, settings
from ._progress import reporting

if TYPE_CHECKING:
    from typing_extensions import TypeAlias, Unpack

    from ._array import ArrayLike
    from ._files import Path

    Number: TypeAlias = Union[SupportsIndex, float]


@overload
def filter(x: ArrayLike, out: Path, *, above: Number | None = ..., below: Number | None = ...,
           between: tuple[Number | None, Number | None] | None = ..., equal: Number | None = ...,
           by: str | SupportsIndex | None = ..., mask: ArrayLike | None = ..., rest: None = ...,
           indices: bool = ..., overwrite: bool = ..., **given: Unpack[Options]) -> Array: ...


@overload
def filter(x: ArrayLike, out: Path, *, above: Number | None = ..., below: Number | None = ...,
           between: tuple[Number | None, Number | None] | None = ..., equal: Number | None = ...,
           by: str | SupportsIndex | None = ..., mask: ArrayLike | None = ..., rest: Path,
           indices: bool = ..., overwrite: bool = ...,
           **given: Unpack[Options]) -> tuple[Array, Array]: ...


def filter(x: ArrayLike, out: Path, *, above: Number | None = None, below: Number | None = None,
           between: tuple[Number | None, Number | None] | None = None, equal: Number | None = None,
           by: str | SupportsIndex | None = None, mask: ArrayLike | None = None,
           rest: Path | None = None, indices: bool = False, overwrite: bool = False,
           **given: Unpack[Options]) -> Array | tuple[Array, Array]:
    """Writes the elements that fit to a file, as x[(x > above) & (x < below)] of NumPy, in one
    pass. Returns it as a lazy array; with `rest`, both files.

    above, below: neither is in the range.
    between: (A, B), both in the range; None is infinitely far.
    equal: a range of one value.
    by: a field of structs or a column of rows, whose values are compared; whole structs or rows are
        kept.
    mask: what is not 0 there fits: an array with an element for each of x or, if these are fewer,
        for each row.
    rest: a file for all others.
    indices: write the indices, as numpy.flatnonzero, instead.
    overwrite: replace files that are there.

    NaN is in no range, not even in between=(None, None). Numbers are compared exactly: no float32
    is 0.1. The files are .npy files, or raw files by their ending.

        >>> ooc.filter("prices.f32", "high.npy", above=100)
        <ooc.Array high.npy: float32, (2048,)>
    """
    lower, upper = _range(above, below, between, equal, mask is not None)
    wanted = settings(given)
    if mask is not None and by is not None:
        raise UsageError("by= and mask= exclude each other")
    array = opened_elements(x) if by is None and mask is None else opened(x, "x")
    column = "" if by is None else column_of(by, "by")
    target, others = path(out, "out"), None if rest is None else path(rest, "rest")
    chosen = None if mask is None else opened_elements(mask, "mask")
    with reporting(wanted.progress) as progress:
        _ooc.filter(array._input, lower, upper, column,
                    None if chosen is None else chosen._input, target, others,
                    flag(indices, "indices"), flag(overwrite, "overwrite"),
                    array._machine(wanted), progress)
    code = "i8" if indices else array._input.code
    kept = _reopened(target, code)
    return kept if others is None else (kept, _reopened(others, code))


_End = Union["tuple[int | float, bool]", None]


def _range(above: Any, below: Any, between: Any, equal: Any, has_mask: bool) -> tuple[_End, _End]:
    """Returns the ends of the range that the arguments name."""
    given = [name for name, value in (("above and below", (above, below) != (None, None)),
                                      ("between", between is not None),
                                      ("equal", equal is not None), ("mask", has_mask)) if value]
    if not given:
        raise UsageError("which elements?", hint="give above=, below=, between=, equal= or mask=")
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other")
    if between is not None:
        if not isinstance(between, (tuple, list)) or len(between) != 2:
            raise UsageError(f"between={shown(between)} is no pair", hint="between=(low, high)")
        low, high = between
        return _end(low, True, "between"), _end(high, True, "between")
    if equal is not None:
        return _end(equal, True, "equal"), _end(equal, True, "equal")
    return _end(above, False, "above"), _end(below, False, "below")


def column_of(given: Any, name: str) -> str:
    """Returns the name of a field or the number of a column as text."""
    try:
        column = unicode(given) if isinstance(given, str) else str(operator.index(given))
    except TypeError:
        column = ""
    if not column:
        raise UsageError(f"{name}={shown(given)} is no name of a field, and no number of a column")
    return column


def _end(value: Any, included: bool, name: str) -> _End:
    if value is None:
        return None
    try:
        number: int | float = operator.index(value)
    except TypeError:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{name}={value!r} is no number") from None
    if isinstance(number, int) and not -2**63 <= number < 2**64:
        raise UsageError(f"{name}={number} has more than 64 bits")
    return number, included
