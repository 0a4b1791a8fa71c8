import numpy as np
import pytest
from conftest import TYPES

import ooc


def of_numpy(x, y, bins=10, range=None):
    return np.histogram2d(x.astype("f8").ravel(), y.astype("f8").ravel(), bins, range)


def same(found, expected):
    for mine, other in zip(found, expected):
        np.testing.assert_array_equal(mine, other)
    assert found.counts.sum() + found.outside + found.nan == found.count


@pytest.mark.parametrize("dtype", TYPES)
def test_counts_and_edges_are_those_of_numpy(values, dtype):
    x, y = values(dtype, 5000), values("f4", 5000)
    np.save("x.npy", x)
    for first in ("x.npy", x):
        same(ooc.histogram2d(first, y, (7, 30)), of_numpy(x, y, (7, 30)))
    same(ooc.histogram2d(y, x, 5, ((-5, 20), None)),
         of_numpy(y, x, 5, ((-5, 20), (float(x.min()), float(x.max())))))


def test_bins_are_those_of_numpy(values):
    x, y = values("f4", 3000), values("i2", 3000)
    edges = [-300, -10, -10, 0, 5, 250]
    for bins in (3, (3, 4), edges, np.array(edges), (edges, 4), [4, edges], (edges, [0, 1, 9])):
        same(ooc.histogram2d(x, y, bins), of_numpy(x, y, bins))
    for wrong in ("auto", (3, "fd")):
        with pytest.raises(ooc.UsageError, match="for one axis"):
            ooc.histogram2d(x, y, wrong)


def test_pairs_of_one_array(values):
    rows = values("f4", 4000).reshape(1000, 4)
    np.save("rows.npy", rows)
    same(ooc.histogram2d("rows.npy", columns=(3, 1)), of_numpy(rows[:, 3], rows[:, 1]))
    same(ooc.histogram2d(rows, bins=4), of_numpy(rows[:, 0], rows[:, 1], 4))
    structs = np.zeros(1000, [("size", ">i2"), ("name", "u1", 3), ("price", "f8")])
    structs["size"], structs["price"] = rows[:, 0], rows[:, 1]
    same(ooc.histogram2d(structs, columns=("price", "size")),
         of_numpy(structs["price"], structs["size"]))
    np.save("structs.npy", structs)
    lazy = ooc.open("structs.npy")
    same(ooc.histogram2d(lazy["price"], lazy["size"]),
         of_numpy(structs["price"], structs["size"]))


def test_what_is_in_no_cell_is_counted():
    found = ooc.histogram2d(np.array([np.nan, 1, np.inf, 5]), np.array([1, np.nan, 1, 2]), 2,
                            ((0, 2), (0, 2)))
    assert (found.nan, found.outside, found.count) == (2, 2, 4)
    assert found.counts.shape == (2, 2) and found.counts.sum() == 0


def test_nothing_has_the_bins_of_numpy():
    same(ooc.histogram2d(np.empty(0), np.empty(0), 3), of_numpy(np.empty(0), np.empty(0), 3))


def test_results_compare():
    x = np.arange(100.0)
    assert ooc.histogram2d(x, x) == ooc.histogram2d(x, x, 10)
    assert ooc.histogram2d(x, x) != ooc.histogram2d(x, x[::-1])


def test_what_is_refused(values):
    x = values("f4", 100)
    with pytest.raises(ooc.UsageError, match="has the shape"):
        ooc.histogram2d(x, x[:50])
    with pytest.raises(ooc.UsageError, match="one value for each axis"):
        ooc.histogram2d(x, x, range=(1, 2, 3))
    with pytest.raises(ooc.UsageError, match="no name of a field"):
        ooc.histogram2d(x.reshape(50, 2), columns=(0, 1.5))
    with pytest.raises(ooc.UsageError, match="has no column 2"):
        ooc.histogram2d(x.reshape(50, 2), columns=(0, 2))
    with pytest.raises(ooc.UsageError, match="cells"):
        ooc.histogram2d(x, x, 100_000)
