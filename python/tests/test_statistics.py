import math
import pickle

import numpy as np
import pytest
from conftest import TYPES

import ooc


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("dtype", TYPES)
def test_they_are_those_of_numpy(values, dtype, order):
    array = values(dtype, 501, 7).astype(np.dtype(dtype).newbyteorder(order))
    np.save("a.npy", array)
    exact = array.astype(object if array.dtype.kind in "ui" else "f8")
    for data in ("a.npy", array):
        found = ooc.reduce(data)
        assert found.count == array.size
        assert found.min == array.min() and found.max == array.max()
        assert found.argmin == array.argmin() and found.argmax == array.argmax()
        if array.dtype.kind == "f":
            assert found.sum == pytest.approx(math.fsum(exact.ravel()), rel=1e-12)
        else:
            assert found.sum == exact.sum() and isinstance(found.sum, int)
        assert found.mean == pytest.approx(float(exact.mean()), rel=1e-12)
        assert found.variance == pytest.approx(float(array.astype("f8").var()), rel=1e-12)


def test_each_function_is_one_of_them(values):
    array = values("f4", 1000)
    found = ooc.reduce(array)
    assert ooc.sum(array) == found.sum
    assert ooc.mean(array) == found.mean
    assert ooc.var(array) == found.variance
    assert ooc.std(array) == found.stddev
    assert (ooc.min(array), ooc.max(array)) == (found.min, found.max)
    assert (ooc.argmin(array), ooc.argmax(array)) == (found.argmin, found.argmax)
    assert ooc.var(array, ddof=1) == pytest.approx(array.astype("f8").var(ddof=1))
    assert ooc.std(array, ddof=1) == pytest.approx(array.astype("f8").std(ddof=1))


def test_sums_of_integers_have_no_limit():
    assert ooc.sum(np.full(1000, 2**64 - 1, "u8")) == 1000 * (2**64 - 1)


def test_nan_spreads_or_is_left_out():
    array = np.array([1, np.nan, 3], "f4")
    assert math.isnan(ooc.mean(array)) and math.isnan(ooc.max(array))
    assert ooc.reduce(array, nan="omit").mean == 2
    with pytest.raises(ValueError, match="neither"):
        ooc.reduce(array, nan="skip")


def test_exact_sums_are_rounded_once():
    array = np.array([1e16, 1, -1e16] * 11)
    assert ooc.reduce(array, exact=True).sum == 11


def test_nothing_has_a_sum_only():
    nothing = np.empty(0, "f4")
    found = ooc.reduce(nothing)
    assert (found.count, found.sum, found.min, found.mean) == (0, 0, None, None)
    assert math.isnan(ooc.mean(nothing)) and math.isnan(ooc.var(nothing))
    with pytest.raises(ValueError, match="empty"):
        ooc.min(nothing)


def test_what_was_done_is_known(values):
    np.save("a.npy", values("f4", 100_000))
    stats = ooc.reduce("a.npy", device="cpu").stats
    assert stats.passes == 1 and stats.nbytes == 400_000 and stats.seconds > 0
    assert stats.run["device"] == "cpu"
    assert all(isinstance(reason, str) for reason in stats.reasons)
    assert repr(stats).startswith("RunStats(0.4 MB in ")


def test_a_notebook_shows_a_table():
    html = ooc.reduce(np.array([1, 2, 3000]))._repr_html_()
    assert "<table>" in html and "3,003" in html and "–" not in html
    assert "–" in ooc.reduce(np.empty(0))._repr_html_()


def test_errors_can_be_pickled():
    with pytest.raises(ooc.InputError) as caught:
        ooc.open("nothing.npy")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and type(again) is type(caught.value)
    for name in ("cause", "path", "offset", "why", "hint", "errno", "filename"):
        assert getattr(again, name) == getattr(caught.value, name)


def test_examples(examples):
    import ooc._statistics

    examples(ooc._statistics)
