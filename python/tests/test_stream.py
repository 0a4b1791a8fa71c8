"""Loops over chunks, and data that stay on the device."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import TYPES

import ooc
import ooc._stream

on_cpu = pytest.mark.skipif(os.environ.get("OOC_TEST_DEVICE", "cpu") != "cpu",
                            reason="views of NumPy are of the CPU's memory")


def rows_of(stream):
    return np.concatenate([chunk.numpy() for chunk in stream])


def numbers(count):
    return np.arange(count, dtype="u4")


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


def test_a_stream_that_is_closed_has_ended():
    array = numbers(1_000_000)
    with ooc.stream(array, rows=100) as stream:
        first = next(stream)
        with ooc.stream(array, rows=100) as other:
            assert next(other).first == 0
    assert next(stream, None) is None
    assert stream.stats is None
    np.testing.assert_array_equal(first.numpy(), array[:100])
    stream.close()
    with pytest.raises(TypeError, match="not known"):
        len(stream)
    assert stream and list(stream) == []


def test_errors_of_the_data_are_raised_at_their_chunk():
    np.save("a.npy", numbers(1_000_000))
    stream = ooc.stream("a.npy", rows=1000)
    os.truncate("a.npy", 2_000_000)
    with pytest.raises(ooc.Error):
        for chunk in stream:
            del chunk
    assert next(stream, None) is None


def test_a_pipe_is_read_once():
    reading, writing = os.pipe()
    array = numbers(100_000)
    thread = threading.Thread(target=lambda: (os.write(writing, array[:10_000].tobytes()),
                                              os.write(writing, array[10_000:].tobytes()),
                                              os.close(writing)))
    with open(reading, "rb", buffering=0) as pipe:
        thread.start()
        stream = ooc.stream(ooc.open(pipe, "u4"), rows=777)
        with pytest.raises(TypeError, match="not known"):
            len(stream)
        np.testing.assert_array_equal(rows_of(stream), array)
        thread.join()


def test_ctrl_c_ends_a_loop_that_waits():
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as pipe:
        os.write(writing, numbers(15_000).tobytes())
        stream = ooc.stream(ooc.open(pipe, "u4"), rows=500)
        assert next(stream).first == 0
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            for chunk in stream:
                del chunk
        assert time.monotonic() - began < 5
        assert next(stream, None) is None
        os.close(writing)


def test_one_thread_at_a_time():
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as pipe:
        os.write(writing, numbers(15_000).tobytes())
        stream = ooc.stream(ooc.open(pipe, "u4"), rows=500)
        thread = threading.Thread(target=lambda: list(stream))
        thread.start()
        time.sleep(0.3)
        with pytest.raises(RuntimeError, match="another thread"):
            next(stream)
        os.close(writing)
        thread.join()


def test_progress_of_a_loop():
    calls = []
    for chunk in ooc.stream(numbers(1_000_000), rows=100_000,
                            progress=lambda done, total: calls.append((done, total))):
        time.sleep(0.05)
        del chunk
    assert calls and all(total == 4_000_000 for _, total in calls)
    assert calls == sorted(calls)


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


def test_the_interpreter_may_end_at_any_time():
    code = """
import numpy, ooc, threading
array = numpy.arange(1000000)
stream = ooc.stream(array, rows=100, device="cpu")
view = numpy.from_dlpack(next(stream))
chunk = next(stream)
other = ooc.stream(array, rows=100, device="cpu")
threading.Thread(target=lambda: [numpy.from_dlpack(each).sum() for each in other],
                 daemon=True).start()
"""
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60,
                               check=False)
        assert ended.returncode == 0, ended.stderr


@on_cpu
def test_a_child_of_fork_has_streams_of_its_own():
    array = numbers(100_000)
    ooc.sum(array)
    child = os.fork()
    if child == 0:
        is_right = np.array_equal(rows_of(ooc.stream(array, rows=1000)), array)
        os._exit(0 if is_right and ooc.sum(array) == array.sum() else 1)
    assert os.waitpid(child, 0)[1] == 0


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


def test_a_handler_may_raise_while_an_error_is_made():
    def handle(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handle)
    try:
        for i in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + (i % 100) * 2e-6)
                while True:
                    try:
                        ooc.open("nofile.npy")
                    except OSError:
                        pass
            except KeyboardInterrupt:
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@on_cpu
def test_the_limit_of_memory_is_for_kept_chunks_too():
    kept = []
    with pytest.raises(BufferError, match="still in use"):
        for chunk in ooc.stream(np.zeros((1 << 19, 16)), rows=2000, memory="2M"):
            kept.append(chunk)
    assert 0 < len(kept) < 10


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


def test_what_progress_raises_loses_no_chunk():
    calls = []

    def report(done, total):
        calls.append(done)
        if len(calls) % 2:
            raise ZeroDivisionError

    array = numbers(100_000)
    stream = ooc.stream(array, rows=10_000, progress=report)
    parts = []
    while True:
        time.sleep(0.11)
        try:
            chunk = next(stream, None)
        except ZeroDivisionError:
            continue
        if chunk is None:
            break
        parts.append(chunk.numpy().copy())
    np.testing.assert_array_equal(np.concatenate(parts), array)


@on_cpu
def test_a_child_of_fork_leaves_the_streams_of_its_parent_alone():
    code = """
import numpy, ooc, os, sys
numpy.save("a.npy", numpy.arange(1000000))
stream = ooc.stream("a.npy", rows=100, device="cpu")
view, chunk = numpy.from_dlpack(next(stream)), next(stream)
kept = ooc.resident("a.npy", nbytes=1 << 20, device="cpu")
next(ooc.stream(kept))
out = ooc.writer("b.npy")
out.write(view)
if os.fork() == 0:
    for call in (lambda: next(stream), lambda: ooc.stream(kept), lambda: out.write(view)):
        try:
            call()
        except ooc.UsageError as error:
            assert "of the parent" in str(error) or "to the parent" in str(error)
        else:
            os._exit(1)
    assert view[99] == 99 and chunk.numpy()[0] == 100
    del view
    assert sum(len(each) for each in ooc.stream("a.npy", device="cpu")) == 1000000
    sys.exit(0)
assert os.wait()[1] == 0
out.commit()
assert len(numpy.load("b.npy")) == 100 and next(stream).first == 200
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60,
                           check=False)
    assert ended.returncode == 0, ended.stderr
