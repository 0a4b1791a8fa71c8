import numpy as np
import pytest
from conftest import TYPES

import ooc


def check(found, expected):
    array = np.asarray(found)
    assert isinstance(found, ooc.Array)
    assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
    if array.dtype.kind == "f":
        np.testing.assert_allclose(array, expected, rtol=1e-12)
    else:
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_they_are_those_of_numpy(values, dtype):
    array = values(dtype, 2001)
    np.save("a.npy", array)
    sums = "f8" if array.dtype.kind == "f" else "u8" if dtype == "u8" else "i8"
    for data in ("a.npy", array):
        total = np.cumsum(array, dtype=sums)
        check(ooc.running(data, "o.npy", overwrite=True), total)
        before = np.concatenate([np.zeros(1, sums), total[:-1]])
        check(ooc.running(data, "o.npy", exclusive=True, overwrite=True), before)
        check(ooc.running(data, "o.npy", "min", overwrite=True), np.minimum.accumulate(array))
        check(ooc.running(data, "o.npy", "max", overwrite=True), np.maximum.accumulate(array))


def test_of_all_elements_by_rows_and_of_fields():
    array = np.arange(12).reshape(3, 4)
    check(ooc.running(array, "o.npy"), np.cumsum(array))
    structs = np.zeros(9, [("a", "f4"), ("n", ">i2")])
    structs["n"] = np.arange(9)
    np.save("s.npy", structs)
    check(ooc.running("s.npy::n", "n.npy"), np.cumsum(structs["n"], dtype="i8"))


def test_refusals():
    array = np.arange(10.0)
    with pytest.raises(ooc.UsageError, match="none of sum, min and max"):
        ooc.running(array, "o.npy", "mean")
    with pytest.raises(ooc.UsageError, match="has no first value"):
        ooc.running(array, "o.npy", "min", exclusive=True)
    with pytest.raises(ooc.BadInput, match="holds structs"):
        ooc.running(np.zeros(5, [("a", "f4")]), "o.npy")
    ooc.running(array, "o.npy")
    with pytest.raises(ooc.OutputExists):
        ooc.running(array, "o.npy")
