#!/usr/bin/env python3
"""Compares ooc-run reduce --axis 0 with NumPy."""

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(7)


class ColumnsTest(CliTest):
    def columns(self, *words):
        return self.json("reduce", "--axis", "0", *words)["result"]["columns"]

    def values(self, name, *words):
        return [float(column[name]) for column in self.columns(*words)]

    def check(self, array, *words):
        """Compares the statistics of all columns with those of NumPy."""
        wide = array.astype("f8").reshape(len(array), -1)
        columns = self.columns("x.npy", "--verify", *words)
        self.assertEqual(len(columns), wide.shape[1])
        for name, expected in (("min", wide.min(axis=0)), ("max", wide.max(axis=0)),
                               ("argmin", wide.argmin(axis=0)), ("argmax", wide.argmax(axis=0))):
            self.assertEqual([column[name] for column in columns], expected.tolist(), name)
        for name, expected in (("mean", wide.mean(axis=0)), ("variance", wide.var(axis=0))):
            np.testing.assert_allclose([column[name] for column in columns], expected, rtol=1e-9)
        if array.dtype.kind in "iu":
            sums = array.reshape(len(array), -1).sum(axis=0, dtype="i8")
            self.assertEqual([column["sum"] for column in columns], sums.tolist())

    def test_types_and_shapes(self):
        for code in ("u1", "i2", "i4", "u4", "i8", "f2", "f4", ">f4", "f8"):
            for shape in ((3000, 3), (2000, 2, 5), (40, 700), (5000,)):
                with self.subTest(code=code, shape=shape):
                    array = (RANDOM.normal(50, 10, shape)).astype(code)
                    np.save(self.path("x.npy"), array)
                    self.check(array)

    def test_raw_data_need_the_length_of_a_row(self):
        data = RANDOM.normal(0, 1, (900, 4)).astype("f4")
        self.write("x.f32", data)
        self.assertIn("--columns N", self.check_error(2, "reduce", "--axis", "0", "x.f32").stderr)
        self.assertEqual(self.values("max", "x.f32", "--columns", "4"),
                         data.max(axis=0).tolist())
        self.check_error(3, "reduce", "--axis", "0", "x.f32", "--columns", "7")
        np.save(self.path("x.npy"), data)
        self.assertEqual(self.values("max", "x.npy", "--columns", "4"), data.max(axis=0).tolist())
        done = self.check_error(2, "reduce", "--axis", "0", "x.npy", "--columns", "5")
        self.assertIn("rows of 4 elements", done.stderr)

    def test_several_files_and_parts(self):
        data = RANDOM.normal(0, 1, (3000, 5)).astype("f8")
        np.save(self.path("a.npy"), data[:1000])
        np.save(self.path("b.npy"), data[1000:])
        self.assertEqual(self.values("argmax", "a.npy", "b.npy", "--verify"),
                         data.argmax(axis=0).tolist())
        self.assertEqual(self.values("argmin", "a.npy[100:900]"),
                         data[100:900].argmin(axis=0).tolist())
        np.save(self.path("c.npy"), data[:, :4])
        self.check_error(3, "reduce", "--axis", "0", "a.npy", "c.npy")

    def test_nan_and_infinities(self):
        data = np.ones((5, 4))
        data[3, 1], data[2, 2], data[:, 3] = np.nan, np.inf, np.nan
        np.save(self.path("x.npy"), data)
        done = self.succeed("reduce", "--axis", "0", "x.npy", "--verify")
        self.assertIn("2 columns have NaN", done.stderr)
        self.assertEqual([column["argmin"] for column in self.columns("x.npy")], [0, 3, 0, 0])
        columns = self.columns("x.npy", "--nan", "omit", "--verify")
        self.assertEqual([column["sum"] for column in columns], [5, 4, "Infinity", 0])
        self.assertEqual([column["inf"] for column in columns], [0, 0, 1, 0])

    def test_draws_the_columns(self):
        np.save(self.path("x.npy"), RANDOM.normal(0, 1, (500, 3)))
        for name in ("x.svg", "x.png"):
            done = self.succeed("reduce", "--axis", "0", "x.npy", "--plot", name)
            self.assertIn(f"wrote {name}, a picture of the columns", done.stderr)
            self.assertGreater(self.directory.joinpath(name).stat().st_size, 1000)
        self.assertIn("3 columns of 500 rows", self.directory.joinpath("x.svg").read_text())

    def test_shards(self):
        data = RANDOM.normal(0, 1, (10_000, 3)).astype("f4")
        np.save(self.path("x.npy"), data)
        whole = self.columns("x.npy")
        for index in range(3):
            self.succeed("reduce", "--axis", "0", "x.npy", "--shard", f"{index}/3", "-o",
                         f"{index}.part")
        parts = ["0.part", "1.part", "2.part"]
        self.assertEqual(self.json("merge", *parts)["result"]["columns"], whole)
        done = self.check_error(2, "merge", "0.part", "2.part")
        self.assertIn("no part covers the rows", done.stderr)
        self.succeed("merge", "0.part", "1.part", "-o", "01.part")
        self.assertEqual(self.succeed("merge", "01.part", "2.part", "--tsv").stdout,
                         self.succeed("reduce", "--axis", "0", "x.npy", "--tsv").stdout)
        self.succeed("reduce", "x.npy", "--shard", "0/3", "-o", "all.part")
        self.check_error(2, "merge", "all.part", "1.part", "2.part")

    def test_resumes(self):
        np.save(self.path("x.npy"), RANDOM.normal(0, 1, (10_000, 3)))
        self.assertEqual(self.columns("x.npy", "--resume", "x.state"), self.columns("x.npy"))

    def test_text_and_table(self):
        np.save(self.path("x.npy"), np.array([[1, 5], [3, 5], [2, 8]], "i4"))
        text = self.succeed("reduce", "--axis", "0", "x.npy").stdout
        self.assertIn("  3 rows of 2 columns\n", text)
        self.assertIn("  column  mean", text)
        table = self.succeed("reduce", "--axis", "0", "x.npy", "--tsv").stdout.splitlines()
        self.assertEqual(table[0].split("\t")[:4], ["column", "count", "nan", "inf"])
        self.assertEqual(table[2].split("\t")[:9], ["1", "3", "0", "0", "18", "5", "0", "8", "2"])
        np.save(self.path("x.npy"), np.zeros((2, 150), "u1"))
        text = self.succeed("reduce", "--axis", "0", "x.npy").stdout
        self.assertIn("and 50 more columns, which --tsv and --json print", text)

    def test_no_rows(self):
        np.save(self.path("x.npy"), np.zeros((0, 3), "f4"))
        self.assertEqual([column["count"] for column in self.columns("x.npy", "--verify")],
                         [0, 0, 0])

    def test_explains_its_pass(self):
        np.save(self.path("x.npy"), np.zeros((1000, 30)))
        plan = self.json("reduce", "--axis", "0", "x.npy", "--explain")["result"]["plan"]
        self.assertEqual(plan["passes"], 1)

    def test_refusals(self):
        np.save(self.path("x.npy"), np.zeros((10, 2)))
        for words in (["--axis", "1"], ["--axis", "x"], ["--axis"], ["--columns", "2"], ["--tsv"],
                      ["--axis", "0", "--exact"], ["--axis", "0", "--q", "0.5"],
                      ["--axis", "0", "--histogram", "4"], ["--axis", "0", "--tsv", "--json"],
                      ["--axis", "0", "--columns", "0"]):
            with self.subTest(words=words):
                self.check_error(2, "reduce", "x.npy", *words)
        np.save(self.path("f.npy"), np.asfortranarray(np.zeros((10, 2))))
        self.check_error(3, "reduce", "--axis", "0", "f.npy")
        np.save(self.path("e.npy"), np.zeros((10, 0)))
        self.check_error(3, "reduce", "--axis", "0", "e.npy")


if __name__ == "__main__":
    main()
