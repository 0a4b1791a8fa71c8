#!/usr/bin/env python3
"""Tests ooc-run gram and cov: their files against NumPy, and what they refuse."""

import os

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(5)
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", ">f4", ">i2")


class GramTest(CliTest):
    def matrix(self, command, *words, output="y.npy"):
        """Runs a command; returns the matrix written, which the document describes."""
        result = self.json(command, *words, "-o", output, "--force", "--verify")["result"]
        found = np.load(self.path(output))
        self.assertEqual(found.shape, (result["columns"], result["columns"]))
        self.assertEqual(found.dtype, "<f8")
        self.assertEqual(result["bytes_written"], found.nbytes)
        self.assertIs(result["verified"], True)
        self.assertEqual(found.tobytes(), found.T.tobytes())
        return found

    def compare(self, rows, *words):
        """Compares both matrices of a file with those of NumPy."""
        values = rows.astype("f8")
        bound = np.abs(values).T @ np.abs(values) * 2.0**-46
        error = np.abs(self.matrix("gram", *words) - values.T @ values)
        self.assertTrue(np.all(error <= bound), (error, bound))
        expected = np.cov(values, rowvar=False).reshape(error.shape)
        spread = np.sqrt(np.diag(expected))
        error = np.abs(self.matrix("cov", *words) - expected)
        self.assertTrue(np.all(error <= np.outer(spread, spread) * 1e-12), error)

    def test_every_type(self):
        for dtype in TYPES:
            rows = RANDOM.integers(0, 100, (20_000, 5)).astype(dtype)
            np.save(self.path("x.npy"), rows)
            self.compare(rows, "x.npy")

    def test_shapes_files_and_raw_rows(self):
        rows = RANDOM.normal(size=(3_000, 300)).astype("f4")
        np.save(self.path("x.npy"), rows)
        self.write("x.f32", rows)
        self.compare(rows, "x.npy")
        self.compare(rows.reshape(-1, 12), "x.f32", "--columns", 12)
        self.compare(np.concatenate([rows, rows]), "x.npy", "x.npy")
        self.compare(rows[10:1010], "x.npy", "--skip", 3_000, "--count", 300_000)
        np.save(self.path("one.npy"), rows[:, 0])
        self.compare(rows[:, :1], "one.npy")
        np.save(self.path("cube.npy"), rows.reshape(3_000, 20, 15))
        self.compare(rows, "cube.npy")
        raw = self.matrix("gram", "x.npy")
        self.json("gram", "x.npy", "-o", "y.f64")
        self.assertEqual(self.directory.joinpath("y.f64").read_bytes(), raw.tobytes())

    def test_parts_are_whole_rows(self):
        np.save(self.path("x.npy"), RANDOM.normal(size=(1000, 3)))
        for command in ("gram", "cov"):
            self.check_error(2, command, "x.npy", "--skip", 5, "--count", 9, "-o", "y.npy")

    def test_same_bits_for_all_sizes(self):
        rows = RANDOM.normal(size=(300_000, 3)) * 10.0**RANDOM.integers(-9, 9, (300_000, 1))
        np.save(self.path("x.npy"), rows)
        for command in ("gram", "cov"):
            first = self.matrix(command, "x.npy").tobytes()
            for words in (("--chunk", "512K", "--streams", 3), ("--chunk", "8M", "--streams", 1),
                          ("--engine", "threads", "--threads", 5), ("--memory", "64M")):
                self.assertEqual(self.matrix(command, "x.npy", *words).tobytes(), first)

    def test_large_means_and_values_that_are_no_numbers(self):
        rows = 1e8 + RANDOM.normal(size=(50_000, 4))
        np.save(self.path("x.npy"), rows)
        expected = np.cov((rows - 1e8), rowvar=False)
        np.testing.assert_allclose(self.matrix("cov", "x.npy"), expected, rtol=1e-9, atol=1e-12)
        rows[[7, 40_000], [1, 2]] = np.nan, -np.inf
        np.save(self.path("x.npy"), rows)
        with np.errstate(all="ignore"):
            expected = np.cov(rows, rowvar=False)
        np.testing.assert_allclose(self.matrix("cov", "x.npy"), expected, rtol=1e-7)
        products = self.matrix("gram", "x.npy")
        np.testing.assert_allclose(products, rows.T @ rows, rtol=1e-12)

    def test_no_rows_and_one(self):
        np.save(self.path("x.npy"), np.zeros((0, 3), "f4"))
        self.assertEqual(self.matrix("gram", "x.npy").tolist(), np.zeros((3, 3)).tolist())
        self.check_error(3, "cov", "x.npy", "-o", "y.npy")
        np.save(self.path("x.npy"), np.ones((1, 2), "f4"))
        self.assertEqual(self.matrix("gram", "x.npy").tolist(), [[1, 1], [1, 1]])
        self.check_error(3, "cov", "x.npy", "-o", "z.npy")

    def test_text_and_explain(self):
        self.write("x.f32", RANDOM.normal(size=90_000).astype("f4"))
        words = ("cov", "x.f32", "--columns", 3, "-o", "y.npy", "--device", "cpu")
        explained = self.succeed(*words, "--explain").stdout
        self.assertIn("y.npy: 3 x 3 values of float64", explained)
        self.assertIn("for results", explained)
        plan = self.json(*words, "--explain")["result"]["plan"]
        self.assertGreater(plan["operator_bytes"], 64 * 3 * 3 * 8)
        self.assertEqual(os.listdir(self.directory), ["x.f32"])
        text = self.succeed(*words, "--verify").stdout
        self.assertIn("wrote y.npy: covariances of 3 columns, 3 x 3 values of float64", text)
        self.assertIn("verified", text)

    def test_refusals(self):
        self.write("x.f32", np.ones(1_000_000, "f4"))
        np.save(self.path("f.npy"), np.asfortranarray(np.ones((3, 4))))
        np.save(self.path("s.npy"), np.zeros(5, [("x", "f4"), ("label", "i2")]))
        there = ["f.npy", "s.npy", "x.f32"]
        for words in (("x.f32", "-o", "y.npy"),
                      ("x.f32", "--columns", 4),
                      ("x.f32", "-o", "y.f32", "--columns", 4),
                      ("x.f32", "-o", "x.f32", "--columns", 4),
                      ("x.f32", "-o", "y.npy", "--columns", 4, "--resume", "saved"),
                      ("f.npy", "-o", "y.npy", "--columns", 3)):
            self.check_error(2 if words[0] == "x.f32" else 3, "gram", *words)
        self.check_error(3, "gram", "x.f32", "-o", "y.npy", "--columns", 3)
        self.check_error(3, "gram", "x.f32", "-o", "y.npy", "--columns", 100_000)
        self.check_error(3, "cov", "s.npy", "-o", "y.npy")
        self.check_error(4, "gram", "none.f32", "-o", "y.npy", "--columns", 3)
        self.check_error(7, "gram", "x.f32", "-o", "y.npy", "--columns", 10_000,
                         "--memory", "512M", "--device", "cpu")
        self.write("y.npy", b"mine")
        self.check_error(6, "gram", "x.f32", "-o", "y.npy", "--columns", 4)
        self.assertEqual(sorted(os.listdir(self.directory)), [*there, "y.npy"])


if __name__ == "__main__":
    main()
