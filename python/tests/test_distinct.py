import numpy as np
import pytest
from conftest import TYPES

import ooc


def expected(array, most):
    """Returns the most frequent values by numpy.unique, of equal counts the smaller one first."""
    values, counts = np.unique(array, return_counts=True)
    order = np.lexsort((np.arange(len(values)), -counts))[:most]
    return len(values), values[order], counts[order]


def check(data, array, most):
    number, values, counts = ooc.distinct(data, most)
    wanted = expected(array, most)
    assert values.dtype == array.dtype.newbyteorder("=") and counts.dtype == np.intp
    assert number == wanted[0] == ooc.distinct(data)
    np.testing.assert_array_equal(values, wanted[1])
    assert counts.tolist() == wanted[2].tolist()
    assert ooc.distinct(data, estimate=True) == pytest.approx(number, rel=0.05, abs=8)


@pytest.mark.parametrize("dtype", TYPES)
def test_they_are_those_of_unique(values, dtype):
    array = values(dtype, 1001)
    array[500:] = array[:501]
    np.save("a.npy", array)
    for most in (1, 7, 1000, 5000):
        for data in ("a.npy", array):
            check(data, array, most)


def test_special_values():
    array = np.array([0.0, -0.0, np.inf, np.nan, -np.inf, -0.0, 0.0, 1, np.nan, -np.nan])
    for dtype in ("f2", "f4", "f8", ">f4"):
        for most in (2, 9):
            check(array.astype(dtype), array.astype(dtype), most)
    assert ooc.distinct(np.zeros(0)) == 0
    number, values, counts = ooc.distinct(np.zeros(0), 3)
    assert number == len(values) == len(counts) == 0
    assert ooc.distinct(np.array([-0.0]), 1)[1].tobytes() == np.zeros(1).tobytes()


def test_any_order_of_elements(values):
    array = values("i4", 30, 40)
    np.save("a.npy", np.asfortranarray(array))
    check("a.npy", array, 17)


def test_large_integers_are_exact():
    array = np.array([2**63 + 1, 2**64 - 1, 2**63 + 3, 2**64 - 1], "u8")
    number, values, counts = ooc.distinct(array, 2)
    assert (number, values.tolist(), counts.tolist()) == (3, [2**64 - 1, 2**63 + 1], [2, 1])


def test_values_that_do_not_fit():
    array = np.arange(1_000_000, dtype="u8")
    with pytest.raises(ooc.LimitError) as caught:
        ooc.distinct(array, memory="2M")
    assert "distinct values, too many for the memory" in str(caught.value)
    assert ooc.distinct(array, estimate=True, memory="2M") == pytest.approx(1_000_000, rel=0.05)


def test_wrong_arguments():
    for call, error, text in (
            (lambda a: ooc.distinct(a, 0), ooc.UsageError, "counts=0 is less than 1"),
            (lambda a: ooc.distinct(a, 2**20 + 1), ooc.UsageError, "is more than 1,048,576"),
            (lambda a: ooc.distinct(a, 1.5), TypeError, "counts=1.5 is no integer"),
            (lambda a: ooc.distinct(a, 1, estimate=True), ooc.UsageError, "keeps no values")):
        with pytest.raises(error) as caught:
            call(np.ones(3))
        assert text in str(caught.value)
