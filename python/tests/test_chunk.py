"""Chunks, and the views that other libraries have of them."""

import gc
import threading

import numpy as np
import pytest
from conftest import numbers, on_cpu

import ooc


@on_cpu
def test_numpy_takes_chunks_without_a_copy():
    array = numbers(10_000)
    for chunk in ooc.stream(array, rows=1000):
        views = [np.from_dlpack(chunk), np.asarray(chunk), chunk.numpy(),
                 np.from_dlpack(chunk, device="cpu", copy=False)]
        assert {view.__array_interface__["data"][0] for view in views} == {
            views[0].__array_interface__["data"][0]}
        views[0] += 1  # the rows are the loop's own
        assert views[1][0] == chunk.first + 1
        copy = np.from_dlpack(chunk, copy=True)
        assert copy.__array_interface__["data"][0] != views[0].__array_interface__["data"][0]
        np.testing.assert_array_equal(copy, views[0])
    np.testing.assert_array_equal(array, numbers(10_000))
    assert chunk.__dlpack_device__() == (1, 0)
    assert not hasattr(chunk, "__cuda_array_interface__")


@on_cpu
def test_what_dlpack_asks_for():
    chunk = next(ooc.stream(numbers(1000)))
    assert "dltensor_versioned" in repr(chunk.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(chunk.__dlpack__())
    assert "dltensor_versioned" not in repr(chunk.__dlpack__(max_version=(0, 8)))
    for stream in 0, 1, 2, 12345:
        with pytest.raises(BufferError, match="no streams"):
            chunk.__dlpack__(stream=stream)
    chunk.__dlpack__(stream=-1)
    with pytest.raises(BufferError, match="are on cpu"):
        chunk.__dlpack__(dl_device=(2, 0))


@on_cpu
def test_views_that_are_kept_stay_as_they_are():
    array = numbers(100_000)
    for ahead in 0, 1, 5:
        stream = ooc.stream(array, rows=1000, ahead=ahead)
        kept = [np.from_dlpack(chunk) for chunk in stream]
        np.testing.assert_array_equal(np.concatenate(kept), array)
        assert stream.stats is not None
        some = kept[::7]
        del kept, stream
        gc.collect()
        for i, view in enumerate(some):
            np.testing.assert_array_equal(view, array[7000 * i:7000 * i + 1000])


def test_chunks_that_are_kept_stay_as_they_are():
    array = numbers(100_000)
    chunks = list(ooc.stream(array, rows=1000))
    assert len(chunks) == 100
    np.testing.assert_array_equal(np.concatenate([each.numpy() for each in chunks]), array)


@on_cpu
def test_views_outlive_a_stream_that_is_left():
    array = numbers(1_000_000)
    for end in (lambda stream: stream.close(), lambda stream: None):
        stream = ooc.stream(array, rows=1000)
        views = [np.from_dlpack(next(stream)) for _ in range(10)]
        end(stream)
        del stream
        ooc.sum(array)  # which may use memory that is free
        np.testing.assert_array_equal(np.concatenate(views), array[:10_000])


@on_cpu
def test_views_die_on_any_thread():
    array = numbers(100_000)
    views = [np.from_dlpack(chunk) for chunk in ooc.stream(array, rows=1000)]
    threads = [threading.Thread(target=lambda: views.pop().sum()) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not views


def test_without_memory_for_another_a_loop_may_go_on():
    array = numbers(8 << 20)
    stream = ooc.stream(array, rows=1 << 18, memory="16M", vram="16M")
    kept, seen = [], []
    while True:
        try:
            chunk = next(stream, None)
        except BufferError as error:
            assert f"{len(kept)} chunks are still in use" in str(error)
            kept.clear()
            chunk = next(stream)
        if chunk is None:
            break
        kept.append(chunk)
        seen.append(chunk.numpy().copy())
    assert len(seen) == 32
    np.testing.assert_array_equal(np.concatenate(seen), array)


def test_bools_in_memory_are_masks():
    mask = np.array([True, False, True])
    [chunk] = ooc.stream(mask)
    assert chunk.dtype == bool
    assert np.arange(2, 5)[chunk.numpy()].tolist() == [2, 4]
    assert ooc.sum(mask) == 2 and ooc.open(mask).dtype == bool
    pairs = np.zeros(3, [("flag", "?"), ("x", "f4")])
    np.save("a.npy", pairs)
    assert ooc.open("a.npy").dtype == pairs.dtype


def test_copies_in_other_threads_while_a_loop_ends():
    array = np.zeros(1 << 20)
    for _ in range(20):
        stream = ooc.stream(array, rows=1 << 19)
        first, last = next(stream), next(stream)
        threads = [threading.Thread(target=lambda: first.__dlpack__(copy=True)) for _ in range(3)]
        for thread in threads:
            thread.start()
        assert next(stream, None) is None
        for thread in threads:
            thread.join()
        del last


@on_cpu
def test_the_limit_of_memory_is_for_kept_chunks_too():
    kept = []
    with pytest.raises(BufferError, match="still in use"):
        for chunk in ooc.stream(np.zeros((1 << 19, 16)), rows=2000, memory="2M"):
            kept.append(chunk)
    assert 0 < len(kept) < 10
