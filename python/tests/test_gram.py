import numpy as np
import pytest
from conftest import TYPES

import ooc


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5000, 3), (2, 7), (1500, 4, 5), (300,)])
def test_they_are_those_of_numpy(dtype, shape):
    array = np.random.default_rng(1).integers(0, 100, shape).astype(dtype)
    np.save("a.npy", array)
    rows = array.reshape(shape[0], -1).astype("f8")
    for data in ("a.npy", array):
        assert (ooc.gram(data) == rows.T @ rows).all()
        found = ooc.cov(data)
        assert found.shape == (rows.shape[1], rows.shape[1]) and found.flags.writeable
        np.testing.assert_allclose(found, np.cov(rows, rowvar=False).reshape(found.shape),
                                   rtol=1e-12, atol=1e-9)


def test_a_large_mean_and_nan():
    noise = np.random.default_rng(2).normal(size=(1000, 2))
    np.testing.assert_allclose(ooc.cov(noise + 1e8), np.cov(noise + 1e8, rowvar=False), rtol=1e-9)
    noise[5, 0] = np.nan
    assert np.isnan(ooc.cov(noise)).tolist() == [[True, True], [True, False]]


def test_refusals():
    with pytest.raises(ooc.BadInput, match="one row"):
        ooc.cov(np.ones((1, 3)))
    with pytest.raises(ooc.BadInput, match="40000 columns"):
        ooc.gram(np.ones((2, 40_000), "u1"))
    assert (ooc.gram(np.ones((0, 3))) == np.zeros((3, 3))).all()
