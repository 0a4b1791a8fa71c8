import math

import numpy as np
import pytest
from conftest import TYPES

import ooc

SOME = [0.5, 0, 1, 1 / 3, 0.99, 0.5]


@pytest.mark.parametrize("dtype", TYPES)
def test_they_are_those_of_numpy(values, dtype):
    array = values(dtype, 1001)
    np.save("a.npy", array)
    for method in ("linear", "midpoint", "hazen", "nearest", "inverted_cdf"):
        expected = np.quantile(array.astype("f8"), SOME, method=method)
        for data in ("a.npy", array):
            assert ooc.quantile(data, SOME, method=method).tolist() == expected.tolist()
            assert ooc.quantile(data, 0.5, method=method) == expected[0]


def test_elements_of_integers_are_exact():
    array = np.array([2**63 + 1, 2**63 + 3, 2**63 + 5], "u8")
    assert ooc.quantile(array, 0.5, method="lower") == 2**63 + 3
    assert ooc.quantile(array, np.array([0, 1]), method="lower").tolist() == [2**63 + 1,
                                                                               2**63 + 5]


def test_nan_and_nothing():
    array = np.array([1, np.nan, 3])
    assert math.isnan(ooc.quantile(array, 0.5))
    assert ooc.quantile(array, 0.5, nan="omit") == 2
    assert np.isnan(ooc.quantile(np.zeros(0), [0.5, 1])).all()


def test_wrong_arguments():
    for call, error, text in (
            (lambda a: ooc.quantile(a, 1.5), ooc.UsageError, "between 0 and 1"),
            (lambda a: ooc.quantile(a, "x"), TypeError, "q='x' is no number"),
            (lambda a: ooc.quantile(a, [0, "x"]), TypeError, "q[1]='x' is no number"),
            (lambda a: ooc.quantile(a, 1, method="low"), ooc.UsageError, "is no method"),
            (lambda a: ooc.quantile(a, 1, method=3), TypeError, "method=3 is no name"),
            (lambda a: ooc.quantile(a, 1, nan="skip"), ooc.UsageError, "nan='skip'")):
        with pytest.raises(error) as caught:
            call(np.ones(3))
        assert text in str(caught.value)
