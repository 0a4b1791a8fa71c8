"""Loops over chunks, and data that stay on the device."""

import os
import pickle

import numpy as np
import pytest
from conftest import TYPES, numbers, rows_of

import ooc
import ooc._stream


@pytest.mark.parametrize("dtype", [*TYPES, "?", ">f4", "<i8"])
def test_chunks_have_all_rows_in_order(dtype):
    array = (np.arange(30_000) % 120).astype(dtype).reshape(10_000, 3)
    np.save("a.npy", array)
    stream = ooc.stream("a.npy", rows=999)
    assert len(stream) == 11
    firsts, parts = [], []
    for chunk in stream:
        assert chunk.dtype == array.dtype.newbyteorder("=")
        assert chunk.shape == (len(chunk), 3)
        assert chunk.nbytes == len(chunk) * 3 * array.itemsize
        firsts.append(chunk.first)
        parts.append(chunk.numpy())
    assert firsts == list(range(0, 10_000, 999))
    np.testing.assert_array_equal(np.concatenate(parts), array)
    assert stream.stats.nbytes == array.nbytes
    assert len(stream) == 11
    assert next(stream, None) is None


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), (7, 2, 3)])
def test_shapes(shape):
    array = np.zeros(shape, "f4")
    np.save("a.npy", array)
    for x in ("a.npy", array):
        parts = [chunk.numpy() for chunk in ooc.stream(x, rows=2)]
        assert sum(map(len, parts)) == shape[0]
        assert all(part.shape[1:] == shape[1:] for part in parts)


def test_the_size_of_chunks_is_chosen():
    array = numbers(3_000_000)
    stream = ooc.stream(array)
    np.testing.assert_array_equal(rows_of(stream), array)
    assert stream.stats.run["chunk_bytes"] > 0


def test_structs_are_as_in_the_file():
    array = np.zeros(1000, [("id", ">u4"), ("pair", "f8", 2), ("flag", "u1")])
    array["id"] = np.arange(1000)
    array["pair"] = np.arange(2000).reshape(1000, 2)
    np.save("a.npy", array)
    for chunk in ooc.stream("a.npy", rows=300):
        np.testing.assert_array_equal(chunk.numpy(), array[chunk.first:chunk.first + len(chunk)])
    with pytest.raises(BufferError, match="structs"):
        np.from_dlpack(chunk) if chunk.device == "cpu" else chunk.__dlpack__()


def test_shuffled_sharded_and_begun_later():
    array = numbers(10_000)
    whole = [chunk.first for chunk in ooc.stream(array, rows=100)]
    shuffled = [chunk.first for chunk in ooc.stream(array, rows=100, shuffle=7)]
    assert shuffled != whole and sorted(shuffled) == whole
    for options in {}, {"shuffle": 7}, {"shuffle": 7, "shard": (1, 3)}:
        order = [chunk.first for chunk in ooc.stream(array, rows=100, **options)]
        for start in 0, 1, len(order) - 1, len(order), len(order) + 5:
            later = ooc.stream(array, rows=100, start=start, **options)
            assert len(later) == max(len(order) - start, 0)
            assert [chunk.first for chunk in later] == order[start:]
    parts = [[chunk.first for chunk in ooc.stream(array, rows=100, shuffle=7, shard=(i, 3))]
             for i in range(3)]
    assert parts == [shuffled[i::3] for i in range(3)]


def test_slices_and_shards_of_arrays():
    array = numbers(30_000).reshape(10_000, 3)
    np.save("a.npy", array)
    a = ooc.open("a.npy")
    np.testing.assert_array_equal(rows_of(ooc.stream(a[17:5000], rows=100)), array[17:5000])
    array = numbers(1_000_000)
    halves = [rows_of(ooc.stream(ooc.shard(array, i, 2), rows=1000)) for i in range(2)]
    assert len(halves[0]) < len(array)
    np.testing.assert_array_equal(np.concatenate(halves), array)


def test_zipped_arrays_have_the_same_rows():
    points, labels = numbers(30_000).reshape(10_000, 3), np.arange(10_000, dtype="i8")
    np.save("points.npy", points)
    for x, y in ooc.stream(ooc.zip("points.npy", labels), rows=999):
        assert x.first == y.first
        np.testing.assert_array_equal(x.numpy()[:, 0], 3 * y.numpy())
    with pytest.raises(ooc.BadInput):
        list(ooc.stream(ooc.zip(points, labels[:-1])))
    with pytest.raises(ooc.UsageError, match="2 to 8"):
        ooc.zip(points)
    eight = [numbers(1000) + i for i in range(8)]
    chunks = next(ooc.stream(ooc.zip(*eight), rows=1000))
    assert [int(chunk.numpy()[0]) for chunk in chunks] == list(range(8))


def test_data_that_stay_are_read_only():
    array = numbers(100_000)
    np.save("a.npy", array)
    with ooc.resident("a.npy", nbytes=1 << 30) as kept:
        assert kept.nbytes == 0
        for _ in range(3):
            for chunk in ooc.stream(kept, rows=1000):
                np.testing.assert_array_equal(chunk.numpy(),
                                              array[chunk.first:chunk.first + 1000])
                if chunk.device == "cpu":
                    view = np.from_dlpack(chunk)
                    assert not view.flags.writeable
                    with pytest.raises(BufferError, match="read only"):
                        chunk.__dlpack__(copy=False)
                    np.from_dlpack(chunk, copy=True)[:] = 0
            assert kept.nbytes == array.nbytes
        last = chunk
    np.testing.assert_array_equal(last.numpy(), array[-1000:])
    with pytest.raises(ooc.UsageError, match="closed"):
        ooc.stream(kept)


def test_data_of_which_some_stay():
    points, labels = numbers(30_000).reshape(10_000, 3), np.arange(10_000, dtype="i8")
    with ooc.resident(ooc.zip(points, labels), nbytes=100_000) as kept:
        for _ in range(3):
            chunks = list(ooc.stream(kept, rows=500))
            np.testing.assert_array_equal(np.concatenate([x.numpy() for x, _ in chunks]), points)
            np.testing.assert_array_equal(np.concatenate([y.numpy() for _, y in chunks]), labels)
        assert 0 < kept.nbytes <= 100_000


def test_a_loop_that_waits_for_the_device_has_the_same_rows():
    array = numbers(100_000)
    np.testing.assert_array_equal(rows_of(ooc.stream(array, rows=999, sync=True)), array)
    for x, y in ooc.stream(ooc.zip(array, array + 1), rows=999, sync=np.True_):
        np.testing.assert_array_equal(x.numpy() + 1, y.numpy())
    with ooc.resident(array, nbytes=1 << 20) as kept:
        for _ in range(2):
            np.testing.assert_array_equal(rows_of(ooc.stream(kept, sync=True)), array)


def test_what_is_refused():
    np.save("f.npy", np.asfortranarray(np.ones((4, 3))))
    with pytest.raises(ooc.UsageError, match="Fortran"):
        ooc.stream("f.npy")
    array = numbers(1000)
    for wrong in ({"rows": 0}, {"rows": -1}, {"shard": (3, 3)}, {"start": -1}, {"shuffle": -1},
                  {"ahead": -1}):
        with pytest.raises(ooc.UsageError):
            ooc.stream(array, **wrong)
    for wrong in ({"rows": 1.5}, {"ahead": "2"}, {"shuffle": "x"}, {"shard": 3}):
        with pytest.raises((TypeError, ooc.UsageError)):
            ooc.stream(array, **wrong)
    with pytest.raises(TypeError):
        pickle.dumps(next(ooc.stream(array)))


def test_examples(examples):
    if os.environ.get("OOC_TEST_DEVICE", "cpu") == "cpu":
        examples(ooc._stream)


def test_shards_of_rows_are_elements():
    """A shard may begin and end within a row."""
    for columns in 6, 8:
        array = numbers(300_000 * columns).reshape(-1, columns)
        np.save("a.npy", array)
        parts = []
        for i in range(3):
            stream = ooc.stream(ooc.shard("a.npy", i, 3), rows=1000)
            for chunk in stream:
                assert chunk.shape == (len(chunk),) and chunk.nbytes == 4 * len(chunk)
                assert chunk.first == sum(map(len, parts))
                parts.append(chunk.numpy())
        np.testing.assert_array_equal(np.concatenate(parts), array.ravel())


def test_a_loop_over_what_stays_may_be_left():
    array = numbers(1_000_000)
    with ooc.resident(array, nbytes=1 << 20) as kept:
        for _ in range(3):
            for chunk in ooc.stream(kept, rows=2000):
                if chunk.first > 20_000:
                    break
        stream = ooc.stream(kept, rows=2000)
        next(stream)
        with pytest.raises(ooc.UsageError, match="another loop over the same"):
            next(ooc.stream(kept, rows=2000))


def test_what_stays_does_not_change_under_a_view():
    array = np.arange(100_000, dtype=">u4")
    np.save("a.npy", array)
    with ooc.resident("a.npy", nbytes=1 << 20) as kept:
        held = []
        for step in range(4):  # each loop is left before the memory is known to be filled
            chunk = next(ooc.stream(kept, rows=1000))
            held.append(chunk)
        for each in held:
            np.testing.assert_array_equal(each.numpy(), array[:1000])
        rows = rows_of(ooc.stream(kept, rows=1000))
        np.testing.assert_array_equal(rows, array)


def test_options_of_what_stays_are_given_once():
    with ooc.resident(numbers(1000), nbytes=1 << 20) as kept:
        for wrong in {"threads": 1}, {"memory": "1G"}, {"ahead": 3}, {"device": "cpu"}:
            with pytest.raises(ooc.UsageError, match="given to ooc.resident"):
                ooc.stream(kept, **wrong)
        assert len(list(ooc.stream(kept, progress=None))) >= 1
