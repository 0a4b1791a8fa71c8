"""Files that a loop writes."""

import gc
import os
import pathlib
import threading

import numpy as np
import pytest

import ooc
import ooc._writer


@pytest.mark.parametrize("name, dtype", [("a.npy", "f4"), ("a.npy", ">i2"), ("a.f32", "f4"),
                                         ("a.bin", "u1"), ("a.npy", "?")])
def test_arrays_are_written_one_after_another(name, dtype):
    array = (np.arange(100_000) % 100).astype(dtype)
    with ooc.writer(name, dtype) as out:
        for first in range(0, len(array), 999):
            out.write(array[first:first + 999])
        assert out.rows == len(array)
        assert not pathlib.Path(name).exists()
    if name.endswith(".npy"):
        written = np.load(name)
        assert written.dtype == array.dtype
    else:
        written = np.fromfile(name, dtype)
    np.testing.assert_array_equal(written, array)


def test_the_first_array_decides_on_type_and_shape():
    rows = np.arange(600, dtype="i4").reshape(100, 2, 3)
    with ooc.writer("a.npy") as out:
        out.write(rows[:50])
        out.write(rows[50:, ::-1])  # not contiguous
        changed = rows[:1].copy()
        out.write(changed)
        changed[:] = 0
        out.write(np.empty((0, 2, 3), "i4"))
        for wrong, message in [(rows.astype("f4"), "has i4, not f4"),
                               (rows[:, :1], "rows of"), (np.int32(3), "has no rows")]:
            with pytest.raises(ooc.UsageError, match=message):
                out.write(wrong)
    np.testing.assert_array_equal(np.load("a.npy"),
                                  np.concatenate([rows[:50], rows[50:, ::-1], rows[:1]]))
    assert ooc.open("a.npy").shape == (101, 2, 3)


def test_a_filter_is_a_loop():
    array = np.arange(100_000, dtype="f4").reshape(-1, 4)
    with ooc.writer("some.npy") as out:
        for chunk in ooc.stream(array, rows=1000):
            rows = chunk.numpy()
            out.write(rows[rows[:, 0] % 3 == 0])
    np.testing.assert_array_equal(np.load("some.npy"), array[array[:, 0] % 3 == 0])


def test_an_exception_leaves_no_file():
    with pytest.raises(ZeroDivisionError):
        with ooc.writer("a.npy", "f4") as out:
            out.write(np.ones(10, "f4"))
            raise ZeroDivisionError
    assert os.listdir() == []
    with pytest.raises(ooc.UsageError, match="was given up"):
        out.commit()


def test_shapes_that_are_known():
    with ooc.writer("a.npy", "f4", (None, 3)) as out:
        out.write(np.ones((5, 3), "f4"))
    assert np.load("a.npy").shape == (5, 3)
    with pytest.raises(ooc.UsageError, match="is to have 4 rows, not 2"):
        with ooc.writer("b.npy", "f4", (4,)) as out:
            out.write(np.ones(2, "f4"))
    with pytest.raises(ooc.UsageError, match="has rows of"):
        with ooc.writer("b.npy", "f4", (4, 2)) as out:
            out.write(np.ones((4, 3), "f4"))
    with ooc.writer("empty.npy", "f4", (None, 3)) as out:
        pass
    assert np.load("empty.npy").shape == (0, 3)
    with pytest.raises(ooc.UsageError, match="nothing was written"):
        with ooc.writer("b.npy"):
            pass
    assert sorted(os.listdir()) == ["a.npy", "empty.npy"]


def test_a_file_that_exists_is_kept():
    np.save("a.npy", np.zeros(3))
    with pytest.raises(ooc.OutputError):
        with ooc.writer("a.npy") as out:
            out.write(np.ones(4))
    assert np.load("a.npy").tolist() == [0, 0, 0]
    with ooc.writer("a.npy", overwrite=True) as out:
        out.write(np.ones(4))
    assert np.load("a.npy").tolist() == [1, 1, 1, 1]


def test_commit_returns_the_array():
    out = ooc.writer("a.f64")
    out.write(np.arange(5.0))
    array = out.commit()
    assert ooc.sum(array) == 10
    assert out.rows == 5
    with pytest.raises(ooc.UsageError, match="is complete"):
        out.write(np.arange(5.0))


def test_types_that_files_do_not_hold():
    for wrong in (np.ones(3, "c8"), np.array(["a"]), np.array([None])):
        with pytest.raises((ooc.Error, TypeError)):
            with ooc.writer("a.npy") as out:
                out.write(wrong)
    assert os.listdir() == []


def test_examples(examples):
    if os.environ.get("OOC_TEST_DEVICE", "cpu") == "cpu":
        examples(ooc._writer)


def test_structs_are_written_as_they_are():
    array = np.array([(1, 2.5), (3, 4.5)], [("n", ">i4"), ("x", "<f8")])
    with ooc.writer("a.npy") as out:
        out.write(array)
    np.testing.assert_array_equal(np.load("a.npy"), array)
    with ooc.writer("b.npy") as out:
        for chunk in ooc.stream("a.npy"):
            out.write(chunk.numpy())
    np.testing.assert_array_equal(np.load("b.npy"), array)


def test_a_file_that_could_not_be_written_is_given_up():
    """A full disk is an error of the loop even if it catches that."""
    with ooc.writer("a.npy") as out:
        out.write(np.zeros(1000))
        out._put = lambda write: writer_put(out, fail)
        with pytest.raises(OSError):
            out.write(np.zeros(1000))
        with pytest.raises(ooc.UsageError, match="was given up"):
            out.write(np.zeros(1000))
    assert os.listdir() == []


def fail(_):
    raise OSError("full")


writer_put = ooc._writer.Writer._put


def test_masks_are_not_ignored():
    with pytest.raises(ooc.UsageError, match="mask"):
        ooc.writer("a.npy").write(np.ma.masked_array([1.0, 2.0], mask=[0, 1]))


def test_several_threads_may_write():
    with ooc.writer("a.npy", "i8") as out:
        threads = [threading.Thread(target=lambda i=i: [out.write(np.full(1000, i))
                                                        for _ in range(50)]) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = np.load("a.npy").reshape(-1, 1000)
    assert (written == written[:, :1]).all()
    assert np.bincount(written[:, 0]).tolist() == [50] * 4


@pytest.mark.parametrize("dtype", ["float32", "f", "f4", "f32", np.float32])
def test_names_of_types(dtype):
    with ooc.writer("a.npy", dtype) as out:
        out.write(np.ones(3, "f4"))
    assert np.load("a.npy").dtype == "f4"


def test_what_is_there_is_not_replaced():
    np.save("a.npy", np.ones(3))
    for call in (lambda: ooc.convert(np.ones(3), "a.npy"),
                 lambda: ooc.writer("a.npy").write(np.ones(3))):
        with pytest.raises(FileExistsError) as caught:
            call()
        assert isinstance(caught.value, ooc.OutputError)
        assert "overwrite=True" in caught.value.hint


def test_formats_that_are_not_written_are_refused():
    for name in "a.h5", "a.csv", "a.npz":
        for call in (lambda: ooc.convert(np.ones(3), name),
                     lambda: ooc.writer(name).write(np.ones(3))):
            with pytest.raises(ooc.UsageError, match="only raw values and .npy files") as caught:
                call()
            assert caught.value.hint.startswith("a.npy")


def test_a_file_that_is_forgotten_is_a_warning():
    out = ooc.writer("a.npy")
    out.write(np.ones(3))
    with pytest.warns(ResourceWarning, match="a.npy: was given up"):
        del out
        gc.collect()
    assert not os.path.exists("a.npy")


def test_wrong_arguments_are_named():
    for wrong in ({"overwrite": "no"}, {"shape": (None, 4.5)}, {"shape": 3}, {"shape": (None, -4)},
                  {"dtype": "xyz"}, {"dtype": object}):
        with pytest.raises((TypeError, ooc.UsageError)) as caught:
            ooc.writer("a.npy", **wrong)
        assert "incompatible" not in str(caught.value)
    with pytest.raises(ooc.UsageError, match="null character"):
        ooc.writer("a\0b")
