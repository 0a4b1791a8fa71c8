"""Streams that end early: by errors, signals, forks and the end of the interpreter."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import numbers, on_cpu, rows_of

import ooc


def test_a_stream_gives_its_chunks_once():
    stream = ooc.stream(numbers(10_000), rows=1000)
    assert next(stream).first == 0
    assert len(list(stream)) == 9  # goes on
    with pytest.raises(ooc.UsageError, match="gives its chunks once") as caught:
        list(stream)
    assert caught.value.hint == "call ooc.stream() for each loop"
    assert next(stream, None) is None
    with ooc.stream(numbers(10)) as closed:
        pass
    with pytest.raises(ooc.UsageError, match="once"):
        list(closed)


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
    assert stream and next(stream, None) is None


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
