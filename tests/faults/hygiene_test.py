#!/usr/bin/env python3
"""Checks the system calls of a run: they make no inheritable descriptor, use nothing but files, and
write only to the directory of the output and to the cache of `bench`."""

import os
import re
from pathlib import Path

from faults_support import FIGURES, PROGRAM, FaultTest, main, run_command

try:
    import h5py
except ImportError:
    h5py = None

# Calls that make a descriptor. (A ring of io_uring is never inherited.)
OPENING = re.compile(r"open(at2?)?|creat|memfd_create|pipe2?|eventfd2?|epoll_create1?|signalfd4?|"
                     r"timerfd_create|inotify_init1?|userfaultfd|dup[23]?")
FORBIDDEN = re.compile(
    r"socket(pair)?|connect|bind|listen|accept4?|send(to|m?msg)|recv(from|m?msg)|"  # a network
    r"set(re|res|fs)?[ug]id|setgroups|capset|"                                       # other rights
    r"v?fork|execve(at)?|ptrace|process_vm_\w+|pidfd_\w+|kill|"                      # programs
    r"u?mount2?|chroot|pivot_root|unshare|setns|bpf|\w+_module|"                     # the system
    r"f?chmod(at)?|[fl]?chown(at)?|mknod(at)?|f?l?setxattr")
WRITING = re.compile(r"mkdir(at)?|rmdir|unlink(at)?|rename(at2?)?|link(at)?|symlink(at)?|truncate|"
                     r"utime(s|nsat)?")
# How a helper program is started, without an environment but LANG, and ended.
HELPER = re.compile(r'\("[^"]*/ooc-describe-hdf5", \["[^"]*", "[^"]*"\], 0x\w+ /\* 1 var \*/')
STARTING = re.compile(r"clone3?\(.*CLONE_VM\|CLONE_VFORK|kill\(-\d+, SIGKILL")
PATHS = re.compile(r'(?:<([^<>]*)>, )?"((?:[^"\\]|\\.)*)"')


def calls_in(log):
    """Returns (process, name, text) of each call except the one that starts the program."""
    found = re.findall(r"^(\d+) +(\w+)(\(.*)", log.read_text(), re.M)
    assert found[0][1] == "execve"
    return found[1:]


class HygieneTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.need("strace")
        trial = run_command(["--version"], ["strace", "-f", "-o", "/dev/null"])
        if trial.returncode != 0:
            self.skipTest(f"strace: {trial.stderr}")
        self.out, self.cache = self.directory / "out", self.directory / "cache"
        self.elsewhere = self.directory / "elsewhere"  # the working directory of the runs
        for place in (self.out, self.cache, self.elsewhere):
            place.mkdir()

    def may_write(self, path):
        # The path behind a descriptor was checked when it was opened.
        return path.startswith("/proc/self/fd/") or any(
            Path(os.path.normpath(path)).is_relative_to(place) for place in (self.out, self.cache))

    def complaint(self, name, text):
        """Returns what is wrong with a call, or None."""
        if FORBIDDEN.fullmatch(name):
            return "not for us to call"
        if name in ("clone", "clone3") and "CLONE_THREAD" not in text:
            return "starts a process"
        duplicates = name == "fcntl" and "F_DUPFD" in text
        if (OPENING.fullmatch(name) or duplicates) and "CLOEXEC" not in text:
            return "would be inherited"
        if name in ("mmap", "mprotect") and "PROT_WRITE|PROT_EXEC" in text:
            return "makes memory that can be written and executed"
        opened = name.startswith("open") and re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", text)
        if opened or WRITING.fullmatch(name):
            paths = [os.path.join(place or self.elsewhere, path)
                     for place, path in PATHS.findall(text.split(" = ")[0])
                     if path]  # empty: the file of a descriptor
            if not paths or not all(map(self.may_write, paths)):
                return f"writes to {paths}"
        return None

    def look_at(self, *words, helper=False):
        log = self.directory / "log"
        done = run_command(words, ["env", f"XDG_CACHE_HOME={self.cache}", "strace", "-f", "-y",
                                   "-s", "4096", "-o", log], cwd=self.elsewhere)
        self.assertIsNotNone(done, "it hangs")
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = calls_in(log)
        helpers = {process for process, name, text in calls
                   if name == "execve" and helper and HELPER.match(text)}
        self.assertEqual(len(helpers), 1 if helper else 0)
        found = [f"{name}{text}: {complaint}" for process, name, text in calls
                 if (complaint := self.complaint(name, text)) and not (helper and (
                     name == "execve" and HELPER.match(text) or STARTING.match(name + text) or
                     process in helpers and complaint == "would be inherited"))]
        self.assertFalse(found, "\n".join(["", *found]))
        self.assertGreater(len(calls), 50)
        FIGURES["commands"] += 1
        FIGURES["system calls looked at"] += len(calls)

    def test_help(self):
        self.look_at("--version")
        self.look_at("help", "reduce")

    def test_passes(self):
        for command in ("reduce", "histogram", "convert", "matmul"):
            for way in (["--direct", "yes"], ["--direct", "no"], ["--engine", "threads"]):
                with self.subTest(command, way=way):
                    work = self.work(command, outputs=self.out)
                    self.look_at(*work.words, *way, "--trace", self.out / "trace")
                    work.restore()

    def test_helper(self):
        """A file of HDF5 takes one other program, which only reads it."""
        path = self.directory / "x.h5"
        if h5py is None or not (Path(PROGRAM).parent / "ooc-describe-hdf5").exists():
            self.skipTest("no h5py, or built without libhdf5")
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=range(10_000), chunks=(1000,))
        self.look_at("reduce", path, helper=True)

    def test_picture(self):
        self.look_at(*self.work("histogram", outputs=self.out).words, "--plot",
                     self.out / "plot.svg")

    def test_what_is_made(self):
        self.look_at("gen", "-o", self.out / "x.f32", "--count", 100_000)

    def test_verified(self):
        for command in ("reduce", "histogram", "matmul"):
            with self.subTest(command):
                self.look_at(*self.work(command, outputs=self.out).words, "--verify")

    def test_bench(self):
        """The larger file is large enough for its results to be kept in the cache."""
        for size, words in ((64 << 20, ["--plot", self.out / "plot.svg"]), (1_000_000_000, [])):
            path = self.directory / "x.u8"
            with open(path, "wb") as file:
                file.truncate(size)
            self.look_at("bench", path, "--runs", 1, *words)
        self.assertTrue(list(self.cache.rglob("*.json")))


if __name__ == "__main__":
    main()
