import warnings

import numpy as np
import pytest
from conftest import TYPES

import ooc

VALUES = ("sum", "mean", "min", "max", "argmin", "argmax", "var", "std")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(500, 3), (40, 130), (3, 70_000), (7, 1)])
def test_they_are_those_of_numpy(values, dtype, shape):
    array = values(dtype, int(np.prod(shape))).reshape(shape)
    np.save("a.npy", array)
    wide = array.astype("f8") if array.dtype.kind == "f" else array
    for value in VALUES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of infinities
            expected = getattr(np, value)(wide, axis=1)
        if value in ("min", "max"):
            expected = expected.astype(array.dtype)
        for data in ("a.npy", array):
            found = ooc.reduce_rows(data, "o.npy", value, overwrite=True)
            assert isinstance(found, ooc.Array) and found.shape == shape[:1]
            rows = np.asarray(found)
            assert rows.dtype.itemsize == expected.dtype.itemsize
            np.testing.assert_allclose(rows, expected, rtol=1e-9, atol=1e-12)


def test_rows_have_the_bits_of_reduce():
    array = np.random.default_rng(3).normal(size=(9, 1001)).astype("f4")
    means = np.asarray(ooc.reduce_rows(array, "m.npy", "mean"))
    assert means.tolist() == [ooc.mean(row) for row in array]


def test_rows_of_several_dimensions_are_flat():
    array = np.arange(24.0).reshape(4, 3, 2)
    found = np.asarray(ooc.reduce_rows(array, "o.npy", "max"))
    assert found.tolist() == array.max(axis=(1, 2)).tolist()


def test_nan():
    array = np.ones((3, 4))
    array[1, 2], array[2] = np.nan, np.nan
    assert np.isnan(np.asarray(ooc.reduce_rows(array, "a.npy"))).tolist() == [False, True, True]
    omitted = np.asarray(ooc.reduce_rows(array, "b.npy", nan="omit"))
    assert omitted.tolist() == [4, 3, 0]
    places = np.asarray(ooc.reduce_rows(array, "c.npy", "argmin", nan="omit"))
    assert places.tolist() == [0, 0, -1]


def test_refusals():
    array = np.ones((3, 4))
    with pytest.raises(ooc.UsageError, match="none of sum, mean"):
        ooc.reduce_rows(array, "o.npy", "median")
    with pytest.raises(ooc.UsageError, match="neither"):
        ooc.reduce_rows(array, "o.npy", nan="skip")
    with pytest.raises(ooc.BadInput):
        ooc.reduce_rows(np.ones((3, 0)), "o.npy")
    ooc.reduce_rows(array, "o.npy")
    with pytest.raises(ooc.OutputExists):
        ooc.reduce_rows(array, "o.npy")
    with pytest.raises(ooc.UsageError, match="axis=1") as refused:
        ooc.mean(array, axis=1)
    assert "reduce_rows" in refused.value.hint
