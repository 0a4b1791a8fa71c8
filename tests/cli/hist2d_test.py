#!/usr/bin/env python3
"""Tests ooc-run hist2d: its counts against NumPy, its pictures, and what it refuses."""

import os
import xml.etree.ElementTree

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(7)
COUNT = 300_007


class Hist2dTest(CliTest):
    def setUp(self):
        super().setUp()
        self.x = RANDOM.normal(size=COUNT).astype("f4")
        self.y = (100 * RANDOM.normal(size=COUNT)).astype("i2")
        np.save(self.path("x.npy"), self.x)
        np.save(self.path("y.npy"), self.y)
        self.rows = RANDOM.random((COUNT, 3), "f4")
        np.save(self.path("rows.npy"), self.rows)

    def check(self, result, x, y, bins, limits=None):
        counts, x_edges, y_edges = np.histogram2d(x.astype("f8"), y.astype("f8"), bins, limits)
        self.assertEqual(result["x_edges"], x_edges.tolist())
        self.assertEqual(result["y_edges"], y_edges.tolist())
        self.assertEqual(result["counts"], counts.tolist())
        self.assertEqual(result["count"], len(x))
        self.assertEqual(result["outside"], len(x) - counts.sum())
        self.assertTrue(result["verified"])

    def result(self, *words):
        return self.json("hist2d", *words, "--verify")["result"]

    def test_two_files(self):
        self.check(self.result("x.npy", "y.npy"), self.x, self.y, 64)
        self.check(self.result("y.npy", "x.npy", "--cells", "7,300"), self.y, self.x, (7, 300))
        limits = ((-1, 1), (self.y.min(), self.y.max()))
        self.check(self.result("x.npy", "y.npy", "--cells=9", "--ranges=-1:1,"), self.x, self.y, 9,
                   limits)
        document = self.json("hist2d", "x.npy", "y.npy")
        self.assertEqual(document["input"]["y"]["dtype"], "<i2")
        self.assertEqual(document["run"]["passes"], 2)
        limited = self.json("hist2d", "x.npy", "y.npy", "--ranges=-1:1,0:1")
        self.assertEqual(limited["run"]["passes"], 1)

    def test_columns(self):
        self.check(self.result("rows.npy", "--axes", "2,0"), self.rows[:, 2], self.rows[:, 0],
                   64)
        self.write("raw.f32", self.rows[:, :2])
        self.check(self.result("raw.f32", "--columns", 2), self.rows[:, 0], self.rows[:, 1], 64)
        np.save(self.path("more.npy"), self.rows[:10])
        both = np.concatenate([self.rows, self.rows[:10]])
        self.check(self.result("rows.npy", "more.npy", "--axes", "1,2"), both[:, 1], both[:, 2],
                   64)

    def test_fields(self):
        structs = np.zeros(1000, [("size", ">i2"), ("name", "S3"), ("price", "<f8")])
        structs["size"], structs["price"] = self.y[:1000], self.x[:1000]
        np.save(self.path("s.npy"), structs)
        self.check(self.result("s.npy", "--axes", "price,size"), structs["price"],
                   structs["size"], 64)
        np.save(self.path("two.npy"), structs[["size", "price"]])
        self.check(self.result("two.npy"), structs["size"], structs["price"], 64)

    def test_nan_infinities_and_nothing(self):
        np.save(self.path("a.npy"), np.array([0, 1, np.nan, np.inf, 1]))
        np.save(self.path("b.npy"), np.array([5, 7, 1, 1, np.nan]))
        result = self.result("a.npy", "b.npy", "--cells", 2)
        self.assertEqual((result["nan"], result["outside"], result["count"]), (2, 1, 5))
        self.assertEqual(result["counts"], [[0, 1], [0, 1]])
        np.save(self.path("none.npy"), np.empty((0, 2)))
        none = self.json("hist2d", "none.npy")["result"]
        self.assertIsNone(none["counts"])
        zeros = self.json("hist2d", "none.npy", "--cells=2", "--ranges=0:1")
        self.assertEqual(zeros["result"]["counts"], [[0, 0], [0, 0]])

    def test_standard_input(self):
        with open(self.path("rows.npy"), "rb") as file:
            done = self.succeed("hist2d", "-", "--axes=0,1", "--ranges=0:1", "--cells=2", "--tsv",
                                stdin=file)
        counts = [int(line.split("\t")[4]) for line in done.stdout.splitlines()[1:]]
        expected = np.histogram2d(self.rows[:, 0], self.rows[:, 1], 2, ((0, 1), (0, 1)))[0]
        self.assertEqual(counts, expected.ravel().tolist())

    def test_parts_of_a_stream_are_whole_rows(self):
        words = ("--axes=0,1", "--ranges=0:1", "--cells=2")
        for source in ("-", "rows.npy"):
            with open(self.path("rows.npy"), "rb") as file:
                self.check_error(2, "hist2d", source, "--skip", 1, "--count", 6, *words, stdin=file)
        result = self.result("rows.npy", "--skip", 3, "--count", 3000, *words)
        rows = self.rows[1:1001]
        self.check(result, rows[:, 0], rows[:, 1], 2, ((0, 1), (0, 1)))

    def test_the_report_has_both_files(self):
        self.json("hist2d", "x.npy", "y.npy", "--report", "run.html")
        page = self.directory.joinpath("run.html").read_text(encoding="utf-8")
        for name in ("x.npy", "y.npy"):
            self.assertIn(f"{name}: {COUNT:,} values", page)
        self.json("hist2d", "x.npy", "y.npy", "--explain")
        self.assertIn("y.npy", self.succeed("hist2d", "x.npy", "y.npy", "--explain").stdout)

    def test_a_table(self):
        done = self.succeed("hist2d", "x.npy", "y.npy", "--cells", "3,2", "--tsv")
        names, *rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual(names, ["x_lower", "x_upper", "y_lower", "y_upper", "count"])
        counts, x_edges, y_edges = np.histogram2d(self.x.astype("f8"), self.y, (3, 2))
        expected = [[x_edges[i], x_edges[i + 1], y_edges[j], y_edges[j + 1], counts[i, j]]
                    for i in range(3) for j in range(2)]
        self.assertEqual([[float(each) for each in row] for row in rows], expected)

    def test_the_map_in_text(self):
        np.save(self.path("a.npy"), np.array([[0, 0], [0, 0], [0, 0], [0, 0], [2, 1], [1, 0.5]]))
        words = ("hist2d", "a.npy", "--cells", "4,2")
        plain = {"LC_ALL": "C"}
        text = self.succeed(*words, env=plain).stdout
        self.assertIn("\n  0.5 |    ::::\n  0.0 |@@\n", text)
        self.assertIn("most in a field  4", text)
        shades = self.succeed(*words, env={"LC_ALL": "C.UTF-8"}).stdout
        self.assertIn("\n  0.0 │██\n", shades)
        logarithmic = self.succeed(*words, "--log-scale", env=plain)
        self.assertIn("\n  0.5 |    ++++\n  0.0 |@@\n", logarithmic.stdout)

    def test_many_cells_share_a_field(self):
        text = self.succeed("hist2d", "x.npy", "y.npy", "--cells", "1000,64",
                            env={"COLUMNS": "60", "LC_ALL": "C"}).stdout
        self.assertIn("each field sums", text)
        lines = [line for line in text.splitlines() if "|" in line]
        self.assertTrue(1 <= len(lines) <= 32 and max(map(len, lines)) <= 60, text)

    def test_the_picture(self):
        np.save(self.path("a.npy"), np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))
        self.succeed("hist2d", "a.npy", "--cells", 2, "--plot", "map.svg", "--title", "A & B")
        tree = xml.etree.ElementTree.parse(self.path("map.svg"))
        space = "{http://www.w3.org/2000/svg}"
        cells = next(group for group in tree.iter(f"{space}g") if group.get("class") == "cells")
        levels = [each.get("class") for each in cells]
        self.assertEqual(len(levels), 2)  # both of x = 0 have one level, and are one rectangle
        self.assertEqual(levels[1], "h15")
        texts = [text.text for text in tree.iter(f"{space}text")]
        for text in ("A & B", "column 0", "column 1", "pairs"):
            self.assertIn(text, texts)

    def shards(self, count, words, prefix, *more):
        """Computes the parts of shards, and returns their names."""
        parts = [f"{prefix}{i}.part" for i in range(count)]
        for i, part in enumerate(parts):
            self.succeed("hist2d", *words, "--shard", f"{i}/{count}", "-o", part, "--force", *more)
        return parts

    def test_shards(self):
        structs = np.zeros(COUNT, [("a", "<f8"), ("id", "u1"), ("b", ">i2")])
        structs["a"], structs["b"] = self.x, self.y
        np.save(self.path("s.npy"), structs)
        for words in (["x.npy", "y.npy", "--ranges=-1:1,0:50", "--cells=9,5"],
                      ["rows.npy", "--axes=2,0", "--ranges=0:1", "--cells=50"],
                      ["s.npy", "--axes=b,a", "--ranges=-9:9,0:1"]):
            whole = self.json("hist2d", *words)
            text = self.succeed("hist2d", *words).stdout
            for count in (1, 3, 9):  # of 9, some are empty
                with self.subTest(words=words, count=count):
                    parts = self.shards(count, words, "p")
                    merged = self.json("merge", *parts)
                    self.assertEqual(merged["result"], whole["result"])
                    self.assertEqual(merged["input"], whole["input"])
                    self.succeed("merge", *parts[-2:], "-o", "some.part", "--force")
                    both = self.succeed("merge", "some.part", *parts[:-2]).stdout
                    self.assertEqual(both.split("\n\n")[0], text.split("\n\n")[0])
            self.assertEqual(self.succeed("merge", *parts, "--tsv").stdout,
                             self.succeed("hist2d", *words, "--tsv").stdout)
        self.succeed("merge", *parts, "--plot", "cells.svg", "--log-scale")
        titles = [each.text for each in
                  xml.etree.ElementTree.parse(self.path("cells.svg")).iter() if each.text]
        self.assertIn("b", titles)
        self.check_error(2, "merge", *parts, "--tsv", "--density")
        self.check_error(2, "merge", *parts[:4])
        self.succeed("hist2d", "s.npy", "--axes=a,b", "--ranges=-9:9,0:1", "--shard=0/9", "-o",
                     "other.part")
        self.check_error(2, "merge", "other.part", *parts[1:3])

    def test_shards_find_ranges_in_a_round_before(self):
        for words in (["x.npy", "y.npy", "--ranges=,-10:10"], ["rows.npy", "--axes=0,2"]):
            with self.subTest(words=words):
                whole = self.json("hist2d", *words)["result"]
                first = self.shards(3, words, "first")
                self.check_error(2, "merge", *first)
                note = self.succeed("merge", *first, "-o", "round.part", "--force").stderr
                self.assertIn("ooc-run hist2d FILE --after round.part", note)
                second = self.shards(4, words, "second", "--after", "round.part")
                self.assertEqual(self.json("merge", *second)["result"], whole)
                self.check_error(2, "hist2d", *words, "--shard=0/4", "--after", second[0], "-o",
                                 "z.part")
        self.check_error(2, "hist2d", "x.npy", "y.npy", "--shard=0/4", "--after", "round.part",
                         "-o", "z.part")
        self.check_error(2, "hist2d", "x.npy", "y.npy", "--ranges=0:1", "--shard=0/4", "--after",
                         "round.part", "-o", "z.part")
        np.save(self.path("rows.npy"), self.rows[::-1])  # other data
        self.check_error(5, "hist2d", "rows.npy", "--axes=0,2", "--shard=0/4", "--after",
                         "round.part", "-o", "z.part")
        np.save(self.path("none.npy"), np.empty((0, 2)))
        self.check_error(2, "hist2d", "none.npy", "--shard=0/1", "-o", "z.part")

    def test_shards_refuse_what_the_whole_refuses(self):
        np.save(self.path("none.npy"), np.empty((5, 0), "f4"))
        np.save(self.path("nothing.npy"), np.empty((0, 0), "f4"))
        np.save(self.path("short.npy"), self.y[:9])
        structs = np.zeros(10, [("a", "<f8"), ("b", ">i2")])
        np.save(self.path("s.npy"), structs)
        self.write("x.f32", self.x)
        shard = ["--shard=0/2", "-o", "p.part"]
        for code, words in ((3, ["hist2d", "none.npy", "--axes=0,0"]),
                            (2, ["hist2d", "nothing.npy", "--axes=0,1", "--ranges=0:1"]),
                            (3, ["hist2d", "x.npy", "short.npy"]),
                            (2, ["hist2d", "s.npy", "--axes=a,zz"]),
                            (2, ["hist2d", "x.f32", "--columns=9", "--axes=0,1"]),
                            (3, ["reduce", "none.npy", "--axis=0"]),
                            (3, ["reduce", "x.f32", "--columns=9", "--axis=0"]),
                            (3, ["histogram", "x.npy", "--weights=short.npy"])):
            with self.subTest(words=words):
                whole = self.check_error(code, *words)
                self.assertEqual(self.check_error(code, *words, *shard).stderr, whole.stderr)
        self.check_error(3, "reduce", "nothing.npy", "--axis=0", *shard)
        self.check_error(2, "histogram", "x.npy", "--weights=y.npy", "--shard=0/2", "-o", "y.npy",
                         "--force")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), self.y)

    def test_a_change_between_rounds(self):
        """Copies may have other times, so only the counts show a change that no sample meets."""
        values = np.zeros((1 << 19, 2), "f4")
        values[0] = 1
        self.write("x.f32", values)
        words = ["hist2d", "x.f32", "--columns=2", "--shard=0/1"]
        self.succeed(*words, "-o", "first.part")
        time = os.stat(self.path("x.f32")).st_mtime_ns
        values[77_777, 1] = 5
        self.write("x.f32", values)
        os.utime(self.path("x.f32"), ns=(time, time))
        self.succeed(*words, "-o", "second.part", "--after", "first.part")
        self.check_error(5, "merge", "second.part")

    def test_refusals(self):
        np.save(self.path("short.npy"), self.x[:10])
        np.save(self.path("wide.npy"), self.rows.T)
        np.save(self.path("fortran.npy"), np.asfortranarray(self.rows))
        for words in (["x.npy"], ["rows.npy"], ["rows.npy", "--axes", 0],
                      ["rows.npy", "--axes", "3,0"], ["x.npy", "y.npy", "x.npy"],
                      ["x.npy", "y.npy", "--columns", 2], ["x.npy", "y.npy", "--cells", "1,2,3"],
                      ["x.npy", "y.npy", "--cells", 0], ["x.npy", "y.npy", "--cells", "8192,4096"],
                      ["x.npy", "y.npy", "--ranges", 3], ["x.npy", "y.npy", "--bins", 9]):
            self.check_error(2, "hist2d", *words)
        for words in (["x.npy", "short.npy"], ["rows.npy", "wide.npy"], ["rows.npy", "fortran.npy"],
                      ["fortran.npy", "--axes", "0,1"]):
            self.check_error(3, "hist2d", *words)


if __name__ == "__main__":
    main()
