import doctest
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ooc

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")


@pytest.fixture(autouse=True)
def on_a_device(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Each test has a directory of its own, and runs on the CPU unless OOC_TEST_DEVICE names
    another device."""
    monkeypatch.chdir(tmp_path)
    with ooc.options(device=os.environ.get("OOC_TEST_DEVICE", "cpu")):
        yield


@pytest.fixture
def values() -> Callable[..., NDArray[Any]]:
    """Returns a function that makes random values of a type."""

    def make(dtype: str, *shape: int) -> NDArray[Any]:
        random = np.random.default_rng(7)
        if np.dtype(dtype).kind == "f":
            return random.normal(0, 100, shape).astype(dtype)
        limits = np.iinfo(dtype)
        return random.integers(max(limits.min, -1000), min(limits.max, 1000), shape, dtype,
                               endpoint=True)

    return make


@pytest.fixture
def examples() -> Callable[[Any], None]:
    """Returns a function that runs the examples in the docstrings of a module."""

    def run(module: Any) -> None:
        failed, tried = doctest.testmod(module, extraglobs={"ooc": ooc, "numpy": np})
        assert tried > 0
        assert failed == 0

    return run


on_cpu = pytest.mark.skipif(os.environ.get("OOC_TEST_DEVICE", "cpu") != "cpu",
                            reason="views of NumPy are of the CPU's memory")


def rows_of(stream: Any) -> NDArray[Any]:
    """Returns all rows of a stream."""
    return np.concatenate([chunk.numpy() for chunk in stream])


def numbers(count: int) -> NDArray[Any]:
    return np.arange(count, dtype="u4")
