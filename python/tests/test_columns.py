import warnings

import numpy as np
import pytest
from conftest import TYPES

import ooc


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, equal_nan=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5000, 3), (1, 7), (1500, 4, 5), (300,)])
def test_they_are_those_of_numpy(values, dtype, shape):
    array = values(dtype, int(np.prod(shape))).reshape(shape)
    np.save("a.npy", array)
    wide = array.astype("f8")
    for data in ("a.npy", array):
        found = ooc.reduce(data, axis=0)
        assert found.count == shape[0] and found.mean.shape == shape[1:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of infinities
            close(found.mean, wide.mean(axis=0))
            close(found.variance, wide.var(axis=0))
        for name in ("min", "max", "argmin", "argmax"):
            wanted = getattr(array, name)(axis=0)
            assert np.array_equal(getattr(found, name), wanted, equal_nan=array.dtype.kind == "f")
        if array.dtype.kind in "iu":
            assert (found.sum == array.sum(axis=0)).all()


def test_one_of_them():
    array = np.arange(24, dtype="f4").reshape(6, 4) ** 2
    for name in ("sum", "mean", "min", "max", "argmin", "argmax", "var", "std"):
        close(getattr(ooc, name)(array, axis=0), getattr(np, name)(array.astype("f8"), axis=0))
    close(ooc.var(array, axis=0, ddof=1), array.astype("f8").var(axis=0, ddof=1))
    assert np.isnan(ooc.var(array[:1], axis=0, ddof=1)).all()
    assert ooc.mean(np.zeros((2, 3))) == 0


def test_nan():
    array = np.ones((4, 3))
    array[2, 1] = np.nan
    array[:, 2] = np.nan
    found = ooc.reduce(array, axis=0)
    assert found.nan.tolist() == [0, 1, 4] and found.argmin.tolist() == [0, 2, 0]
    assert found.mean[0] == 1 and np.isnan(found.mean[1:]).all()
    found = ooc.reduce(array, axis=0, nan="omit")
    assert found.mean[:2].tolist() == [1, 1] and found.sum[2] == 0
    assert found.argmin.tolist() == [0, 0, -1] and np.isnan(found.min[2])
    close(ooc.std(array, axis=0, nan="omit", ddof=1)[:2], [0, 0])


def test_sums_beyond_64_bits():
    found = ooc.sum(np.full((3, 2), 2**63, "u8"), axis=0)
    assert found.tolist() == [3 * 2**63] * 2


def test_no_rows():
    empty = np.zeros((0, 3), "i4")
    assert ooc.sum(empty, axis=0).tolist() == [0, 0, 0]
    assert np.isnan(ooc.mean(empty, axis=0)).all()
    with pytest.raises(ValueError, match="no smallest"):
        ooc.min(empty, axis=0)


def test_refusals():
    array = np.zeros((4, 3))
    for axis in (1, -1, True, (0, 1), "0"):
        with pytest.raises(ooc.UsageError, match="axis="):
            ooc.reduce(array, axis=axis)
    with pytest.raises(ooc.UsageError, match="rounded once"):
        ooc.mean(array, axis=0, exact=True)
    np.save("f.npy", np.asfortranarray(array))
    with pytest.raises(ooc.BadInput):
        ooc.mean("f.npy", axis=0)
    with pytest.raises(ooc.BadInput):
        ooc.mean(np.zeros((4, 0)), axis=0)
