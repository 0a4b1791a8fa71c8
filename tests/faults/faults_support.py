"""Shared code of the tests with real faults. Each script gets the paths of ooc-run and fault_fs.

Nothing is left behind, however a script ends: it mounts in a mount namespace of its own, loop
devices detach when their last user closes them, and fault_fs is killed with the script.
"""

import collections
import concurrent.futures
import copy
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

# pylint: disable=wrong-import-position
from cli_support import PROGRAM, CliTest, clean_environment, default_signals, evict

import numpy as np

FAULT_FS = sys.argv.pop(1) if len(sys.argv) > 1 else "none"
SANITIZED = sys.argv[1:2] == ["--sanitized"] and bool(sys.argv.pop(1))

MOST_SECONDS = 100  # a run that takes longer hangs, also on a busy machine
OLD = b"what was there before"
CHUNK = 65536  # bytes; the smallest chunk of one-byte elements

FIGURES = collections.Counter({"wrong answers": 0, "hangs": 0})

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE, PR_SET_PDEATHSIG = 0x20000, 0x4000, 1 << 18, 1


def why_no_mounts():
    """Enters a mount namespace of its own. Returns why if that is not possible."""
    if os.geteuid() != 0:
        return "mounting takes root"
    if LIBC.unshare(CLONE_NEWNS) != 0 or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE,
                                                    None) != 0:
        return "no mount namespace: " + os.strerror(ctypes.get_errno())
    return None


NO_MOUNTS = why_no_mounts()


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(condition, seconds=MOST_SECONDS):
    """Waits until the condition is true. Returns False if that takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


class Work:
    """A small run of a command with its right answer, which NumPy has computed.

    Its inputs are in one directory and its output, if it has one, is alone in another.
    """

    def __init__(self, command, inputs, outputs, count=3 * CHUNK + 999):
        self.command, self.inputs, self.outputs = command, Path(inputs), Path(outputs)
        self.count = count
        self.output = None
        for directory in (self.inputs, self.outputs):
            directory.mkdir(exist_ok=True)
        self.restore()
        getattr(self, "make_" + command)(np.random.default_rng(7))

    def make_reduce(self, random):
        data = random.integers(-1000, 1000, self.count).astype("f4")
        data.tofile(self.inputs / "x.f32")
        self.words = ["reduce", self.inputs / "x.f32", "--json"]
        self.right = {"count": self.count, "sum": data.sum(dtype="f8"), "min": data.min(),
                      "argmin": data.argmin(), "max": data.max(), "argmax": data.argmax()}

    def make_histogram(self, random):
        data = random.normal(0, 1000, self.count).astype("f4")
        data.tofile(self.inputs / "x.f32")
        self.words = ["histogram", self.inputs / "x.f32", "--json"]
        counts, edges = np.histogram(data.astype("f8"), 256)
        self.right = {"counts": counts.tolist(), "edges": edges.tolist(), "count": self.count}

    def make_convert(self, random):
        data = random.integers(0, 60000, self.count).astype("u2")
        data.tofile(self.inputs / "x.u16")
        self.new_output("y.f32", data.astype("f4").tobytes())
        self.words = ["convert", self.inputs / "x.u16", "-o", self.output, "--force"]

    def make_matmul(self, random):
        matrices = [random.integers(-9, 9, (300, 300)).astype("f4") for _ in "ab"]
        for name, matrix in zip("ab", matrices):
            matrix.tofile(self.inputs / f"{name}.f32")
        self.new_output("c.f32", (matrices[0] @ matrices[1]).tobytes())
        self.words = ["matmul", self.inputs / "a.f32", self.inputs / "b.f32", "-o", self.output,
                      "--force", "--shape-a", "300x300", "--shape-b", "300x300"]

    def make_gen(self, _random):
        self.new_output("y.u16", np.full(self.count, 7, "u2").tobytes())
        self.words = ["gen", "-o", self.output, "--force", "--count", self.count, "--pattern",
                      "constant", "--value", "7"]

    def make_bench(self, random):
        random.integers(0, 256, self.count, "u1").tofile(self.inputs / "x.bin")
        self.words = ["bench", self.inputs / "x.bin", "--device", "cpu", "--runs", 1, "--json"]
        self.right = {"runs": 1}  # no other figure is known

    def new_output(self, name, right):
        self.output, self.right = self.outputs / name, right
        self.restore()

    def restore(self):
        """Writes the old output again and removes all other files from its directory."""
        for path in self.outputs.iterdir():
            path.unlink()
        if self.output:
            self.output.write_bytes(OLD)

    def elsewhere(self, outputs):
        """Returns the same work with the same inputs, but an output in another directory."""
        other = copy.copy(self)
        other.outputs = Path(outputs)
        if self.output:
            other.output = other.outputs / self.output.name
            other.words = [other.output if word == self.output else word for word in self.words]
        return other

    def reading(self, inputs):
        """Returns the same work, which reads its inputs through another directory."""
        other = copy.copy(self)
        other.words = [inputs / word.name if isinstance(word, Path) and word.parent == self.inputs
                       else word for word in self.words]
        return other

    def evict(self):
        """Evicts the inputs from the page cache, so that they are read directly."""
        for path in self.inputs.iterdir():
            evict(path)

    def is_right(self, stdout):
        if self.output:
            return self.output.read_bytes() == self.right
        result = json.loads(stdout)["result"]
        return all(result[key] == value for key, value in self.right.items())

    def strays(self):
        ours = [self.output.name] if self.output else []
        return sorted(set(os.listdir(self.outputs)) - set(ours))

    def complaint(self, done, codes):
        """Returns what is wrong with a finished run, or None.

        A run must be right, if 0 is one of the codes, or fail cleanly with another.
        """
        text = f"exit {done.returncode}, stdout {done.stdout!r:.300}, stderr {done.stderr!r}"
        strays = [name for name in self.strays() if not self.is_unpublished(name, done)]
        if strays:
            return f"left {strays}; {text}"
        if done.returncode == 0:
            if 0 in codes and self.is_right(done.stdout):
                return None
            FIGURES["wrong answers"] += 1
            return f"a wrong answer, or no failure; {text}"
        if done.returncode not in codes:
            return f"not one of {sorted(codes)}; {text}"
        # The fsync of the directory can fail after the new output is in place.
        in_place = "fsync of its directory failed" in done.stderr
        if self.output and self.output.read_bytes() != (self.right if in_place else OLD):
            return f"the old output is gone; {text}"
        if done.stdout and not self.is_unverified(done):
            return f"a failure, but an answer; {text}"
        return None if is_one_message(done.stderr) else f"not one message; {text}"

    def is_unpublished(self, name, done):
        """True if a file is the whole output, and the error says that it stays under this name."""
        path = self.outputs / name
        return (name.endswith(".ooc-part") and path.read_bytes() == self.right and
                f"the new file is whole, and stays as {path}" in done.stderr)

    def is_unverified(self, done):
        """True if the answer is right, but its check did not finish."""
        return ("--verify" in done.args and self.is_right(done.stdout) and
                json.loads(done.stdout)["result"]["verified"] is None)


def is_one_message(stderr):
    """True if stderr is one error with its reason and hint, possibly after notes and warnings."""
    notes = ("ooc-run: note: ", "ooc-run: warning: ")
    lines = [line for line in stderr.splitlines() if not line.startswith(notes)]
    return (bool(lines) and lines[0].startswith("ooc-run: error: ") and
            all(line.startswith(("  why:  ", "  hint: ")) for line in lines[1:]))


def run_command(words, prefix=(), **options):
    """Returns the finished run, or None if it hangs. `prefix` is a command that starts it."""
    command = [*prefix, PROGRAM, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=clean_environment(), start_new_session=True, **options) as process:
        try:
            stdout, stderr = process.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            FIGURES["hangs"] += 1
            os.killpg(process.pid, signal.SIGKILL)
            return None
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


class FaultTest(CliTest):
    """Provides disks and file systems that are removed after each test."""

    def need(self, *tools, mounts=False):
        """Skips the test unless these programs are installed, and it can mount if `mounts`."""
        if mounts and NO_MOUNTS:
            self.skipTest(NO_MOUNTS)
        for tool in tools:
            if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
                self.skipTest(f"{tool} is not installed")

    def command(self, *words, skip=False):
        """Runs a tool and returns its output. If it fails, so does the test; or `skip` skips it."""
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              check=False, env={**os.environ, "PATH": path})
        if done.returncode != 0:
            what = f"{words[0]}: {done.stderr.strip()}"
            self.skipTest(what) if skip else self.fail(what)
        return done.stdout.strip()

    def loop_device(self, image, *options):
        """Returns a block device that is backed by a file. It is detached after the test."""
        self.need("losetup", mounts=True)
        device = self.command("losetup", "--find", "--show", *options, image, skip=True)
        descriptor = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
        self.addCleanup(os.close, descriptor)
        self.command("losetup", "--detach", device)  # when its last user closes it
        return device

    def new_path(self, kind):
        """Returns a path that is not used yet."""
        return self.directory / f"{kind}{len(os.listdir(self.directory))}"

    def mount(self, kind, source, options=""):
        self.need("mount", mounts=True)
        place = self.new_path(kind)
        place.mkdir()
        words = ["-o", options] if options else []
        self.command("mount", "-t", kind, *words, source, place, skip=True)
        self.addCleanup(self.command, "umount", "--lazy", place)
        return place

    def image(self, size):
        path = self.new_path("disk")
        with open(path, "wb") as file:
            file.truncate(size)
        return path

    def make_file_system(self, kind, device):
        make = {"ext4": ["mkfs.ext4", "-q", "-m", "0", "-E", "nodiscard"],
                "xfs": ["mkfs.xfs", "-q", "-K"], "btrfs": ["mkfs.btrfs", "-q", "-K"]}[kind]
        self.need(make[0])
        self.command(*make, device)

    def file_system(self, kind, size=512 << 20, device_options=(), options=""):
        """Mounts a new file system on a new disk and returns the mount point."""
        device = self.loop_device(self.image(size), *device_options)
        self.make_file_system(kind, device)
        return self.mount(kind, device, options)

    def need_fault_fs(self):
        self.need(mounts=True)
        if FAULT_FS == "none":
            self.skipTest("built without libfuse3")

    def fault_fs(self, beneath, **faults):
        """Mounts a view of the directory `beneath` with the faults of fault_fs.cpp."""
        self.need_fault_fs()
        place = self.new_path("faulty")
        place.mkdir()
        words = [f"{name}={number}" for name, number in faults.items()]
        with open(self.directory / "fault_fs.log", "ab") as log:
            process = subprocess.Popen([FAULT_FS, place, beneath, *words], stdout=log,
                                       stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)  # also ends calls that wait for it
        if not wait_until(lambda: os.path.ismount(place) or process.poll() is not None):
            self.fail("fault_fs does not start")
        if process.poll() is not None:
            self.skipTest("fault_fs: " + (self.directory / "fault_fs.log").read_text())
        self.addCleanup(self.command, "umount", "--lazy", place)
        return place

    def work(self, command, inputs=None, outputs=None, **options):
        return Work(command, inputs or self.directory / "in", outputs or self.directory / "out",
                    **options)

    def expect(self, work, codes, *options, what=None, prefix=(), **run_options):
        """Runs `work`. It must be right, if 0 is one of the codes, or fail cleanly with another."""
        done = run_command([*work.words, *options], prefix, **run_options)
        FIGURES["runs"] += 1
        self.assertIsNotNone(done, "it hangs")
        self.assertIsNone(work.complaint(done, codes))
        if what is not None and done.returncode != 0:
            self.assertRegex(done.stderr, what)
        if done.returncode == 0:
            work.restore()
        return done

    def start(self, *words, **environment):
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   env=clean_environment(**environment),
                                   preexec_fn=default_signals)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def started(self, *words):
        """Starts a run and waits until it reports its progress."""
        process = self.start(*words, "--progress", "plain")
        line = process.stderr.readline()
        while line and " left" not in line:
            line = process.stderr.readline()
        return process


def side_by_side(function, items):
    """Calls `function` for all items, one per processor at a time, and returns the results."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def main():
    """Runs the tests and prints the figures. Exits with code 77 if no case was run."""
    outcome = unittest.main(exit=False).result
    for text in dict.fromkeys(f"SKIPPED {test.id()}: {why}" for test, why in outcome.skipped):
        print(text)
    print(", ".join(f"{number} {name}" for name, number in
                    sorted(FIGURES.items(), key=lambda figure: figure[0] in ("wrong answers",
                                                                             "hangs"))))
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(0 if any(FIGURES.values()) else 77)
