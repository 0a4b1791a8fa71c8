#!/usr/bin/env python3
"""Input that cannot be used: each with its own message and exit code, and nothing on stdout."""

import gzip
import os
import re
import signal
import struct
import subprocess
import unittest
from pathlib import Path

from cli_support import PROGRAM, CliTest, clean_environment, main

import numpy as np

NVIDIA_DRIVER = "/proc/driver/nvidia/version"


class FileTest(CliTest):
    def test_missing_file(self):
        self.refuse(4, r"missing.f32: .*No such file or directory \(ENOENT\)", "reduce",
                    "missing.f32")

    def test_not_a_file(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        for name in ("folder", "fifo", "/dev/null"):
            with self.subTest(name=name):
                self.refuse(3, name, "reduce", name)

    def test_standard_input(self):
        self.refuse(3, "standard input is not supported", "histogram", "-", hint="save it")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_no_permission(self):
        path = self.write("x.f32", bytes(8))
        os.chmod(path, 0)
        self.refuse(4, r"x.f32: .*Permission denied \(EACCES\)", "reduce", path)

    def test_odd_size(self):
        self.refuse(3, "x.f32", "reduce", self.write("x.f32", bytes(10)))

    def test_parts_beyond_the_file(self):
        path = self.write("x.f32", bytes(80))
        self.refuse(3, "x.f32", "reduce", path, "--offset", 100)
        self.refuse(3, "only 20 elements, not the 21", "reduce", path, "--count", 21)
        self.refuse(3, "x.f32", "reduce", path, "--offset", 3)

    def test_files_that_do_not_fit_together(self):
        one = self.write("a.f32", bytes(16))
        two = self.write("b.f64", bytes(16))
        self.refuse(3, "b.f64", "reduce", one, two)

    def test_data_without_a_range(self):
        path = self.write("x.f8", np.array([np.nan, np.inf, -np.inf]))
        self.refuse(3, "no finite value", "histogram", path, "--dtype", "f8")
        path = self.write("huge.f64", np.array([1e300, 1e300]))
        self.refuse(3, "no bins fit into the range", "histogram", path, hint="--range")


class EmptyTest(CliTest):
    def test_an_empty_file_has_no_elements(self):
        path = self.write("empty.f32", b"")
        zeros = ("count", "below", "above", "nan")
        for words in ((), ("--dtype", "u1"), ("--log-bins",)):
            result = self.json("histogram", path, *words)["result"]
            self.assertEqual([result.pop(name) for name in zeros], [0, 0, 0, 0])
            self.assertEqual(set(result.values()), {None})
        result = self.json("reduce", path)["result"]
        self.assertEqual([result.pop(name) for name in ("count", "nan", "sum")], [0, 0, 0])
        self.assertEqual(set(result.values()), {None})

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
                "Fortran order": lambda: self.npy(
                    good.replace("False", "True").replace("(16,)", "(4, 4)")),
                "negative shape": lambda: self.npy(good.replace("16", "-16")),
                "shape that overflows": lambda: self.npy(good.replace("16", f"{2**62}, 16")),
                "shape beyond 64 bits": lambda: self.npy(good.replace("16", "9" * 40)),
                "more elements than bytes": lambda: self.npy(good.replace("16", "17")),
        }.items():
            with self.subTest(name):
                self.refuse(3, "x.npy", "reduce", make())

    def test_another_type_than_it_says(self):
        np.save(self.path("x.npy"), np.zeros(4, "f4"))
        self.refuse(3, "x.npy", "reduce", "x.npy", "--dtype", "i4")
        self.succeed("reduce", "x.npy", "--dtype", "f4")


class LimitTest(CliTest):
    def test_memory_too_small(self):
        path = self.write("x.f32", bytes(16 << 20))
        self.refuse(7, "needs at least .* the limit is 65536", "reduce", path, "--device", "cpu",
                    "--memory", "64K")

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
        reasons = [text for text in document["run"]["reasons"] if "computing on the CPU: " in text]
        self.assertEqual(len(reasons), 1)
        # Nobody has hoped for a GPU where there can be none.
        worth_a_note = "without CUDA" not in reasons[0] or os.path.exists(NVIDIA_DRIVER)
        self.assertEqual(f"ooc-run: note: {reasons[0]}\n" in done.stderr, worth_a_note)

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


class DoubtfulTypeTest(CliTest):
    """Raw data that are read as bytes for want of a type, and look like something else."""

    def doubt(self, *words):
        """The one note about it, which is in the document too."""
        words = [*words, "--device", "cpu", "--direct", "no", "--force"]
        done = self.succeed(*words)
        document = self.json(*words)
        self.assertEqual([f"ooc-run: note: {text}" for text in document["run"]["reasons"]],
                         done.stderr.splitlines())
        self.assertNotIn("note", done.stdout)
        self.assertEqual(self.succeed(*words, "--quiet").stderr, "")
        self.assertEqual(self.succeed(*words, "--dtype", "u1").stderr, "")
        return "".join(document["run"]["reasons"])

    def test_endings_that_count_bytes(self):
        for ending, word, name in (("f4", "f4", "float32"), ("float16", "f2", "float16"),
                                   ("i2", "i2", "int16")):
            self.write(f"x.{ending}", bytes(96))
            self.assertEqual(self.doubt("reduce", f"x.{ending}"),
                             f"x.{ending}: read as bytes, for .{ending} is no ending that names a "
                             f"type; --dtype {word} reads {name}")

    def test_other_formats(self):
        np.savez(self.path("x.npz"), a=np.arange(10))
        self.write("x.gz", gzip.compress(bytes(1000)))
        for name, what in (("x.npz", "zip (as .npz is)"), ("x.gz", "gzip")):
            for words in (["histogram", name], ["reduce", name],
                          ["convert", name, "-o", "y.f32"]):
                self.assertEqual(self.doubt(*words), f"{name}: begins like {what}, but is read as "
                                                     "bytes; ooc-run info says more")

    def test_text(self):
        self.write("x.csv", "".join(f"{i},{i / 7:.3f}\n" for i in range(1000)).encode())
        self.assertEqual(self.doubt("reduce", "x.csv"),
                         "x.csv: looks like text, whose bytes are read, not its numbers")

    def test_floats(self):
        data = np.random.default_rng(4).normal(size=10_000)
        self.write("x.bin", data.astype("f4"))
        self.write("x.dat", data.astype(">f8"))
        self.assertEqual(self.doubt("reduce", "x.bin"),
                         "x.bin: looks like float32, but is read as bytes; --dtype f4 reads it so")
        self.assertIn("--dtype '>f8' reads it so", self.doubt("reduce", "x.dat"))
        self.assertIn("looks like float32, but is read as bytes",
                      self.json("reduce", "x.bin", "--explain")["result"]["plan"]["reasons"][0])

    def test_another_type_than_the_ending_names(self):
        self.write("x.f32", np.arange(64, dtype="f4"))
        words = ("reduce", "x.f32", "--device", "cpu", "--direct", "no", "--dtype")
        self.assertEqual(self.succeed(*words, "f8").stderr,
                         "ooc-run: note: x.f32: read as float64, as asked; the ending says "
                         "float32\n")
        self.assertEqual(self.succeed(*words, "f4").stderr, "")

    def test_no_doubt(self):
        random = np.random.default_rng(5)
        zip_file = b"PK\x03\x04" + bytes(1000)
        for name, data in (("x.u8", zip_file), ("x.i16", zip_file),
                           ("x.u1", bytes(1000)), ("zeros.bin", bytes(100_000)),
                           ("noise.bin", random.bytes(100_000)), ("empty", b""),
                           ("photo.raw", random.normal(120, 30, 90_000).clip(0, 255).astype("u1")),
                           ("ramp", np.arange(100_000).astype("u1"))):
            self.write(name, data)
            done = self.succeed("reduce", name, "--device", "cpu", "--direct", "no")
            self.assertEqual(done.stderr, "", name)


class ChangedInputTest(CliTest):
    """What others do to a file while it is read."""

    def has_open(self, process, path):
        folder = f"/proc/{process.pid}/fd"
        try:
            return any(os.path.realpath(f"{folder}/{name}") == path for name in os.listdir(folder))
        except OSError:
            return False

    def run_and_meanwhile(self, act, code, what, *words):
        """Stops the program when it has just opened the file, and lets it go on after `act`. If it
        was done by then, that is no test: there are several tries for what is expected, with larger
        files. (Sanitizers take their time even for the first.)"""
        for size in (1 << 24, 1 << 26, 1 << 28, 1 << 28, 1 << 28):
            for name in os.listdir(self.directory):
                os.unlink(self.path(name))
            path = self.write("x.u8", b"")
            os.truncate(path, size)
            process = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.directory,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=clean_environment())
            while process.poll() is None and not self.has_open(process, path):
                pass
            process.send_signal(signal.SIGSTOP)
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

    def test_is_noticed(self):
        changes = {
            self.write_to: "x.u8: changed while it was read\n  why:  another program wrote to it\n",
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

    def test_another_name_does_not_matter(self):
        def rename(path):
            os.rename(path, self.path("renamed"))

        def replace(path):
            os.rename(self.write("other", b"1"), path)

        for act in (rename, replace):
            stdout, size = self.run_and_meanwhile(
                act, 0, "note: x.u8: renamed, replaced or given other attributes meanwhile",
                "reduce", "x.u8", "--json")
            self.assertEqual(self.check_document(stdout)["result"]["count"], size)


if __name__ == "__main__":
    main()
