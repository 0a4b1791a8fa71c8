import math
import pickle
import re

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
    assert ooc.var(array, nan="omit", ddof=1) == 2
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


def parts_of(path, count, **options):
    return [ooc.reduce(ooc.shard(path, i, count), **options) for i in range(count)]


def expect_merged(merged, whole):
    """Both are the same, up to the last bits of what is rounded."""
    for name in ("count", "nan", "inf", "min", "max", "argmin", "argmax"):
        found, expected = getattr(merged, name), getattr(whole, name)
        assert found == expected or (found != found and expected != expected)
    if isinstance(whole.sum, int):
        assert merged.sum == whole.sum and isinstance(merged.sum, int)
    for name in ("sum", "mean", "variance", "stddev"):
        assert getattr(merged, name) == pytest.approx(getattr(whole, name), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("dtype", TYPES)
def test_parts_add_up(values, dtype):
    array = values(dtype, 300_000) // 7  # so that extremes are there several times
    np.save("a.npy", array)
    whole = ooc.reduce("a.npy")
    parts = parts_of("a.npy", 4)
    assert all(part.is_shard for part in parts) and not whole.is_shard
    expect_merged(sum(parts), whole)
    expect_merged(parts[3] + parts[1] + (parts[2] + parts[0]), whole)
    assert sum(parts).stats is None and sum(parts).is_shard
    assert pickle.loads(pickle.dumps(sum(parts))) == sum(parts)
    with pytest.raises(TypeError):
        parts[0] + 1


def test_sums_of_parts_have_no_limit():
    np.save("a.npy", np.full(200_000, 2**64 - 1, "u8"))
    merged = sum(parts_of("a.npy", 3))
    assert merged.sum == 200_000 * (2**64 - 1)
    assert (merged.argmin, merged.argmax, merged.variance) == (0, 0, 0)


@pytest.mark.parametrize("nan", ["propagate", "omit"])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("places", [
    {}, {3: np.nan}, {150_000: np.nan, 250_000: np.nan}, {3: np.inf, 200_000: -np.inf},
    {3: np.inf, 9: np.inf}, {200_000: -np.inf, 1: np.nan}, {9: -0.0, 200_000: 0.0},
    {"all": np.nan}, {"all": 1e307}, {"first half": np.nan}])
def test_special_values_of_parts_merge_as_in_the_whole(values, nan, exact, places):
    array = values("f8", 270_000)
    for place, value in places.items():
        if place == "all":
            array[:] = value
        elif place == "first half":
            array[:140_000] = value
        else:
            array[place] = value
    np.save("a.npy", array)
    whole = ooc.reduce("a.npy", nan=nan, exact=exact)
    parts = parts_of("a.npy", 4, nan=nan, exact=exact)
    expect_merged(sum(parts), whole)
    expect_merged(sum(parts[::-1]), whole)


def test_the_mean_of_large_parts_is_finite():
    array = np.ones(200_000)
    array[[9, 150_000]] = 1e308, 1.5e308
    np.save("a.npy", array)
    for exact in (False, True):
        merged = sum(parts_of("a.npy", 3, exact=exact))
        assert merged.sum == math.inf and merged.mean == pytest.approx(1.25e303)


def test_parts_in_fortran_order_add_up(values):
    array = np.asfortranarray(values("i2", 500, 400) // 50)
    np.save("a.npy", array)
    expect_merged(sum(parts_of("a.npy", 3)), ooc.reduce("a.npy"))
    assert sum(parts_of("a.npy", 3)).argmax == array.argmax()


def test_empty_parts_change_nothing():
    array = np.array([4, 2, 2], "i4")
    parts = parts_of(array, 5)
    assert sum(part.count for part in parts) == 3 and min(part.count for part in parts) == 0
    expect_merged(sum(parts), ooc.reduce(array))
    nothing = ooc.reduce(np.empty(0, "f4"))
    assert (nothing + nothing).mean is None
    omitted = ooc.reduce(np.array([np.nan]), nan="omit")
    for merged in (nothing + omitted, omitted + nothing):
        assert math.isnan(merged.min) and (merged.sum, merged.count, merged.nan) == (0, 1, 1)


def test_of_parts_that_are_no_shards_no_index_is_known(values):
    array = values("f4", 1000)
    whole = ooc.reduce(array)
    merged = ooc.reduce(array[:400]) + ooc.reduce(array[400:])
    assert (merged.argmin, merged.argmax, merged.is_shard) == (None, None, False)
    assert (merged.min, merged.max, merged.count) == (whole.min, whole.max, whole.count)
    assert merged.variance == pytest.approx(whole.variance, rel=1e-12)
    nan = ooc.reduce(np.array([np.nan])) + whole
    assert math.isnan(nan.mean) and nan.argmin is None


def test_a_notebook_shows_how_it_ran():
    run = {"device": "GPU <0>", "seconds": 2.0, "passes": 2, "bytes_per_second": 2e9,
           "direct": True, "reasons": ["direct: a < b"],
           "ceilings": {"disk_bytes_per_second": 4e9, "page_cache_bytes_per_second": 1e9,
                        "start_seconds": 0.1},
           "stages": {"disk": {"busy_seconds": 1.0}, "h2d": {"busy_seconds": 0.5},
                      "kernel": {"busy_seconds": 0.25}, "d2h": None, "write": None}}
    html = ooc._run.report(run, 4_000_000_000)
    assert "GPU &lt;0&gt;, 4 GB in 2 s, 2 GB/s, 50 % of the limit 4 GB/s (disk), 2 passes" in html
    assert "<li>direct: a &lt; b</li>" in html and "currentColor" in html
    assert re.findall('width="([0-9.]+)" height="12" fill-opacity="0.6"', html) == [
        "150.0", "75.0", "37.5"]
    stats = ooc.reduce(np.ones(1000)).stats
    own = stats._repr_html_()
    assert f"<p>{stats.run['device']}, " in own and ">compute</text>" in own


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
