#!/usr/bin/env python3
"""Tests that a stream gives the same answer as the file, whatever way it comes."""

import array
import fcntl
import os
import signal
import struct
import subprocess
import termios
import threading
import zipfile

from cli_support import PROGRAM, CliTest, clean_environment, default_signals, main

import numpy as np


class StreamTest(CliTest):
    def piped(self, name):
        """Returns the end of a pipe that gives the bytes of a file."""
        cat = subprocess.Popen(["cat", self.path(name)], stdout=subprocess.PIPE)
        self.addCleanup(cat.wait)
        self.addCleanup(cat.stdout.close)
        return cat.stdout

    def fifo(self, name):
        """Returns a FIFO through which the bytes of a file come."""
        path = self.path("fifo")
        if not os.path.exists(path):
            os.mkfifo(path)

        def write():
            data = (self.directory / name).read_bytes()
            with open(path, "wb") as file:
                try:
                    file.write(data)
                except BrokenPipeError:
                    pass

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(writer.join)
        return "fifo"

    def shell(self, words):
        return subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=100,
                              cwd=self.directory, check=False,
                              env=clean_environment(OOC=PROGRAM))

    def ways(self, name):
        """Yields the document of each way in which a file can come."""
        yield "file", self.json("reduce", name)
        yield "pipe", self.json("reduce", "-", stdin=self.piped(name))
        with open(self.path(name), "rb") as file:
            yield "redirect", self.json("reduce", "-", stdin=file)
        yield "/dev/stdin", self.json("reduce", "/dev/stdin", stdin=self.piped(name))
        yield "FIFO", self.json("reduce", self.fifo(name))
        done = self.shell(f'"$OOC" reduce <(cat {name}) --json')
        self.assertEqual(done.returncode, 0, done.stderr)
        yield "<()", self.check_document(done.stdout)


class NpyTest(StreamTest):
    def test_one_answer_by_all_ways(self):
        random = np.random.default_rng(1)
        for values in (np.arange(5.), random.normal(size=(300, 70)).astype("f4"),
                      random.integers(-9, 9, (4, 5, 6)).astype(">i2"), np.zeros((0, 3), "u4"),
                      np.array(7, "i8"), random.integers(0, 2, 100).astype(bool),
                      random.normal(size=400_000)):
            np.save(self.path("x.npy"), values)
            found = dict(self.ways("x.npy"))
            whole = found.pop("file")
            for way, document in found.items():
                with self.subTest(way, shape=values.shape, dtype=values.dtype):
                    self.assertEqual(document["result"], whole["result"])
                    for key in ("format", "dtype", "type_reason", "shape", "count", "bytes"):
                        self.assertEqual(document["input"][key], whole["input"][key], key)

    def test_a_long_header(self):
        values = np.arange(100, dtype="u2")
        with open(self.path("x.npy"), "wb") as file:
            np.lib.format.write_array(file, values, version=(2, 0))
        data = (self.directory / "x.npy").read_bytes()
        text = data[12:-200].rstrip().ljust(20_000 - 1) + b"\n"
        self.write("x.npy", data[:8] + struct.pack("<I", len(text)) + text + data[-200:])
        for way, document in self.ways("x.npy"):
            self.assertEqual(document["result"]["sum"], values.sum(), way)

    def test_a_type_that_is_given(self):
        np.save(self.path("x.npy"), np.arange(5.))
        result = self.json("reduce", "-", "--dtype", "f8", stdin=self.piped("x.npy"))["result"]
        self.assertEqual(result["sum"], 10)
        for words in (("reduce", "-"), ("histogram", "-", "--range", "0:9")):
            self.check_error(3, *words, "--dtype", "f4", stdin=self.piped("x.npy"))
        raw = self.json("reduce", "-", "--dtype", "f8", "--input-format", "raw",
                        stdin=self.piped("x.npy"))["result"]
        self.assertEqual(raw["count"], 21)

    def test_a_member_of_an_archive(self):
        np.savez_compressed(self.path("x.npz"), a=np.arange(7.))
        with zipfile.ZipFile(self.path("x.npz")) as archive:
            self.write("a.npy", archive.read("a.npy"))
        done = self.shell('"$OOC" reduce <(cat a.npy) --json')
        self.assertEqual(self.check_document(done.stdout)["result"]["sum"], 21)

    def test_truncated(self):
        np.save(self.path("whole.npy"), np.arange(5000.))
        data = (self.directory / "whole.npy").read_bytes()
        for length in (3, 9, 60, 128, 135, 136, 10_000, len(data) - 1):
            self.write("x.npy", data[:length])
            self.check_error(3, "reduce", "x.npy")
            for words in (("reduce",), ("histogram", "--range", "0:9")):
                with self.subTest(length, words=words):
                    code = 2 if length == 3 else 3  # not even the magic bytes: of no type
                    self.check_error(code, *words, "-", stdin=self.piped("x.npy"))
        self.write("x.npy", data[:10_000])
        self.check_error(3, "reduce", "-", stdin=self.piped("x.npy"))

    def test_bytes_behind_the_array(self):
        values = np.arange(1000, dtype="f4")
        np.save(self.path("x.npy"), values)
        self.write("x.npy", (self.directory / "x.npy").read_bytes() + bytes(300_000))
        for way, document in self.ways("x.npy"):
            with self.subTest(way):
                self.assertEqual(document["result"]["sum"], values.sum())
                self.assertEqual(document["input"]["bytes_behind"], 300_000)
        done = self.succeed("reduce", "x.npy")
        self.assertIn("note: x.npy: 300,000 bytes behind the array, which are not read",
                      done.stderr)
        self.assertIn("behind it   300 KB", self.succeed("info", "x.npy").stdout)
        self.assertEqual(self.json("info", "x.npy")["input"]["bytes_behind"], 300_000)
        self.succeed("convert", "x.npy", "-o", "y.npy")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), values)

    def test_fortran_order_is_as_in_files(self):
        np.save(self.path("x.npy"), np.arange(12.).reshape(3, 4).T)
        file = self.run_program("reduce", "x.npy", "--json")
        stream = self.run_program("reduce", "-", "--json", stdin=self.piped("x.npy"))
        self.assertEqual(stream.returncode, file.returncode)

    def test_two_passes_need_a_range(self):
        np.save(self.path("x.npy"), np.arange(5.))
        self.check_error(2, "histogram", "-", stdin=self.piped("x.npy"))
        self.check_error(2, "histogram", self.fifo("x.npy"))

    def test_bfloat16(self):
        values = np.arange(100, dtype="f4")
        np.save(self.path("x.npy"), (values.view("u4") >> 16).astype("u2").view("V2"))
        for way in ("x.npy", "-"):
            stdin = self.piped("x.npy") if way == "-" else None
            document = self.json("reduce", way, "--dtype", "bf16", stdin=stdin)
            self.assertEqual(document["result"]["sum"], values.sum())
            self.assertEqual(document["input"]["dtype"], "<bf16")
        self.check_error(3, "reduce", "x.npy")
        self.check_error(3, "reduce", "x.npy", "--dtype", "f2")


class RawTest(StreamTest):
    def test_a_fifo_is_read_once(self):
        self.write("x.f32", np.arange(100_000, dtype="f4"))
        same = self.json("reduce", "x.f32")["result"]
        document = self.json("reduce", self.fifo("x.f32"), "--dtype", "f4")
        self.assertEqual(document["result"], same)
        self.assertEqual(document["input"]["files"], [{"path": "fifo", "bytes": 400_000}])

    def test_what_a_fifo_cannot_do(self):
        os.mkfifo(self.path("fifo"))
        self.write("x.f32", bytes(8))
        for words in (("reduce", "fifo", "--explain"), ("reduce", "fifo", "--verify"),
                      ("reduce", "fifo", "x.f32"), ("info", "fifo"),
                      ("convert", "fifo", "-o", "y.npy")):
            with self.subTest(words=words):
                self.check_error(2, *words, "--dtype", "f4")

    def test_nothing_says_its_type(self):
        self.write("x.bin", bytes(100))
        self.check_error(2, "reduce", "-", stdin=self.piped("x.bin"))
        self.check_error(2, "reduce", self.fifo("x.bin"))

    def test_an_interrupt_before_it_is_known_what_comes(self):
        reading, writing = os.pipe()
        os.write(writing, bytes(80))
        process = subprocess.Popen([PROGRAM, "reduce", "-", "--dtype", "f4", "--json"],
                                   stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=clean_environment(), preexec_fn=default_signals)
        self.addCleanup(process.kill)
        left = array.array("i", [80])
        while left[0] != 0 and process.poll() is None:
            fcntl.ioctl(reading, termios.FIONREAD, left)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        os.close(reading)
        os.close(writing)
        self.assertEqual(process.returncode, 130, stderr)


if __name__ == "__main__":
    main()
