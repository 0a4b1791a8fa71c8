#!/usr/bin/env python3
"""Tests that each kind of unusable input has its message and exit code, with an empty stdout."""

import os
import re
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

from cli_support import CliTest, main

import numpy as np



class FileTest(CliTest):
    def test_missing_file(self):
        self.check_error(4, "reduce", "missing.f32")

    def test_not_a_file(self):
        os.mkdir(self.path("folder"))
        for name in ("folder", "/dev/null"):
            with self.subTest(name=name):
                self.check_error(3, "reduce", name)

    def piped(self, data):
        """Returns the end of a pipe that gives these bytes."""
        cat = subprocess.Popen(["cat", self.write("piped.bytes", data)], stdout=subprocess.PIPE)
        self.addCleanup(cat.wait)
        self.addCleanup(cat.stdout.close)
        return cat.stdout

    def test_standard_input(self):
        numbers = b"".join(struct.pack("<f", i % 7) for i in range(100_000))
        document = self.json("reduce", "-", "--dtype", "f4", stdin=self.piped(numbers))
        self.assertEqual(document["result"]["count"], 100_000)
        self.assertEqual(document["input"]["files"], [{"path": "-", "bytes": 400_000}])
        same = self.json("reduce", self.write("x.f32", numbers))
        self.assertEqual(document["result"], same["result"])
        words = ("--dtype", "f4", "--range", "0:7", "--bins", "7")
        document = self.json("histogram", "-", *words, stdin=self.piped(numbers))
        same = self.json("histogram", self.path("x.f32"), *words)
        self.assertEqual(document["result"], same["result"])
        words = ("--dtype", "f4", "--checksum")
        document = self.json("reduce", "-", *words, stdin=self.piped(numbers))
        same = self.json("reduce", self.path("x.f32"), "--checksum")
        self.assertEqual(document["input"]["checksum_xxh3_128"],
                         same["input"]["checksum_xxh3_128"])
        empty = self.json("reduce", "-", "--dtype", "f4", stdin=self.piped(b""))
        self.assertEqual(empty["result"]["count"], 0)

    def test_standard_input_is_read_once(self):
        for words, code in (
                (("reduce", "-"), 2), (("histogram", "-", "--dtype", "f4"), 2),
                (("reduce", "-", "--dtype", "f4", "--verify"), 2),
                (("reduce", "-", "--dtype", "f4", "--offset", "8"), 3),
                (("reduce", "-", "--dtype", "u1", "--offset", 1, "--count", 6), 3),
                (("reduce", "-", "-", "--dtype", "f4"), 2), (("info", "-"), 2),
                (("reduce", "-", "--dtype", "f4", "--direct", "yes"), 2),
                (("reduce", "-", "--dtype", "f4"), 3)):
            with self.subTest(words=words):
                self.check_error(code, *words, stdin=self.piped(b"123456"))

    def test_standard_input_that_is_a_file(self):
        with open(self.write("x.u8", bytes(100)), "rb") as file:
            document = self.json("reduce", "/dev/stdin", stdin=file)
        self.assertEqual(document["result"]["count"], 100)

    def test_not_on_this_machine(self):
        for name in ("gs://bucket/x.f32", "ftp://example.org/x.npy"):
            for command in ("histogram", "info", "bench"):
                self.check_error(3, command, name)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_no_permission(self):
        path = self.write("x.f32", bytes(8))
        os.chmod(path, 0)
        self.check_error(4, "reduce", path)

    def test_odd_size(self):
        self.check_error(3, "reduce", self.write("x.f32", bytes(10)))

    def test_parts_beyond_the_file(self):
        path = self.write("x.f32", bytes(80))
        self.check_error(3, "reduce", path, "--offset", 100)
        self.check_error(3, "reduce", path, "--count", 21)
        self.check_error(3, "reduce", path, "--offset", 3)

    def test_files_that_do_not_fit_together(self):
        one = self.write("a.f32", bytes(16))
        two = self.write("b.f64", bytes(16))
        self.check_error(3, "reduce", one, two)

    def test_data_without_a_range(self):
        path = self.write("x.f8", np.array([np.nan, np.inf, -np.inf]))
        self.check_error(3, "histogram", path, "--dtype", "f8")
        path = self.write("huge.f64", np.array([1e300, 1e300]))
        self.check_error(3, "histogram", path)


class EmptyTest(CliTest):
    def test_an_empty_file_has_no_elements(self):
        path = self.write("empty.f32", b"")
        zeros = ("count", "below", "above", "nan")
        for words in ((), ("--dtype", "u1"), ("--log-bins",)):
            result = self.json("histogram", path, *words)["result"]
            self.assertEqual([result.pop(name) for name in zeros], [0, 0, 0, 0])
            self.assertEqual(set(result.values()), {None})
        result = self.json("reduce", path)["result"]
        self.assertEqual([result.pop(name) for name in ("count", "nan", "inf", "sum")],
                         [0, 0, 0, 0])
        self.assertEqual(set(result.values()), {None})

    def test_a_warning_says_that_there_are_no_values(self):
        """Also of a pipe: the program before it may have failed."""
        self.write("empty.f32", b"")
        for words in (["reduce"], ["histogram", "--range", "0:1"], ["reduce", "--histogram", "2",
                                                                    "--range", "0:1"]):
            for source in (["empty.f32"], ["-", "--dtype", "f4"]):
                done = self.succeed(*words, *source, "-q", stdin=subprocess.DEVNULL)
                self.check_message(done)
                warning, = self.json(*words, *source, stdin=subprocess.DEVNULL)["warnings"]
                self.assertEqual(done.stderr, f"ooc-run: warning: {warning}\n")
        self.write("x.f32", bytes(8))
        self.assertEqual(self.json("reduce", "x.f32", "--count", 0)["warnings"], [])

    def test_bins_that_are_given_hold_zeros(self):
        path = self.write("empty.f32", b"")
        for words in (("--range", "1:5", "--bins", 2), ("--edges", "1,3,5")):
            with self.subTest(words=words):
                expected = {"bins": 2, "lower": 1, "upper": 5, "edges": [1, 3, 5], "counts": [0, 0],
                            "below": 0, "above": 0, "nan": 0, "count": 0, "verified": True}
                found = self.json("histogram", path, *words, "--verify")["result"]
                self.assertEqual(found, expected)
                self.succeed("histogram", path, *words, "--explain")
                self.succeed("histogram", path, *words, "--plot", "x.svg", "--force")
                self.assertIn("2 bins from 1 to 5", Path(self.path("x.svg")).read_text())
        both = self.json("reduce", path, "--histogram", 2, "--range", "1:5", "--verify")["result"]
        self.assertEqual(both["histogram"], expected)
        self.assertEqual(both["sum"], 0)

    def test_for_people(self):
        path = self.write("empty.f32", b"")
        for command in ("histogram", "reduce"):
            self.assertIn("0 values of float32", self.succeed(command, path).stdout)
        table = self.succeed("reduce", path).stdout
        for name, value in (("count", "0"), ("nan", "0"), ("sum", "0"), ("min", "-"),
                            ("mean", "-")):
            self.assertRegex(table, rf"(?m)^  {name} +{value}$")
        bars = self.succeed("histogram", path, "--bins", 2, "--range", "1:5").stdout
        self.assertIn("2 bins from 1 to 5", bars)
        self.assertEqual(len(re.findall(r"(?m)^ +[135] [┌├].* 0$", bars)), 2, bars)


class NpyTest(CliTest):
    def npy(self, header, version=(1, 0), data=bytes(64), length=None):
        text = header.encode("latin1")
        size = len(text) if length is None else length
        form = "<H" if version[0] == 1 else "<I"
        return self.write("x.npy", b"\x93NUMPY" + bytes(version) + struct.pack(form, size) + text +
                          data)

    def test_a_good_one_is_read(self):
        path = self.npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4)}\n")
        self.assertEqual(self.json("reduce", path)["input"]["shape"], [4, 4])

    def test_hostile_headers(self):
        good = "{'descr': '<f4', 'fortran_order': False, 'shape': (16,)}\n"
        for name, make in {
                "unknown version": lambda: self.npy(good, (9, 0)),
                "header beyond the file": lambda: self.npy(good, length=60000),
                "header of 4 GiB": lambda: self.npy(good, (2, 0), length=0xffffffff),
                "cut off": lambda: self.write("x.npy", b"\x93NUMPY\x01"),
                "no dictionary": lambda: self.npy("import os\n"),
                "unclosed": lambda: self.npy("{'descr': '<f4', 'shape': (16,"),
                "no shape": lambda: self.npy("{'descr': '<f4', 'fortran_order': False}\n"),
                "objects": lambda: self.npy(good.replace("<f4", "|O")),
                "records": lambda: self.npy(good.replace("'<f4'", "[('a', '<f4')]")),
                "negative shape": lambda: self.npy(good.replace("16", "-16")),
                "shape that overflows": lambda: self.npy(good.replace("16", f"{2**62}, 16")),
                "shape beyond 64 bits": lambda: self.npy(good.replace("16", "9" * 40)),
                "more elements than bytes": lambda: self.npy(good.replace("16", "17")),
        }.items():
            with self.subTest(name):
                self.check_error(3, "reduce", make())

    def test_another_type_than_it_says(self):
        np.save(self.path("x.npy"), np.zeros(4, "f4"))
        self.check_error(3, "reduce", "x.npy", "--dtype", "i4")
        self.succeed("reduce", "x.npy", "--dtype", "f4")


class LimitTest(CliTest):
    def test_memory_too_small(self):
        path = self.write("x.f32", bytes(16 << 20))
        self.check_error(7, "reduce", path, "--device", "cpu", "--memory", "64K")

    def test_an_absent_gpu(self):
        path = self.write("x.f32", bytes(64))
        done = self.run_program("reduce", path, "--device", "cuda")
        if done.returncode == 0:
            self.skipTest("there is a GPU")
        self.refuse(8, "GPU|CUDA", "reduce", path, "--device", "cuda")
        self.refuse(8, "GPU|CUDA", "reduce", path, "--device", "cuda:3")

    def test_automatically_the_cpu_with_the_reason(self):
        path = self.write("x.f32", bytes(64))
        done = self.succeed("reduce", path, "--json")
        document = self.check_document(done.stdout)
        if document["run"]["device"] != "cpu":
            self.skipTest("there is a GPU")
        reason, = (text for text in document["run"]["reasons"] if text.startswith("CPU ("))
        self.assertNotIn(reason, done.stderr)
        self.assertIn(f"ooc-run: note: {reason}\n", self.succeed("reduce", path, "-v").stderr)

    @unittest.skipUnless(os.path.isdir("/dev/shm"), "no tmpfs")
    def test_direct_reads_where_there_is_no_disk(self):
        path = f"/dev/shm/ooc-cli-{os.getpid()}.f32"
        self.addCleanup(os.unlink, path)
        np.ones(1000, "f4").tofile(path)
        document = self.json("reduce", path)
        self.assertEqual(document["result"]["sum"], 1000)
        self.assertFalse(document["run"]["direct"])
        self.assertTrue(any("page cache" in text for text in document["run"]["reasons"]))
        self.refuse(2, "direct reads are not possible", "reduce", path, "--direct", "yes")


class ChangedInputTest(CliTest):
    """Tests changes to a file by other processes while it is read."""

    def has_open(self, process, path):
        folder = f"/proc/{process.pid}/fd"
        try:
            return any(os.path.realpath(f"{folder}/{name}") == path for name in os.listdir(folder))
        except OSError:
            return False

    def run_and_meanwhile(self, act, code, what, *words):
        """Stops the program after it has opened the file, calls `act`, and lets it continue. If the
        program ended before `act`, tries again with a larger file. (With sanitizers, even the first
        size is large enough.)"""
        size, deadline = 1 << 22, time.monotonic() + 120
        while time.monotonic() < deadline:
            size = min(4 * size, 1 << 28)
            for name in os.listdir(self.directory):
                os.unlink(self.path(name))
            path = self.write("x.u8", b"")
            os.truncate(path, size)
            process = self.start(*words)
            while process.poll() is None and not self.has_open(process, path):
                pass
            self.stop(process)
            act(path)
            process.send_signal(signal.SIGCONT)
            stdout, stderr = process.communicate(timeout=200)
            if process.returncode == code and what in stderr:
                break
        self.assertEqual(process.returncode, code, stderr)
        self.assertIn(what, stderr)
        return stdout, size

    def write_to(self, path):
        with open(path, "r+b") as file:
            file.write(b"x")

    def write_and_set_the_time_back(self, path):
        status = os.stat(path)
        self.write_to(path)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def test_is_noticed(self):
        changes = {
            self.write_to: "x.u8: changed while it was read\n  why:  another program wrote to it\n",
            self.write_and_set_the_time_back:
                "x.u8: changed while it was read\n  why:  its time of last change (ctime) moved",
            lambda path: os.truncate(path, os.path.getsize(path) + 1): "its size went from",
            lambda path: os.truncate(path, 1 << 20): "another program shortened it",
        }
        for act, what in changes.items():
            stdout, _ = self.run_and_meanwhile(act, 5, what, "reduce", "x.u8", "--json")
            self.assertEqual(stdout, "")

    def test_leaves_no_output(self):
        self.run_and_meanwhile(self.write_to, 5, "x.u8: changed while it was read", "convert",
                               "x.u8", "-o", "y.i8")
        self.assertEqual(os.listdir(self.directory), ["x.u8"])

    def test_another_name_link_or_mode_does_not_matter(self):
        def rename(path):
            os.rename(path, self.path("renamed"))

        def replace(path):
            os.rename(self.write("other", b"1"), path)

        def link(path):
            os.link(path, self.path("link"))

        def change_mode(path):
            os.chmod(path, 0o600 if os.stat(path).st_mode & 0o077 else 0o640)

        for act in (rename, replace, link, change_mode):
            stdout, size = self.run_and_meanwhile(
                act, 0, "note: x.u8: renamed, replaced or given other attributes meanwhile",
                "reduce", "x.u8", "--json")
            self.assertEqual(self.check_document(stdout)["result"]["count"], size)


if __name__ == "__main__":
    main()
