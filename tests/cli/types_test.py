#!/usr/bin/env python3
"""Tests the types of raw data: defaults, refusals and warnings about doubtful types. Also compares
the types of .npy headers with NumPy."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import struct
import tarfile
import warnings

from cli_support import CliTest, main

import numpy as np


class HeaderTypeTest(CliTest):
    """Tests that a type in a .npy header has the meaning that NumPy gives it, or is refused."""

    CODES = ("b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 ? b B h H i I q Q e f d bool int8 int16 int32 "
             "int64 uint8 uint16 uint32 uint64 float16 float32 float64").split()
    # Types that NumPy refuses or that ooc-run does not support.
    NONE = ("i3 i16 u u16 f f1 f32 f64 f128 g G F D S1 a U4 V2 O c8 c16 m8 M8[s] bf16 bfloat16 "
            "b2 ?1 B1 F4 Float32 complex64 float128 str object void unsigned f4x f+4").split()

    def write_npy(self, descr):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}".encode()
        size = 2 * self.numpy_type(descr).itemsize if self.numpy_type(descr) else 16
        self.write("x.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header +
                   bytes(size))

    def numpy_type(self, descr):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return np.dtype(descr)
        except TypeError:
            return None

    def test_types_are_those_of_numpy(self):
        for order, code in itertools.product(("", "<", ">", "=", "|"), self.CODES):
            descr = order + code
            self.write_npy(descr)
            theirs = self.numpy_type(descr)
            with self.subTest(descr):
                if theirs is None:
                    self.refuse(3, f"its type '.{code}' is not known", "info", "x.npy")
                    continue
                expected = "|u1" if theirs == bool else theirs.str
                self.assertEqual(self.json("info", "x.npy")["input"]["dtype"], expected)

    def test_what_numpy_refuses_is_refused(self):
        for order, code in itertools.product(("", "<", "|"), self.NONE):
            descr = order + code
            theirs = self.numpy_type(descr)
            if theirs is not None and theirs.kind in "biuf" and theirs.itemsize <= 8:
                continue
            self.write_npy(descr)
            with self.subTest(descr):
                self.check_error(3, "info", "x.npy")

    def test_booleans_are_zero_and_one(self):
        np.save(self.path("x.npy"), np.array([True, False, True]))
        document = self.json("reduce", "x.npy")
        self.assertEqual(document["result"]["sum"], 2)
        self.assertEqual(document["input"]["type_reason"], "from its header: bool, 0 or 1")
        self.assertIn("3 values of uint8 (from its header: bool, 0 or 1)",
                      self.succeed("reduce", "x.npy").stdout)


class NoNumbersTest(CliTest):
    """Tests that files of other formats are refused, unless their bytes are meant."""

    def setUp(self):
        super().setUp()
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("x.npy"))
        self.formats = {
            "gzip": gzip.compress(bytes(1000)), "bzip2": bz2.compress(bytes(1000)),
            "xz": lzma.compress(bytes(1000)), "Zstandard": b"\x28\xb5\x2f\xfd" + bytes(100),
            "zip": b"PK\x03\x04" + bytes(100), "tar": buffer.getvalue(),
            "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
            "Parquet": b"PAR1\x15\x04\x15\x80" + bytes(96),
            "ELF": b"\x7fELF\x02\x01\x01" + bytes(97),
            "WAVE": bytes.fromhex("726966662e91cf11a5d628db04c10000") + bytes(100),
            "text": b"1.5,2\n2.5,3\n",
        }

    def test_refused_by_all_commands(self):
        for ending, word in (("bin", "u1"), ("f32", "f4"), ("u8", "u1")):
            for what, data in self.formats.items():
                if (what, ending) == ("text", "u8"):
                    continue  # a file of bytes may look like text
                name = f"x.{ending}"
                self.write(name, data + bytes(-len(data) % 4 if what != "text" else 0))
                for words in (["histogram"], ["reduce"], ["reduce", "--explain"],
                              ["convert", "-o", "y.npy"]):
                    with self.subTest(what, words=words, ending=ending):
                        hint = f"--dtype {word} .reads its bytes" if what == "text" else "--offset"
                        self.refuse(3, f"{name}: looks like {what}", *words, name, "--quiet",
                                    hint=hint + ".* or --input-format raw$")
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.bin", "x.f32", "x.u8"])

    def test_what_to_do(self):
        for name, what in (("x.f32", "gzip"), ("x.tar", "tar"), ("x.zip", "zip"),
                           ("x.csv", "text")):
            self.write(name, self.formats[what])
            self.check_error(3, "reduce", name)

    def test_an_operand_of_a_product(self):
        self.write("a.f32", self.formats["zip"])
        np.save(self.path("b.npy"), np.ones((2, 2), "f4"))
        words = ("--shape-a", "13x2", "-o", "c.npy")
        self.check_error(3, "matmul", "a.f32", "b.npy", *words)
        self.check_error(3, "matmul", "b.npy", "a.f32", "--shape-b", "2x13", "--explain")

    def test_one_of_several_files(self):
        self.write("a.bin", np.arange(99, dtype="u1"))
        self.write("b.bin.gz", self.formats["gzip"])
        self.check_error(3, "reduce", "a.bin", "b.bin.gz")
        self.write("a.f32", bytes(8))  # a file of another type
        self.check_error(3, "reduce", "a.f32", "b.bin.gz")

    def test_of_another_size_than_that_of_numbers(self):
        for size in (1001, 1002, 1003, 1004):
            self.write("x.f32", self.formats["zip"].ljust(size, b"\0"))
            self.check_error(3, "reduce", "x.f32")
        self.write("x.f32", bytes(1001))
        self.check_error(3, "reduce", "x.f32")

    def test_read_where_that_is_asked_for(self):
        for what, data in self.formats.items():
            self.write("x.bin", data)
            for words in (["--input-format", "raw", "--dtype", "u1"], ["--offset", "1"]):
                with self.subTest(what, words=words):
                    count = len(data) - (words[0] == "--offset")
                    self.assertEqual(self.json("reduce", "x.bin", *words)["result"]["count"], count)
            if what == "text":
                self.assertEqual(self.json("reduce", "x.bin", "--dtype", "u1")["result"]["count"],
                                 len(data))
            else:  # whether ooc-describe-hdf5 is there or not
                self.check_error(3, "reduce", "x.bin", "--dtype", "u1",
                                 env={"OOC_DESCRIBE_HDF5": "/nowhere"})
            if what != "HDF5":
                self.assertIn("x.bin", self.succeed("info", "x.bin").stdout)

    def test_text_of_all_kinds(self):
        for text in ("1\n2\n3\n", "a\tb\n" * 1000, "größe 1 µm\n" * 99, "温度\n1\n" * 99,
                     '{"a": [1, 2, 3]}\n', "[" + "1," * 1000 + "1]"):
            self.write("x.txt", text.encode())
            self.check_error(3, "reduce", "x.txt")

    def test_integers_that_look_like_text(self):
        pixels = np.random.default_rng(6).normal(80, 12, 100_000).clip(32, 126).astype("u1")
        pixels[0] = ord("<")  # like the beginning of markup
        for name in ("image.u8", "image.i8", "image.u16"):
            self.write(name, pixels)
            self.assertEqual(self.json("reduce", name)["warnings"], [], name)
            self.assertIn("would be read by", self.succeed("info", name).stdout)
        self.write("image.bin", pixels)
        self.check_error(3, "reduce", "image.bin")
        self.assertNotIn("would be read by", self.succeed("info", "image.bin").stdout)

    def test_numbers_that_are_letters_too(self):
        """Short data, bytes of one value and bytes without a blank are not taken for text."""
        for data in (b"abc", b"\n" * 4096, b"ACGT" * 1000, bytes(range(40, 90)) * 99,
                     np.full(999, 12.1, "f4").tobytes(), b"ab\n\x01"):
            self.write("x.bin", data)
            self.assertEqual(self.json("reduce", "x.bin")["result"]["count"], len(data))


class DoubtfulTypeTest(CliTest):
    """Tests warnings about raw data of an uncertain type that look like another type."""

    @staticmethod
    def warnings_in(stderr):
        return [line for line in stderr.splitlines() if line.startswith("ooc-run: warning: ")]

    def doubt(self, *words):
        """Checks the warnings, and that JSON, --quiet and --explain have them too."""
        words = [*words, "--device", "cpu", "--direct", "no", "--force"]
        done = self.succeed(*words)
        document = self.json(*words)
        self.assertEqual([f"ooc-run: warning: {text}" for text in document["warnings"]],
                         self.warnings_in(done.stderr))
        self.assertNotIn("warning", done.stdout)
        self.assertEqual(self.succeed(*words, "--quiet").stderr.splitlines(),
                         self.warnings_in(done.stderr))
        # Only the statistics, which --explain does not compute, show that they are NaN.
        doubts = [text for text in document["warnings"] if "the statistics" not in text]
        self.assertEqual(self.json(*words, "--explain")["warnings"], doubts)
        self.assertEqual(len(doubts), 1)
        self.check_message(done, "".join(f"{line}\n" for line in self.warnings_in(done.stderr)))

    def test_an_ending_that_may_count_bytes(self):
        self.write("x.f8", bytes(96))
        self.doubt("reduce", "x.f8")

    def test_endings_in_other_words(self):
        for ending, name in (("f4", "float32"), ("float16", "float16"), ("half", "float16"),
                             ("pcm", "int16"), ("i2", "int16"), ("float32", "float32")):
            self.write(f"x.{ending}", bytes(96))
            done = self.succeed("reduce", f"x.{ending}", "--device", "cpu", "--direct", "no")
            self.assertIn(f" of {name} (from .{ending})\n", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_bits_or_bytes(self):
        for code, kind in (("u8", "uint"), ("i8", "int")):
            name = f"x.{code}"
            self.write(name, bytes(96))
            self.assertIn(f"{kind}8 (from .{code})", self.succeed("reduce", name).stdout)
            for words in (["reduce"], ["info"], ["convert", "-o", "y.npy"]):
                self.check_error(2, *words, name, "--dtype", code)
            self.assertEqual(self.json("reduce", name, "--dtype", kind + "64")["result"]["count"],
                             12)
            self.assertEqual(self.json("reduce", name, "--dtype", kind + "8")["result"]["count"],
                             96)

    def test_short_names_in_bits(self):
        self.write("x.bin", np.arange(24, dtype=">u2"))
        result = self.json("reduce", "x.bin", "--dtype", ">u16")["result"]
        self.assertEqual((result["count"], result["max"]), (24, 23))

    def test_the_other_byte_order(self):
        random = np.random.default_rng(6)
        for ending, data in (("f32", random.normal(size=9000).astype(">f4")),
                             ("f64", random.normal(size=9000).astype(">f8")),
                             ("i32", random.integers(-99, 99, 9000).astype(">i4")),
                             ("u64", np.arange(9000, dtype=">u8"))):
            name = f"x.{ending}"
            self.write(name, data)
            self.doubt("reduce", name)
            self.assertEqual(self.json("reduce", name, "--dtype", data.dtype.str)["warnings"], [])

    def test_another_width(self):
        self.write("x.f32", np.random.default_rng(6).normal(size=9000))
        self.doubt("reduce", "x.f32")

    def test_operands_of_a_product(self):
        data = np.random.default_rng(6).normal(size=(64, 64)).astype(">f4")
        self.write("x.f32", data)
        np.save(self.path("y.npy"), np.eye(64, dtype="f4"))
        words = ("matmul", "x.f32", "y.npy", "--shape-a", "64x64", "-o", "z.npy", "--force")
        for document in (self.json(*words), self.json(*words, "--explain")):
            self.assertRegex("".join(document["warnings"]), "^x.f32: looks like float32, bytes")
        self.assertRegex(self.succeed(*words, "--quiet").stderr,
                         "^ooc-run: warning: x.f32: looks .*$")

    def test_text_behind_an_offset(self):
        self.write("x.csv", "".join(f"{i},{i / 7:.3f}\n" for i in range(1000)).encode())
        self.doubt("reduce", "x.csv", "--offset", "8")

    def test_numbers_that_nothing_says(self):
        data = np.random.default_rng(4).normal(size=10_000)
        self.write("x.bin", data.astype("f4"))
        self.write("x.dat", data.astype(">f8"))
        for words in ([], ["--explain"], ["--quiet"]):
            self.check_error(2, "reduce", "x.bin", *words)
            self.check_error(2, "reduce", "x.dat", *words)

    def test_an_ending_that_means_bytes_here(self):
        for code, kind in (("u8", "uint"), ("i8", "int")):
            self.write(f"x.{code}", np.arange(10_000, dtype=code))
            for words in (["reduce"], ["convert", "--to", "f8", "-o", "y.npy"]):
                self.check_error(2, *words, f"x.{code}")
            self.assertEqual(self.json("reduce", f"x.{code}", "--dtype", f"{kind}8")["result"]
                             ["count"], 80_000)

    def test_times_that_nothing_says(self):
        """The lowest bytes of times are multiples of something, or 0."""
        for unit, start in (10**9, 1_700_000_000 * 10**9), (10**6, 1_700_000_000 * 10**6), \
                           (1, 1_700_000_000):
            for step, order in itertools.product((1, 60, 3600), "<>"):
                self.write("x.dat", (start + step * unit * np.arange(50_000)).astype(order + "i8"))
                with self.subTest(unit=unit, step=step, order=order):
                    self.check_error(2, "reduce", "x.dat")

    def test_another_type_than_the_ending_names(self):
        self.write("x.f32", np.arange(64, dtype="f4"))
        words = ("reduce", "x.f32", "--device", "cpu", "--direct", "no", "--dtype")
        self.check_message(self.succeed(*words, "f8"))
        self.assertEqual(self.succeed(*words, "f4").stderr, "")

    def test_no_doubt(self):
        random = np.random.default_rng(5)
        for name, data in (("x.u1", bytes(1000)), ("x.f32", random.normal(size=9000).astype("f4")),
                           ("tiny.f32", (random.normal(size=9000) * 1e-20).astype("f4")),
                           ("x.f16", random.normal(size=9000).astype("f2")),
                           ("x.i16", (random.normal(size=9000) * 3000).astype("i2")),
                           ("x.u32", random.integers(0, 2**32, 9000, "u4")),
                           ("nan.f64", np.full(9000, np.nan)), ("zeros.bin", bytes(100_000)),
                           ("noise.bin", random.bytes(100_000)), ("empty", b""),
                           ("photo.raw", random.normal(120, 30, 90_000).clip(0, 255).astype("u1")),
                           ("ramp", np.arange(100_000).astype("u1"))):
            self.write(name, data)
            done = self.succeed("reduce", name, "--device", "cpu", "--direct", "no")
            warnings = self.warnings_in(done.stderr)
            others = ("the statistics", "no values")
            self.assertEqual([text for text in warnings
                              if not any(words in text for words in others)], [], name)


if __name__ == "__main__":
    main()
