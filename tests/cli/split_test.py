#!/usr/bin/env python3
"""Tests ooc-run split: its files against NumPy's selections, and what it refuses."""

import os
import resource
import tempfile

import numpy as np
from cli_support import CliTest, main

COUNT = 300_001
VALUES = np.random.default_rng(4).normal(size=COUNT).astype("f4")
MASK = 2**64 - 1


def random_outputs(seed, count, outputs):
    """Returns the output of each record, by the definition: words of splitmix64."""
    golden = 0x9e3779b97f4a7c15

    def mix(word):
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9 & MASK
        word = (word ^ (word >> 27)) * 0x94d049bb133111eb & MASK
        return word ^ (word >> 31)

    base = mix(seed + golden & MASK)
    return np.array([(mix(base + (i + 1) * golden & MASK) >> 32) * outputs >> 32
                     for i in range(count)])


class SplitTest(CliTest):
    def split(self, name, *words, outputs, pattern="part-{}.npy"):
        """Splits a file; returns the arrays of the outputs, which the document lists."""
        result = self.json("split", name, "-o", pattern, *words)["result"]
        digits = len(str(outputs - 1))
        paths = [pattern.replace("{}", f"{i:0{digits}}") for i in range(outputs)]
        self.assertEqual([output["path"] for output in result["outputs"]], paths)
        arrays = [np.load(self.path(path)) for path in paths]
        self.assertEqual([output["count"] for output in result["outputs"]],
                         [len(array) for array in arrays])
        self.assertEqual(result["count"], sum(len(array) for array in arrays))
        return arrays

    def compare(self, arrays, expected, chosen):
        """Each output has the records that were chosen for it, in their order."""
        for i, array in enumerate(arrays):
            np.testing.assert_array_equal(array, expected[chosen == i], f"output {i}")
            self.assertEqual(array.dtype, expected.dtype)

    def test_by_value(self):
        values = VALUES.copy()
        values[[0, 5, COUNT - 1]] = np.nan, np.inf, -np.inf
        np.save(self.path("x.npy"), values)
        for edges in ([0.0], [-1.0, -0.5, 0.0, 0.25, 3.0], list(np.linspace(-3, 3, 63))):
            arrays = self.split("x.npy", "--edges", ",".join(map(repr, map(float, edges))),
                                "--force", outputs=len(edges) + 1)
            self.compare(arrays, values, np.digitize(values, edges))

    def test_integers_beyond_doubles_are_compared_exactly(self):
        large = 2**53
        values = np.array([large + i for i in range(4)] * 1000, ">i8")
        np.save(self.path("x.npy"), values)
        arrays = self.split("x.npy", "--edges", f"-9.5,{large + 1},{large + 3}", outputs=4)
        self.compare(arrays, values, np.searchsorted([large + 1, large + 3], values, "right") + 1)

    def test_by_a_field(self):
        structs = np.zeros(50_000, [("x", "f4"), ("label", ">i2"), ("name", "S5")])
        structs["x"] = VALUES[:50_000]
        structs["label"] = np.arange(50_000) * 7 % 12
        structs["name"] = np.arange(50_000) % 1000
        np.save(self.path("x.npy"), structs)
        arrays = self.split("x.npy", "--by", "label", "--into", 12, outputs=12)
        for i, array in enumerate(arrays):
            self.assertEqual(array.tobytes(), structs[structs["label"] == i].tobytes())

    def test_by_a_column(self):
        rows = (np.arange(90_000).reshape(-1, 3) * 11 % 5).astype("u1")
        np.save(self.path("x.npy"), rows)
        self.compare(self.split("x.npy", "--by", 2, "--into", 5, outputs=5), rows, rows[:, 2])
        labels = rows[:, 0].copy()
        np.save(self.path("x.npy"), labels)
        arrays = self.split("x.npy", "--by", 0, "--into", 6, "--force", outputs=6)
        self.compare(arrays, labels, labels)

    def test_at_random(self):
        rows = VALUES[:60_000].reshape(20_000, 3)
        np.save(self.path("x.npy"), rows)
        for seed, outputs in ((0, 2), (7, 11)):
            chosen = random_outputs(seed, 20_000, outputs)
            for words in ((), ("--chunk", "64K", "--streams", 3), ("--engine", "threads")):
                arrays = self.split("x.npy", "--shuffle", seed, "--into", outputs, "--force",
                                    *words, outputs=outputs)
                self.compare(arrays, rows, chosen)

    def test_rows_of_several_files_and_of_a_part(self):
        rows = (np.arange(24, dtype="u1") % 3).reshape(8, 3)
        for i in range(2):
            np.save(self.path(f"{i}.npy"), rows[4 * i:4 * i + 4])
        np.save(self.path("x.npy"), rows)
        for words, expected in ((("0.npy", "1.npy"), rows), (("x.npy", "--count", 15), rows[:5]),
                                (("x.npy", "--skip", 6), rows[2:])):
            for column in range(3):
                self.json("split", *words, "-o", "part-{}.npy", "--by", column, "--into", 3,
                          "--force")
                for i in range(3):
                    np.testing.assert_array_equal(np.load(self.path(f"part-{i}.npy")),
                                                  expected[expected[:, column] == i])
        by = ("-o", "y{}.npy", "--by", 0, "--into", 3)
        self.check_error(2, "split", "x.npy", *by, "--count", 7)
        self.check_error(2, "split", "x.npy", *by, "--skip", 1, "--count", 6)
        np.save(self.path("wide.npy"), rows.reshape(4, 6))
        self.check_error(3, "split", "x.npy", "wide.npy", *by)

    def test_into_thousands_of_files(self):
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 8400:
            self.skipTest("too few open files")
        labels = (np.arange(200_000) * 7919 % 4096).astype("u2")
        np.save(self.path("x.npy"), labels)
        # A disk takes a minute to sync them.
        with tempfile.TemporaryDirectory(prefix="ooc-cli-", dir="/dev/shm") as directory:
            arrays = self.split("x.npy", "--by", 0, "--into", 4096, outputs=4096,
                                pattern=directory + "/{}.npy")
        self.compare(arrays, labels, labels)

    def test_raw_files_and_text(self):
        self.write("x.f32", VALUES)
        text = self.succeed("split", "x.f32", "-o", "{}.f32", "--edges", "0", "--device", "cpu")
        below = VALUES < 0
        self.assertEqual(self.directory.joinpath("0.f32").read_bytes(), VALUES[below].tobytes())
        self.assertIn(f"0.f32: {below.sum():,} records", text.stdout)
        self.assertIn("wrote 2 files, 0.f32 to 1.f32: 300,001 records", text.stdout)

    def test_explain_writes_nothing(self):
        self.write("x.f32", VALUES)
        words = ("split", "x.f32", "-o", "{}.npy", "--shuffle", 1, "--into", 20, "--explain")
        self.assertIn("20 files: 00.npy to 19.npy", self.succeed(*words).stdout)
        self.json(*words)
        self.assertEqual(os.listdir(self.directory), ["x.f32"])

    def test_goes_on_from_a_checkpoint(self):
        self.write("x.f32", VALUES)
        self.json("split", "x.f32", "-o", "{}.f32", "--edges", "0", "--resume", "saved")
        self.assertEqual(self.directory.joinpath("1.f32").read_bytes(),
                         VALUES[VALUES >= 0].tobytes())
        self.assertEqual(sorted(os.listdir(self.directory)), ["0.f32", "1.f32", "x.f32"])

    def test_refusals(self):
        self.write("x.f32", VALUES)
        structs = np.zeros(5, [("x", "f4"), ("label", "i2")])
        structs["label"] = [0, 1, 2, 1, 0]
        np.save(self.path("s.npy"), structs)
        there = ["s.npy", "x.f32"]
        at_random = ("--shuffle", 1, "--into", 4)
        for words in (("x.f32", "-o", "part.npy", *at_random),
                      ("x.f32", "-o", "{}-{}.npy", *at_random),
                      ("x.f32", *at_random),
                      ("x.f32", "-o", "{}.npy"),
                      ("x.f32", "-o", "{}.npy", "--into", 4),
                      ("x.f32", "-o", "{}.npy", "--shuffle", 1),
                      ("x.f32", "-o", "{}.npy", "--edges", "1,2", "--by", "x", "--into", 3),
                      ("x.f32", "-o", "{}.npy", "--by", "x", "--shuffle", 1, "--into", 3),
                      ("x.f32", "-o", "{}.npy", "--edges", "1,2", "--into", 3),
                      ("x.f32", "-o", "{}.npy", "--edges", "2,1"),
                      ("x.f32", "-o", "{}.npy", "--edges", "1,1.0"),
                      ("x.f32", "-o", "{}.npy", "--edges", "1,inf"),
                      ("x.f32", "-o", "{}.npy", "--edges", "1,,2"),
                      ("x.f32", "-o", "{}.npy", "--shuffle", 1, "--into", 4097),
                      ("x.f32", "-o", "{}.npy", "--shuffle", 1, "--into", 0),
                      ("x.f32", "-o", "{}.npy", "--by", 0, "--into", 4),
                      ("x.f32", "-o", "{}.npy", "--by", 1, "--into", 4),
                      ("x.f32", "-o", "{}.f64", *at_random),
                      ("s.npy", "-o", "{}.npy", "--by", "lable", "--into", 4),
                      ("s.npy", "-o", "{}.npy", "--by", "x", "--into", 4)):
            self.check_error(2, "split", *words)
        self.check_error(3, "split", "s.npy", "-o", "{}.npy", "--by", "label", "--into", 2)
        self.check_error(3, "split", "s.npy", "-o", "{}.npy", "--edges", "1")
        self.write("2.npy", b"mine")
        self.check_error(6, "split", "x.f32", "-o", "{}.npy", *at_random)
        self.check_error(2, "split", "x.f32", "-o", "{}.npy", "--trace", "1.npy", "--force",
                         *at_random)
        self.assertEqual(sorted(os.listdir(self.directory)), ["2.npy", *there])
        self.assertEqual(self.directory.joinpath("2.npy").read_bytes(), b"mine")


if __name__ == "__main__":
    main()
