import numpy as np
import pytest
from conftest import TYPES

import ooc


def expected(array, k, smallest=False):
    """Returns the best elements by a stable sort; -0 before +0."""
    flat = array.ravel()
    kept = np.flatnonzero(flat == flat)
    keys = flat[kept].astype("f8") if flat.dtype.kind == "f" else flat[kept]
    signs = ~np.signbit(keys) if flat.dtype.kind == "f" else np.zeros(len(keys), bool)
    if smallest:
        order = np.lexsort((signs, keys))
    else:  # the first of equal elements comes last in the reverse of a stable sort of the reverse
        order = len(kept) - 1 - np.lexsort((signs[::-1], keys[::-1]))[::-1]
    indices = kept[order[:k]]
    return flat[indices], indices


def check(data, array, k, smallest=False):
    values, indices = ooc.top(data, k, smallest=smallest)
    wanted, places = expected(array, k, smallest)
    assert values.dtype == array.dtype.newbyteorder("=") and indices.dtype == np.intp
    assert indices.tolist() == places.tolist()
    assert values.tobytes() == wanted.astype(values.dtype).tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_they_are_those_of_a_stable_sort(values, dtype):
    array = values(dtype, 1001)
    np.save("a.npy", array)
    for k in (1, 7, 1000, 5000):
        for smallest in (False, True):
            for data in ("a.npy", array):
                check(data, array, k, smallest)


def test_special_values():
    array = np.array([0.0, -0.0, np.inf, np.nan, -np.inf, -0.0, 0.0, 1])
    for dtype in ("f2", "f4", "f8", ">f4"):
        for smallest in (False, True):
            check(array.astype(dtype), array.astype(dtype), 9, smallest)
    values, indices = ooc.top(np.zeros(0), 3)
    assert len(values) == len(indices) == 0
    assert len(ooc.top(np.full(3, np.nan), 3)[0]) == 0


def test_indices_are_those_of_all_elements(values):
    array = values("i4", 30, 40)
    check(array, array, 17)
    np.save("a.npy", array)
    check("a.npy", array, 17)
    check(ooc.open("a.npy")[10:], array[10:], 17)


def test_large_integers_are_exact():
    array = np.array([2**63 + 1, 2**64 - 1, 2**63 + 3], "u8")
    values, indices = ooc.top(array, 2)
    assert values.tolist() == [2**64 - 1, 2**63 + 3] and indices.tolist() == [1, 2]


def test_wrong_arguments():
    np.save("a.npy", np.asfortranarray(np.ones((3, 4))))
    for call, error, text in (
            (lambda a: ooc.top(a, 0), ooc.UsageError, "k=0 is less than 1"),
            (lambda a: ooc.top(a, 2**24 + 1), ooc.UsageError, "is more than 16,777,216"),
            (lambda a: ooc.top(a, 1.5), TypeError, "k=1.5 is no integer"),
            (lambda a: ooc.top("a.npy", 1), ooc.UsageError, "Fortran order")):
        with pytest.raises(error) as caught:
            call(np.ones(3))
        assert text in str(caught.value)
