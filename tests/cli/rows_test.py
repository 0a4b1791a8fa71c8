#!/usr/bin/env python3
"""Tests ooc-run reduce --axis 1: its files against NumPy, and what it refuses."""

import gzip
import os

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(8)
VALUES = {"sum": np.sum, "mean": np.mean, "min": np.min, "max": np.max, "argmin": np.argmin,
          "argmax": np.argmax, "variance": np.var, "stddev": np.std}


class RowsTest(CliTest):
    def rows(self, value, *words, name="x.npy"):
        """Returns the array written, which the document describes."""
        result = self.json("reduce", name, "--axis", "1", "--statistic", value, "-o", "y.npy",
                           "--force", "--verify", *words)["result"]
        found = np.load(self.path("y.npy"))
        self.assertEqual((result["rows"],), found.shape)
        self.assertEqual(result["value"], value)
        self.assertEqual(result["bytes_written"], found.nbytes)
        self.assertEqual(result["to"], "|u1" if found.dtype == bool else found.dtype.str)
        self.assertIs(result["verified"], True)
        return found

    def check(self, array, *words, name="x.npy"):
        """Compares all values with those of NumPy for the elements as float64 or integers."""
        wide = array.astype("f8") if array.dtype.kind == "f" else array
        for value, function in VALUES.items():
            found = self.rows(value, *words, name=name)
            expected = function(wide, axis=1)
            if value in ("min", "max"):
                self.assertEqual(found.dtype, array.dtype.newbyteorder("="))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=value)
            if value not in ("mean", "variance", "stddev") and array.dtype.kind != "f":
                np.testing.assert_array_equal(found, expected)

    def test_types_and_shapes(self):
        for code in ("u1", "i2", "u4", "i8", "f2", ">f4", "f8", "?"):
            for shape in ((2000, 3), (300, 200), (3, 70_000)):
                with self.subTest(code=code, shape=shape):
                    array = RANDOM.normal(50, 20, shape).astype(code)
                    np.save(self.path("x.npy"), array)
                    self.check(array)

    def test_raw_data_and_parts_of_arrays(self):
        data = RANDOM.normal(0, 1, (900, 4)).astype("f4")
        self.write("x.f32", data)
        self.check(data, "--columns", "4", name="x.f32")
        done = self.check_error(2, "reduce", "--axis", "1", "x.f32", "-o", "y.npy")
        self.assertIn("--columns N", done.stderr)
        np.save(self.path("x.npy"), data)
        self.check(data[100:250], name="x.npy[100:250]")
        self.check(data[8:], "--skip", "32")
        self.write("one.f32", data[:, :1].copy())
        self.check(data[:, :1], "--columns", "1", name="one.f32")

    def test_a_row_has_the_bits_of_a_file(self):
        data = RANDOM.normal(0, 1, (5, 150_000)).astype("f4")
        np.save(self.path("x.npy"), data)
        found = self.rows("variance")
        for index, row in enumerate(data):
            np.save(self.path("row.npy"), row)
            whole = self.json("reduce", "row.npy")["result"]
            self.assertEqual(found[index], whole["variance"])

    def test_nan(self):
        data = np.ones((4, 3))
        data[1, 2], data[2], data[3, 0] = np.nan, np.nan, np.inf
        np.save(self.path("x.npy"), data)
        self.assertEqual(np.isnan(self.rows("sum")).tolist(), [False, True, True, False])
        self.assertEqual(self.rows("argmax").tolist(), [0, 2, 0, 0])
        self.assertEqual(self.rows("sum", "--nan", "omit").tolist(), [3, 2, 0, np.inf])
        self.assertEqual(self.rows("argmax", "--nan", "omit").tolist(), [0, 0, -1, 0])

    def test_several_files_are_one_dataset(self):
        data = RANDOM.normal(0, 1, (3000, 5))
        np.save(self.path("a.npy"), data[:1000])
        np.save(self.path("b.npy"), data[1000:])
        self.succeed("reduce", "a.npy", "b.npy", "--axis", "1", "--statistic", "max", "-o", "y.f64")
        np.testing.assert_array_equal(np.fromfile(self.path("y.f64")), data.max(axis=1))

    def test_compressed_data_are_read_as_they_come(self):
        data = RANDOM.normal(0, 1, (600, 5))
        np.save(self.path("x.npy"), data)
        self.write("x.npy.gz", gzip.compress(self.directory.joinpath("x.npy").read_bytes()))
        self.succeed("reduce", "x.npy.gz", "--axis", "1", "-o", "y.npy")
        np.testing.assert_allclose(np.load(self.path("y.npy")), data.sum(axis=1))

    def test_variables_for_other_runs_are_left_out(self):
        np.save(self.path("x.npy"), np.ones((6, 4)))
        self.succeed("reduce", "x.npy", env={"OOC_OUTPUT": "y.npy"})
        self.assertFalse(self.directory.joinpath("y.npy").exists())
        self.succeed("reduce", "x.npy", "--axis", "1", "-o", "y.npy",
                     env={"OOC_CHECKSUM": "1", "OOC_PLOT": "z.svg"})
        self.assertFalse(self.directory.joinpath("z.svg").exists())

    def test_no_rows(self):
        np.save(self.path("x.npy"), np.zeros((0, 4)))
        self.assertEqual(self.rows("mean").tolist(), [])

    def test_a_checkpoint_changes_nothing(self):
        data = RANDOM.normal(0, 1, (20_000, 50))
        np.save(self.path("x.npy"), data)
        self.check(data, "--resume", "saved", "--chunk", "64K")
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.npy", "y.npy"])

    def test_explain_writes_nothing(self):
        np.save(self.path("x.npy"), np.zeros((60, 4), "f4"))
        words = ("reduce", "x.npy", "--axis", "1", "--statistic", "max", "-o", "y.npy", "--explain")
        self.assertIn("y.npy: 60 values of float32", self.succeed(*words).stdout)
        self.json(*words)
        self.assertEqual(os.listdir(self.directory), ["x.npy"])

    def test_text(self):
        np.save(self.path("x.npy"), np.zeros((60, 4), "f4"))
        done = self.succeed("reduce", "x.npy", "--axis", "1", "-o", "y.npy", "--verify")
        self.assertIn("wrote y.npy: sum of each row of 4 elements, 60 values", done.stdout)
        self.assertIn("verified", done.stdout)

    def test_refusals(self):
        np.save(self.path("x.npy"), np.zeros((6, 4), "f4"))
        np.save(self.path("cube.npy"), np.zeros((6, 4, 2), "f4"))
        np.save(self.path("line.npy"), np.zeros(6, "f4"))
        np.save(self.path("f.npy"), np.asfortranarray(np.ones((3, 4))))
        np.save(self.path("s.npy"), np.zeros(5, [("x", "f4"), ("label", "i2")]))
        for words in (("x.npy", "--axis", "1"),
                      ("x.npy", "-o", "y.npy"),
                      ("x.npy", "--axis", "0", "-o", "y.npy"),
                      ("line.npy", "line.npy", "--axis", "1", "-o", "y.npy"),
                      ("x.npy", "--statistic", "mean"),
                      ("x.npy", "--axis", "0", "--statistic", "mean"),
                      ("x.npy", "--axis", "2"),
                      ("x.npy", "--axis", "1", "--statistic", "median", "-o", "y.npy"),
                      ("x.npy", "--axis", "1", "-o", "y.npy", "--tsv"),
                      ("x.npy", "--axis", "1", "-o", "y.npy", "--exact"),
                      ("x.npy", "--axis", "1", "-o", "y.npy", "--shard", "0/2"),
                      ("x.npy", "--axis", "1", "-o", "y.npy", "--checksum"),
                      ("x.npy", "--axis", "1", "-o", "y.f32"),
                      ("x.npy", "--axis", "1", "-o", "x.npy", "--force"),
                      ("x.npy", "--axis", "1", "-o", "y.npy", "--columns", "3"),
                      ("cube.npy", "--axis", "1", "-o", "y.npy"),
                      ("line.npy", "--axis", "1", "-o", "y.npy")):
            self.check_error(2, "reduce", *words)
        self.check_error(3, "reduce", "f.npy", "--axis", "1", "-o", "y.npy")
        self.check_error(3, "reduce", "s.npy", "--axis", "1", "-o", "y.npy")
        self.assertFalse(self.directory.joinpath("y.npy").exists())
        self.write("y.npy", b"mine")
        self.check_error(6, "reduce", "x.npy", "--axis", "1", "-o", "y.npy")
        self.assertEqual(self.directory.joinpath("y.npy").read_bytes(), b"mine")


if __name__ == "__main__":
    main()
