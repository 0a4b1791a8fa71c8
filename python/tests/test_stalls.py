"""Servers and pipes that stall: Ctrl-C ends a wait, and so does the end of the interpreter."""

import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import numbers, on_cpu

import ooc

STALL = 15  # seconds: a call that ends with the stall takes longer
VALUES = numbers(1_000_000)


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves VALUES, and stalls as server.stall says: "silent" answers nothing, "half" sends half
    of a body, "busy" says to come back later."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        data = VALUES.tobytes()
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        body = data[first:min(last, len(data) - 1) + 1]
        how = self.server.stall
        if how == "busy":
            self.send_response(503)
            self.send_header("Retry-After", str(STALL))
            self.send_header("Content-Length", "0")
            self.end_headers()
        if how != "silent" and how != "busy":
            self.send_response(206)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(data)}")
            self.send_header("ETag", '"v1"')
            self.end_headers()
            self.wfile.write(body if how is None else body[:len(body) // 2])
        if how is not None:
            self.wfile.flush()
            self.server.stalled()
        if how in ("silent", "half"):
            self.server.ended.wait(STALL)
            self.close_connection = True


@pytest.fixture
def server():
    """Sends SIGINT to this process a moment after it has stalled, once."""
    lock = threading.Lock()

    def stalled():
        if lock.acquire(blocking=False):
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.stall, made.stalled, made.ended = None, stalled, threading.Event()
        made.url = f"http://127.0.0.1:{made.server_port}/a.u32"
        thread = threading.Thread(target=made.serve_forever, args=(0.02,))
        thread.start()
        yield made
        made.ended.set()
        made.shutdown()
        thread.join()


def is_interrupted_soon(call):
    """Returns true if a call raises KeyboardInterrupt before the server goes on."""
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call()
    return time.monotonic() - began < STALL - 1


def test_a_server_that_does_not_stall(server):
    a = ooc.open(server.url, "u4")
    assert ooc.sum(a) == VALUES.sum(dtype="u8")
    np.testing.assert_array_equal(np.asarray(a[5:100]), VALUES[5:100])


@pytest.mark.parametrize("how", ["silent", "half", "busy"])
def test_ctrl_c_ends_open(server, how):
    server.stall = how
    assert is_interrupted_soon(lambda: ooc.open(server.url, "u4"))
    server.stall = None
    assert ooc.open(server.url, "u4").shape == VALUES.shape


@pytest.mark.parametrize("how", ["silent", "half", "busy"])
@pytest.mark.parametrize("call", [
    ooc.sum,
    np.asarray,
    lambda a: np.asarray(a[5:100]),
    lambda a: ooc.histogram(a, 10, (0, 1000)),
    lambda a: ooc.convert(a, "out.npy"),
    lambda a: [None for chunk in ooc.stream(a, rows=1000)],
], ids=["sum", "array", "rows", "histogram", "convert", "stream"])
def test_ctrl_c_ends_a_call(server, call, how):
    a = ooc.open(server.url, "u4")
    server.stall = how
    assert is_interrupted_soon(lambda: call(a))
    server.stall = None
    assert ooc.sum(a) == VALUES.sum(dtype="u8")
    assert not os.path.exists("out.npy")


def test_ctrl_c_ends_a_product(server):
    a = ooc.open(server.url.replace("u32", "f32"), shape=(1000, 1000))
    np.save("b.npy", np.ones((1000, 10), "f4"))
    server.stall = "silent"
    assert is_interrupted_soon(lambda: ooc.matmul(a, "b.npy", "c.npy"))
    assert not os.path.exists("c.npy")


def test_the_handler_of_a_signal_may_open_an_address(server):
    opened = []

    def on_alarm(*_):
        server.stall = None
        opened.append(ooc.open(server.url, "u4").size)
        server.ended.set()  # the request of the call that waits fails, and is tried again

    server.stall, server.stalled = "silent", lambda: None
    before = signal.signal(signal.SIGALRM, on_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        a = ooc.open(server.url, "u4")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert opened == [len(VALUES)]
    assert ooc.sum(a) == VALUES.sum(dtype="u8")


def test_a_loop_over_a_stalled_server_may_be_left(server):
    a = ooc.open(server.url, "u4")
    server.stall, server.stalled = "silent", lambda: None
    began = time.monotonic()
    with ooc.stream(a):
        pass
    assert time.monotonic() - began < STALL - 1


def test_the_interpreter_ends_while_a_server_stalls(server):
    server.stalled = lambda: None
    code = """
import ooc, sys, threading, time
a = ooc.open(sys.argv[1], "u4")
print("open", flush=True)
sys.stdin.readline()
for call in (lambda: ooc.sum(a), lambda: ooc.open(sys.argv[1], "u4"), lambda: list(ooc.stream(a))):
    threading.Thread(target=call, daemon=True).start()
time.sleep(0.5)
"""
    with subprocess.Popen([sys.executable, "-c", code, server.url], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        server.stall = "silent"
        began = time.monotonic()
        _, stderr = process.communicate(b"\n", timeout=60)
    assert process.returncode == 0, stderr
    assert time.monotonic() - began < STALL - 1


@on_cpu
def test_other_threads_run_while_the_last_view_of_a_stalled_loop_is_dropped():
    ticks, is_over = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not is_over.wait(0.001):
            ticks += 1

    def ticks_meanwhile():
        """The pass ends when it looks at its silent pipe next, within a tenth of a second."""
        reading, writing = os.pipe()
        with open(reading, "rb", buffering=0) as pipe, open(writing, "wb", buffering=0) as other:
            other.write(numbers(1100).tobytes())
            stream = ooc.stream(ooc.open(pipe, "u4"), rows=500)
            view = next(stream).numpy()
            del stream
            before = ticks
            del view
            return ticks - before

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        assert any(ticks_meanwhile() >= 5 for _ in range(50))
    finally:
        is_over.set()
        thread.join()


@on_cpu
def test_the_interpreter_may_end_with_a_view_of_a_stalled_loop():
    code = """
import numpy, ooc, os
reading, writing = os.pipe()
os.write(writing, bytes(4400))
stream = ooc.stream(ooc.open(open(reading, "rb", buffering=0), "u4"), rows=500, device="cpu")
view = numpy.from_dlpack(next(stream))
"""
    for last in "", "del stream", "del stream, view":
        ended = subprocess.run([sys.executable, "-c", code + last], capture_output=True,
                               timeout=60, check=False)
        assert ended.returncode == 0, ended.stderr
