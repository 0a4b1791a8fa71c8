#!/usr/bin/env python3
"""Tests generated data: the known answers, which must be the same on every machine."""

import os

from cli_support import CliTest, main

import numpy as np

CODES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]
PATTERNS = ["uniform", "normal", "sequence", "constant", "zipf", "position"]
WORD = 2**64 - 1
STEP = 0x9e3779b97f4a7c15


def mix(word):
    """Applies the finaliser of splitmix64 (generator.hpp)."""
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9 & WORD
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb & WORD
    return word ^ (word >> 31)


def random_words(seed, count):
    base = mix(seed + STEP & WORD)
    return np.array([mix(base + (place + 1) * STEP & WORD) for place in range(count)], "<u8")


class GenTest(CliTest):
    def gen(self, *words, name="x.bin"):
        return self.json("gen", "-o", name, "--force", *words)["result"]

    def checksum(self, name="x.bin"):
        type_of_bytes = ["--dtype", "u1"] if name.endswith(".bin") else []
        return self.json("reduce", name, *type_of_bytes,
                         "--checksum")["input"]["checksum_xxh3_128"]

    def test_uniform_is_what_it_says(self):
        """An independent implementation of the definition generates the same bytes."""
        words = random_words(7, 101)
        self.gen("--seed", 7, "--count", 808)
        self.assertEqual(np.fromfile(self.path("x.bin"), "<u8").tolist(), words.tolist())
        self.gen("--seed", 7, "--count", 202, "--dtype", "f4")
        wanted = (words.view("<u4") >> 8).astype("f4") / np.float32(2**24)
        self.assertEqual(np.fromfile(self.path("x.bin"), "<f4").tolist(), wanted.tolist())
        self.gen("--seed", 7, "--count", 101, "--dtype", ">f8")
        wanted = (words >> 11).astype("f8") / 2**53
        self.assertEqual(np.fromfile(self.path("x.bin"), ">f8").tolist(), wanted.tolist())

    def test_sums_and_checksums(self):
        for code in CODES:
            for pattern in PATTERNS:
                with self.subTest(code=code, pattern=pattern):
                    result = self.gen("--dtype", code, "--pattern", pattern, "--count", 1001)
                    data = np.fromfile(self.path("x.bin"), code)
                    self.assertEqual(data.size, 1001)
                    self.assertEqual(result["bytes"], data.nbytes)
                    self.assertEqual(result["checksum_xxh3_128"], self.checksum())
                    if code[0] == "f" and pattern == "position":
                        self.assertIsNone(result["sum"])
                        continue
                    numerators = [int(float(value) * result["sum_denominator"])
                                  if code[0] == "f" else value for value in data.tolist()]
                    self.assertEqual(result["sum_numerator"], sum(numerators))
                    exact = result["sum_numerator"] / result["sum_denominator"]
                    self.assertEqual(result["sum"], exact if code[0] == "f" else sum(numerators))

    def test_reduce_finds_the_sum(self):
        wanted = self.gen("--dtype", "i8", "--count", "100000", name="x.i64")["sum"]
        self.assertEqual(self.json("reduce", "x.i64")["result"]["sum"], wanted)

    def test_many_threads_make_the_same_file(self):
        answers, contents = set(), set()
        for threads in (1, 2, 5):
            result = self.gen("--size", "20M", "--pattern", "normal", "--dtype", "f4",
                              "--threads", threads)
            answers.add((result["sum"], result["checksum_xxh3_128"]))
            with open(self.path("x.bin"), "rb") as file:
                contents.add(file.read())
        self.assertEqual((len(answers), len(contents)), (1, 1))

    def test_seeds_make_other_data(self):
        self.assertNotEqual(self.gen("--count", 100, "--seed", 1)["checksum_xxh3_128"],
                            self.gen("--count", 100, "--seed", 2)["checksum_xxh3_128"])

    def test_numpy_reads_npy(self):
        for code in ("<f4", ">i2", "|u1", "<f8"):
            result = self.gen("--dtype", code, "--count", 1003, name="x.npy")
            data = np.load(self.path("x.npy"), mmap_mode="r")
            self.assertEqual((data.dtype.str, data.shape, data.offset), (code, (1003,), 4096))
            self.assertAlmostEqual(float(data.astype("f8").sum()), result["sum"], 6)
            self.assertEqual(result["checksum_xxh3_128"], self.checksum("x.npy"))
            self.assertEqual(self.json("reduce", "x.npy")["input"]["dtype"], code)

    def test_the_ending_names_the_type(self):
        for name, code in {"x.f32": "<f4", "x.u8": "|u1", "x.i16": "<i2", "x.f64": "<f8",
                           "x.bf16": "<bf16", "x.npy": "<f4", "x.dat": "|u1"}.items():
            self.assertEqual(self.gen("--count", 3, name=name)["dtype"], code)
            self.assertEqual(self.json("reduce", name)["input"]["dtype"], code)
        self.check_error(2, "gen", "-o", "y.f32", "--dtype", "f8", "--count", 3)
        self.check_error(2, "gen", "-o", "y.npy", "--dtype", "bf16", "--count", 3)

    def test_endings_in_capitals_and_of_no_type(self):
        self.succeed("gen", "-o", "X.NPY", "--count", 9)
        self.assertEqual(np.load(self.path("X.NPY")).dtype, "f4")
        self.succeed("gen", "-o", "X.F64", "--count", 9)
        self.assertEqual(os.path.getsize(self.path("X.F64")), 9 * 8)
        self.assertIn("9 values of float64", self.succeed("reduce", "X.F64").stdout)
        self.check_error(2, "gen", "-o", "x.f80", "--count", 9)
        self.check_error(2, "gen", "-o", "x.CSV", "--count", 9)

    def test_constants(self):
        result = self.gen("--pattern", "constant", "--value", "-5", "--dtype", "i2", "--count", 9)
        self.assertEqual(result["sum"], -45)
        self.assertEqual(np.fromfile(self.path("x.bin"), "i2").tolist(), [-5] * 9)
        self.check_error(2, "gen", "-o", "y.bin", "--pattern", "constant", "--value", 300,
                         "--count", 9)
        self.check_error(2, "gen", "-o", "y.bin", "--value", 3, "--count", 9)

    def test_how_much(self):
        self.check_error(2, "gen", "-o", "y.bin")
        self.check_error(2, "gen", "-o", "y.bin", "--size", 8, "--count", 8)
        self.check_error(2, "gen", "-o", "y.f32", "--size", 10)
        self.check_error(2, "gen", "-o", "y.bin", "--size=-1")
        self.assertEqual(self.gen("--size", 0)["count"], 0)
        self.assertEqual(os.listdir(self.directory), ["x.bin"])

    def test_existing_files_are_replaced_only_by_force(self):
        path = self.write("x.bin", b"precious")
        self.check_error(6, "gen", "-o", path, "--size", 4)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.succeed("gen", "-o", path, "--size", 4, "--force")
        self.assertEqual(os.path.getsize(path), 4)

    def test_places_that_cannot_be_written(self):
        self.check_error(6, "gen", "-o", "missing/x.bin", "--size", 4)
        self.check_error(6, "gen", "-o", ".", "--size", 4)
        self.refuse(6, "x.bin: ", "gen", "-o", "x.bin", "--size", "1000000T")
        self.assertEqual(os.listdir(self.directory), [])

    def test_for_people(self):
        text = self.succeed("gen", "-o", "x.f32", "--count", 1000).stdout
        self.assertRegex(text, r"^x\.f32: 1,000 values of float32, uniform, seed 0\n\n"
                               r"  sum       \d+\.\d+  \(exactly [\d,]+ / 2\^24\)\n"
                               rf"  checksum  xxh3-128 {self.checksum('x.f32')}\n\n4\.00 KB")


if __name__ == "__main__":
    main()
