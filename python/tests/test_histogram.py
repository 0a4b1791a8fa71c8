import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import TYPES

import ooc


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("bins", [1, 7, 256])
def test_counts_and_edges_are_those_of_numpy(values, dtype, bins):
    array = values(dtype, 5000)
    np.save("a.npy", array)
    counts, edges = np.histogram(array.astype("f8"), bins)
    for data in ("a.npy", array):
        found = ooc.histogram(data, bins)
        np.testing.assert_array_equal(found.counts, counts)
        np.testing.assert_array_equal(found.edges, edges)
    limited = ooc.histogram(array, bins, range=(-5, 20))
    counts, edges = np.histogram(array.astype("f8"), bins, (-5, 20))
    np.testing.assert_array_equal(limited.counts, counts)
    np.testing.assert_array_equal(limited.edges, edges)
    assert limited.below == (array < -5).sum() and limited.above == (array > 20).sum()


def test_it_unpacks():
    counts, edges = ooc.histogram(np.array([1, 2, 2]), 2)
    assert counts.dtype == np.int64 and edges.dtype == np.float64
    assert counts.tolist() == [1, 2] and edges.tolist() == [1, 1.5, 2]


def test_bins_by_edges_and_rules(values):
    array = values("f4", 3000)
    edges = [-300, -10, -10, 0, 5, 250]
    np.testing.assert_array_equal(ooc.histogram(array, edges).counts,
                                  np.histogram(array.astype("f8"), edges)[0])
    for rule in ("sqrt", "sturges", "scott"):
        np.testing.assert_array_equal(ooc.histogram(array, rule).counts,
                                      np.histogram(array.astype("f8"), rule)[0])
    with pytest.raises(ooc.UsageError, match="is no rule"):
        ooc.histogram(array, "doane")


def test_nan_and_infinities_are_counted():
    found = ooc.histogram(np.array([np.nan, np.inf, -np.inf, 1], "f4"), 4, (0, 2))
    assert (found.nan, found.above, found.below, found.count) == (1, 1, 1, 4)
    assert found.counts.sum() == 1


def test_nothing_has_the_bins_of_numpy():
    counts, edges = np.histogram(np.empty(0), 7)
    found = ooc.histogram(np.empty(0), 7)
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(found.edges, edges)


def test_bytes_have_the_range_of_the_data():
    found = ooc.histogram(np.array([3, 5, 5], "u1"), 2)
    assert found.edges.tolist() == [3, 4, 5] and found.counts.tolist() == [1, 2]
    assert found.stats.passes == 2 and found.stats.nbytes == 3
    assert ooc.histogram(np.array([3, 5], "u1"), 2, (0, 9)).stats.passes == 1
    assert ooc.histogram(np.ones(3), 2, (0, 9)).stats.passes == 1
    with pytest.raises(ooc.UsageError, match="0 bins"):
        ooc.histogram(np.array([3, 5, 5], "u1"), 0)


def test_logarithmic_bins():
    found = ooc.histogram(np.array([1, 10, 100.0]), 2, (1, 100), log=True)
    np.testing.assert_allclose(found.edges, [1, 10, 100])


def test_parts_add_up(values):
    array = values("f4", 1_000_000)
    np.save("a.npy", array)
    whole = ooc.histogram("a.npy", 50, (-100, 100))
    parts = [ooc.histogram(ooc.shard("a.npy", i, 3), 50, (-100, 100)) for i in range(3)]
    assert parts[0] + parts[1] + parts[2] == sum(parts) == whole
    assert parts[0] != whole
    assert whole.stats is not None
    assert pickle.loads(pickle.dumps(whole.stats)).run == whole.stats.run
    assert pickle.loads(pickle.dumps(whole)) == whole
    with pytest.raises(ooc.UsageError, match="different edges"):
        parts[0] + ooc.histogram(array, 50)


def test_data_in_no_bins_is_an_error():
    with pytest.raises(ooc.BadInput, match="no finite value"):
        ooc.histogram(np.array([np.nan, np.nan]))
    for wrong in (0, 2**20 + 1):
        with pytest.raises(ooc.UsageError, match=f"{wrong} bins were asked for"):
            ooc.histogram(np.ones(3), wrong)
    for wrong in (-1, 2**64):
        with pytest.raises(ooc.UsageError, match="bins=.* is (negative|more than)"):
            ooc.histogram(np.ones(3), wrong)
    for edges in ([], [1], np.empty(0)):
        with pytest.raises(ooc.UsageError, match="has no edges|1 edges"):
            ooc.histogram(np.ones(3), edges)
    with pytest.raises(ooc.UsageError, match="must rise"):
        ooc.histogram(np.ones(3), [2, 1])
    for edges in ([2**53, 2**53 + 1], np.array([2**53, 2**53 + 1])):
        with pytest.raises(ooc.UsageError, match="double precision"):
            ooc.histogram(np.ones(3, "i8"), edges)
    for limits in ((1,), (0, 1, 2)):
        with pytest.raises(ValueError):
            ooc.histogram(np.ones(3), range=limits)
    with pytest.raises(ValueError):
        ooc.histogram(np.ones(3), range=(1, 0))


def test_a_notebook_shows_a_picture(values):
    picture = ooc.histogram(values("f4", 1000), 500)._repr_html_()
    assert picture.count("<rect") == 100 and "currentColor" in picture
    assert "1,000 values, 500 bins" in picture


def test_examples(examples):
    import ooc._histogram

    examples(ooc._histogram)


@pytest.mark.parametrize("dtype", TYPES)
def test_sums_of_weights_are_exact(values, dtype):
    array = values("f4", 5000)
    weights = values(dtype, 5000)
    np.save("a.npy", array)
    np.save("w.npy", weights)
    add = sum if weights.dtype.kind in "iu" else math.fsum
    expected, edges = np.histogram(array.astype("f8"), 7, (-50, 60), weights=weights.astype("f8"))
    for data, given in (("a.npy", "w.npy"), (array, weights), ("a.npy", weights)):
        found = ooc.histogram(data, 7, (-50, 60), weights=given)
        np.testing.assert_array_equal(found.edges, edges)
        np.testing.assert_allclose(found.sums, expected, rtol=1e-9, atol=1e-9)
        assert found.histogram == ooc.histogram(data, 7, (-50, 60))
        assert found.sum_below == add(weights[array < -50].tolist())
        assert found.sum_above == add(weights[array > 60].tolist())
        last = weights[(array >= edges[6]) & (array <= edges[7])].tolist()
        assert found.sums[6] == add(last)
        assert found.sums.dtype == (np.int64 if add is sum else np.float64)


def test_sums_unpack_as_those_of_numpy():
    sums, edges = ooc.histogram(np.array([1, 2, 2]), 2, weights=np.array([1e308, 1, -1e308]))
    assert sums.tolist() == [1e308, -1e308] and edges.tolist() == [1, 1.5, 2]
    cancelled, _ = ooc.histogram(np.ones(3), 1, weights=np.array([1e308, 1, -1e308]))
    assert cancelled.tolist() == [1]
    found = ooc.histogram(np.ones(3), 1, weights=np.full(3, 2**64 - 1, "u8"))
    assert found.sums.tolist() == [3 * (2**64 - 1)] and found.sums.dtype == object
    assert found.sum_nan == 0 and found.stats.run["passes"] == 2
    bools = ooc.histogram(np.array([0, 1], "u1"), 2, weights=np.array([True, False]))
    assert bools.sums.tolist() == [1, 0] and bools.edges.tolist() == [0, 0.5, 1]
    nothing = ooc.histogram(np.array([], "f4"), 3, weights=np.array([], "f8"))
    assert nothing.sums.tolist() == [0, 0, 0] and nothing.edges.tolist() == [0, 1 / 3, 2 / 3, 1]


def test_exact_fractions(values):
    array, weights = values("f4", 3000), values("f8", 3000)
    found = ooc.histogram(array, 1, weights=weights)
    assert found.sums[0] == float(sum(map(Fraction, weights.tolist())))


def test_weights_are_refused():
    array = np.ones(4)
    with pytest.raises(ooc.UsageError, match="and weights"):
        ooc.histogram(array, weights=np.ones(3))
    with pytest.raises(ooc.UsageError, match="values without weights"):
        ooc.histogram(array, "auto", weights=array)
    with pytest.raises(ooc.UsageError, match="65537 bins with weights"):
        ooc.histogram(array, 65537, weights=array)
    with pytest.raises(ooc.BadInput, match="holds structs"):
        ooc.histogram(array, weights=np.zeros(4, [("w", "f8")]))
