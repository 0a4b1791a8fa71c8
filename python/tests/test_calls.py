"""Options, progress, signals, threads."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import ooc


def test_options_are_defaults_of_a_block():
    array = np.ones(100_000, "f4")
    with ooc.options(device="cpu", threads=1):
        assert ooc.reduce(array).stats.run["streams"] == 1
    with pytest.raises(ooc.UsageError, match="is no device"):
        ooc.sum(array, device="tpu")
    with pytest.raises(TypeError, match="unexpected keyword"):
        ooc.sum(array, thread=1)


@pytest.mark.parametrize("size", ["67108864", "64M", "64MiB", "65536k", "1G", "5GB", "1gib"])
def test_sizes_are_those_of_ooc_run(size):
    assert ooc.sum(np.ones(10), memory=size, vram=size) == 10


@pytest.mark.parametrize("size, message", [
    ("much", "is not a whole number"), ("1.5G", "is not a whole number"), ("", "is not a whole"),
    ("5X", "has no unit named 'X'"), ("-1", "must not be negative"), ("99999999T", "is too large"),
    ("0", "is less than 1"), (0, "is less than 1"), (-1, "is less than 1"), (2**64, "is more than"),
])
def test_other_sizes_are_refused(size, message):
    for name in ("memory", "vram"):
        with pytest.raises(ooc.UsageError, match=f"{name}=.*{message}"):
            ooc.sum(np.ones(10), **{name: size})


def test_too_little_memory_is_an_error_with_a_remedy():
    np.save("a.npy", np.ones(10_000_000, "f4"))
    with pytest.raises(MemoryError) as caught:
        ooc.sum("a.npy", memory=1000)
    assert "memory=" in caught.value.hint


def test_progress_is_called_on_this_thread():
    np.save("a.npy", np.ones(1_000_000, "f4"))
    calls = []
    ooc.sum("a.npy", progress=lambda done, total: calls.append(
        (done, total, threading.get_ident())))
    assert calls[-1] == (4_000_000, 4_000_000, threading.get_ident())


def test_what_progress_raises_ends_the_call():
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    np.save("a.npy", np.ones(1_000_000, "f4"))
    with pytest.raises(Enough):
        ooc.sum("a.npy", progress=stop)
    assert ooc.sum("a.npy") == 1_000_000


def expect_interrupted(call, *words, **more):
    """Runs a call in a process of its own, and interrupts it."""
    program = ("import ooc, os, sys\n"
               "try:\n"
               "    print('begins', flush=True)\n"
               f"    {call}\n"
               "except KeyboardInterrupt:\n"
               "    sys.exit(3)\n")
    process = subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE,
                               **more)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 3
    process.stdout.close()


def test_a_signal_ends_a_long_call():
    with open("huge.f32", "wb") as file:
        file.truncate(1 << 40)
    expect_interrupted("ooc.reduce('huge.f32', device='cpu')")


def test_a_signal_ends_the_opening_of_a_pipe():
    reading, writing = os.pipe()
    expect_interrupted("ooc.open(os.fdopen(int(sys.argv[1]), 'rb', buffering=0), 'f4')",
                       str(reading), pass_fds=[reading])
    os.close(reading)
    os.close(writing)


def test_the_interpreter_may_end_during_a_call():
    with open("huge.f32", "wb") as file:
        file.truncate(1 << 40)
    program = ("import ooc, threading, time\n"
               "threading.Thread(target=ooc.reduce, args=['huge.f32'], "
               "kwargs={'device': 'cpu'}, daemon=True).start()\n"
               "time.sleep(0.5)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0 and "terminate" not in done.stderr


@pytest.mark.parametrize("call", [
    "lambda: ooc.open(reading, 'f4')",
    "lambda: ooc.sum(ooc.open(reading, 'f4'))",
    "lambda: ooc.open('fifo.f4', 'f4')",
    "forever(lambda: ooc.open(reading, 'f4'))",
    "forever(lambda: ooc.sum(numpy.ones(10)))",
    "forever(lambda: ooc.open('a.f32')[:5])",
])
def test_the_interpreter_may_end_while_a_thread_opens(call):
    np.ones(10, "f4").tofile("a.f32")
    os.mkfifo("fifo.f4")
    program = f'''
import numpy, ooc, os, threading, time

def forever(call):
    def run():
        while True:
            try:
                call()
            except Exception:
                pass
    return run

reading, writing = os.pipe()
reading = os.fdopen(reading, "rb", buffering=0)
kept = os.open("fifo.f4", os.O_RDWR)
threading.Thread(target={call}, daemon=True).start()
time.sleep(0.3)
'''
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0 and "terminate" not in done.stderr, done.stderr


def test_several_threads_at_once():
    array = np.ones(1_000_000, "f4")
    found = []
    threads = [threading.Thread(target=lambda: found.append(ooc.sum(array, device="cpu")))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1_000_000] * 4


def test_other_python_threads_go_on():
    with open("huge.u8", "wb") as file:
        file.truncate(1 << 33)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    calls = ooc.sum("huge.u8", progress=lambda *_: None)
    done.set()
    thread.join()
    assert calls == 0 and len(ticks) > 3


def test_nothing_is_printed(capfd):
    ooc.sum(np.ones(100), progress=True)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_files_are_written():
    np.save("a.npy", np.arange(12, dtype="f4").reshape(3, 4))
    small = ooc.convert("a.npy", "b.npy", "f2")
    assert small.dtype == np.float16 and small.shape == (3, 4)
    np.testing.assert_array_equal(np.load("b.npy"), np.load("a.npy"))
    with pytest.raises(ooc.OutputError):
        ooc.convert("a.npy", "b.npy")
    ooc.convert("a.npy", "b.npy", "u1", overwrite=True)
    with pytest.warns(UserWarning, match="1 of 2 values are beyond"):
        ooc.convert(np.array([1.0, 300]), "b.npy", "u1", overwrite=True)
    assert ooc.convert("a.npy", "plain.bin").dtype == np.float32
    with pytest.raises(ooc.BadInput):
        ooc.convert(np.array([0.5]), "c.npy", "u1", strict=True)
    assert not os.path.exists("c.npy")
    raw = ooc.convert("a.npy", "d.f64", "f8")
    assert raw.dtype == np.float64
    np.save("f.npy", np.asfortranarray(np.ones((4, 3), "f4")))
    with pytest.raises(ooc.BadInput, match="Fortran"):
        ooc.matmul("a.npy", "f.npy", "g.npy")
    product = ooc.matmul("a.npy", np.arange(8, dtype="f4").reshape(4, 2), "e.npy")
    np.testing.assert_allclose(np.asarray(product),
                               np.load("a.npy") @ np.arange(8).reshape(4, 2))


def test_the_machine_is_known():
    assert ooc.devices()[0] == "cpu"
    assert ooc.__version__.count(".") == 2
