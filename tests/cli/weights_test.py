#!/usr/bin/env python3
"""Tests ooc-run histogram --weights: its sums against NumPy and exact ones, and what it refuses."""

import json
import math
import xml.etree.ElementTree
from fractions import Fraction

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(11)
COUNT = 300_007


def bins_of(values, edges):
    """Returns the numbers of the bins of values that are in one."""
    found = np.searchsorted(edges, values.astype("f8"), "right") - 1
    return np.where(values == edges[-1], len(edges) - 2, found)


class WeightsTest(CliTest):
    def setUp(self):
        super().setUp()
        values = np.random.default_rng(11)  # the same for each test, whichever ran before
        self.x = values.normal(size=COUNT).astype("f4")
        self.w = values.random(COUNT) * 10.0 ** values.integers(-20, 20, COUNT)
        np.save(self.path("x.npy"), self.x)
        np.save(self.path("w.npy"), self.w)

    def result(self, *words):
        result = self.json("histogram", *words, "--verify")["result"]
        self.assertTrue(result["verified"])
        return result

    def check(self, result, x, w, bins, limits=None):
        counts, edges = np.histogram(x.astype("f8"), bins, limits)
        self.assertEqual(result["edges"], edges.tolist())
        self.assertEqual(result["counts"], counts.tolist())
        sums, _ = np.histogram(x.astype("f8"), bins, limits, weights=w.astype("f8"))
        np.testing.assert_allclose([float(each) for each in result["sums"]], sums, rtol=1e-9)
        inside = (x >= edges[0]) & (x <= edges[-1])
        numbers = bins_of(x[inside], edges)
        exact = sum if w.dtype.kind in "iub" else math.fsum
        of_bin = [exact(w[inside][numbers == i].tolist()) for i in range(len(counts))]
        self.assertEqual(result["sums"], of_bin)
        self.assertEqual(result["sum_below"], exact(w[x < edges[0]].tolist()))
        self.assertEqual(result["sum_above"], exact(w[x > edges[-1]].tolist()))
        self.assertEqual(result["sum_nan"], exact(w[np.isnan(x)].tolist()))

    def test_sums_are_exact(self):
        self.check(self.result("x.npy", "--weights", "w.npy"), self.x, self.w, 256)
        self.check(self.result("x.npy", "--weights", "w.npy", "--bins=9", "--range=-1:2"), self.x,
                   self.w, 9, (-1, 2))
        self.check(self.result("x.npy", "--weights=w.npy", "--edges=-2,-0.5,0,0,1"), self.x,
                   self.w, [-2, -0.5, 0, 0, 1])
        np.save(self.path("cancel.npy"), np.array([1e308, 1, -1e308]))
        np.save(self.path("same.npy"), np.ones(3))
        cancelled = self.result("same.npy", "--weights", "cancel.npy", "--bins", 1)
        self.assertEqual(cancelled["sums"], [1])

    def test_logarithmic_bins(self):
        x = np.exp(self.x)
        np.save(self.path("e.npy"), x)
        result = self.result("e.npy", "--weights", "w.npy", "--log-bins", "--bins", 7)
        self.check(result, x, self.w, result["edges"])

    def test_weights_of_all_types(self):
        for code in ("u1", "i2", ">i4", "u8", "i8", "f2", ">f4", "bool"):
            if "f" in code:
                w = RANDOM.normal(size=COUNT).astype(code)
            else:
                w = RANDOM.integers(-2 ** 63, 2 ** 63 - 1, COUNT).astype(code)
            np.save(self.path("t.npy"), w)
            with self.subTest(code):
                result = self.result("x.npy", "--weights", "t.npy", "--bins", 5)
                self.check(result, self.x, w, 5)

    def test_integers_have_all_digits(self):
        np.save(self.path("big.npy"), np.full(1000, 2 ** 64 - 1, "u8"))
        np.save(self.path("ones.npy"), np.ones(1000))
        words = ("histogram", "ones.npy", "--weights", "big.npy", "--bins", 1)
        self.assertEqual(self.json(*words)["result"]["sums"], [1000 * (2 ** 64 - 1)])
        self.assertIn("18,446,744,073,709,551,615,000", self.succeed(*words).stdout)
        row = self.succeed(*words, "--tsv").stdout.splitlines()[1]
        self.assertEqual(row.split("\t")[2:], ["1000", str(1000 * (2 ** 64 - 1))])

    def test_the_same_bits_for_any_division(self):
        words = ("histogram", "x.npy", "--weights", "w.npy")
        expected = self.json(*words)["result"]
        for more in (("--chunk", "64K"), ("--threads", 1), ("--streams", 7, "--chunk", "128K"),
                     ("--engine", "threads", "--direct", "no")):
            self.assertEqual(self.json(*words, *more)["result"], expected, more)

    def test_nan_infinities_and_nothing(self):
        np.save(self.path("a.npy"), np.array([0, 1, np.nan, np.inf, -np.inf, 1, 0.5]))
        np.save(self.path("b.npy"), np.array([1, np.inf, 2, 4, 8, -np.inf, 0.25]))
        words = ("histogram", "a.npy", "--weights", "b.npy", "--bins", 2)
        done = self.succeed(*words, "--json")
        self.check_message(done)
        result = self.check_document(done.stdout)["result"]
        self.assertEqual(result["sums"], [1, "NaN"])
        self.assertEqual((result["sum_below"], result["sum_above"], result["sum_nan"]), (8, 4, 2))
        rows = self.succeed(*words, "--tsv").stdout.splitlines()
        self.assertEqual([row.split("\t")[3] for row in rows], ["sum", "1.0", "nan"])
        np.save(self.path("none.npy"), np.empty(0, "f4"))
        none = self.json("histogram", "none.npy", "--weights", "none.npy")["result"]
        self.assertIsNone(none["sums"])
        zero = self.json("histogram", "none.npy", "--weights=none.npy", "--range=0:1", "--bins=1")
        self.assertEqual(zero["result"]["sums"], [0])

    def test_raw_files_and_parts(self):
        self.write("x.bin", self.x)
        self.write("w.f64", self.w)
        self.write("w.bin", self.w.astype("f4"))
        whole = self.result("x.npy", "--weights", "w.npy")
        self.assertEqual(self.result("x.bin", "--dtype", "f4", "--weights", "w.f64"), whole)
        narrow = self.result("x.bin", "--dtype", "f4", "--weights", "w.bin", "--bins", 5)
        self.check(narrow, self.x, self.w.astype("f4"), 5)
        part = self.result("x.npy", "--weights", "w.npy", "--skip", 7, "--count", 1000)
        self.check(part, self.x[7:1007], self.w[7:1007], 256)

    def test_the_type_of_an_option_is_for_names_without_one(self):
        x, w = self.x[:500], self.w[:500]
        for name, data in (("x.raw", x), ("x.f32", x), ("w.raw", w), ("big.f32", x.astype(">f4")),
                           ("v.f32", x[::-1].astype(">f4"))):
            self.write(name, data)
        np.save(self.path("y.npy"), x)
        np.save(self.path("v.npy"), w)
        for words in (("x.raw", "--weights", "v.npy", "--dtype", "f4"),
                      ("y.npy", "--weights", "w.raw", "--dtype", "f8"),
                      ("x.f32", "--weights", "w.raw", "--dtype", "f8")):
            self.check(self.result(*words, "--bins=3"), x, w, 3)
        self.check(self.result("big.f32", "--weights", "v.f32", "--dtype", ">f4", "--bins=3"), x,
                   x[::-1], 3)

    def test_rows_of_several_bins_show_the_digits_that_are_known(self):
        np.save(self.path("i.npy"), np.arange(60.0))
        np.save(self.path("cancel.npy"), np.tile([1e16, 1, -1e16], 20))
        np.save(self.path("third.npy"), np.full(60, 1 / 3))
        words = ("histogram", "i.npy", "--edges", ",".join(map(str, range(61))), "--weights")
        self.assertIn("1 ± 4", self.succeed(*words, "cancel.npy").stdout)
        self.assertRegex(self.succeed(*words, "third.npy").stdout, "█ +1 ")

    def test_fields_and_the_same_file_twice(self):
        structs = np.zeros(1000, [("w", ">i2"), ("name", "S3"), ("x", "<f8")])
        structs["x"], structs["w"] = self.x[:1000], np.arange(1000)
        np.save(self.path("s.npy"), structs)
        self.check(self.result("s.npy::x", "--weights", "s.npy::w"), structs["x"], structs["w"],
                   256)
        self.check(self.result("x.npy", "--weights", "x.npy"), self.x, self.x, 256)

    def test_a_table(self):
        done = self.succeed("histogram", "x.npy", "--weights", "w.npy", "--tsv", "--range=-1:1")
        names, *rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual(names, ["lower", "upper", "count", "sum"])
        self.check_message(done)
        result = self.json("histogram", "x.npy", "--weights", "w.npy", "--range=-1:1")["result"]
        self.assertEqual([int(row[2]) for row in rows], result["counts"])
        self.assertEqual([float(row[3]) for row in rows], result["sums"])

    def test_bars(self):
        np.save(self.path("a.npy"), np.array([0, 1, 1, 2, 5, np.nan]))
        np.save(self.path("b.npy"), np.array([1, 2, 1, 0, 3, 1]))
        words = ("histogram", "a.npy", "--weights", "b.npy", "--bins", 4, "--range=0:4")
        text = self.succeed(*words, env={"LC_ALL": "C", "COLUMNS": "60"}).stdout
        self.assertIn("4 bins from 0 to 4, sums of weights\n", text)
        self.assertRegex(text, r"\n +0 \|#{13} +1  12\.5 %\n +1 \|#{40} +3  37\.5 %\n")
        self.assertRegex(text, r"\n +above +3  37\.5 %\n +nan +1  12\.5 %\n")
        np.save(self.path("b.npy"), np.array([1, 2, -8, 0, 3, 1]))
        text = self.succeed(*words, env={"LC_ALL": "C", "COLUMNS": "60"}).stdout
        self.assertIn("no bars, since some are negative or not finite", text)
        self.assertNotIn("#", text)
        many = self.succeed("histogram", "x.npy", "--weights", "x.npy", "--edges=0,1,2,3,4").stdout
        self.assertIn("sums of weights", many)

    def test_the_picture(self):
        np.save(self.path("a.npy"), np.array([0, 1, 1, 2, 5, np.nan]))
        np.save(self.path("b.npy"), np.array([1, 0.25, 2, 0, 3, 1]))
        words = ("histogram", "a.npy", "--weights", "b.npy", "--bins", 4, "--range=0:4")
        self.succeed(*words, "--plot", "p.svg", "--title", "A & B", "--xlabel", "energy")
        tree = xml.etree.ElementTree.parse(self.path("p.svg"))
        space = "{http://www.w3.org/2000/svg}"
        bars = [each for each in tree.iter(f"{space}rect") if each.get("data-count")]
        self.assertEqual([each.get("data-count") for each in bars], ["1", "2.25", "0", "0"])
        heights = [float(each.get("height")) for each in bars]
        self.assertAlmostEqual(heights[0], heights[1] / 2.25, delta=0.1)
        self.assertEqual(heights[2:], [0, 0])
        texts = [text.text for text in tree.iter(f"{space}text")]
        for text in ("A & B", "energy", "sum", "4 bins from 0 to 4, sums of weights",
                     "not drawn: 1 above, 1 nan"):
            self.assertIn(text, texts)
        many = ("histogram", "x.npy", "--weights", "w.npy", "--bins", 5000, "--plot", "many.svg")
        self.succeed(*many)
        self.assertIn("sums of weights", self.directory.joinpath("many.svg").read_text())

    def test_no_picture_of_negative_sums(self):
        done = self.run_program("histogram", "x.npy", "--weights", "x.npy", "--plot", "p.svg")
        self.assertEqual(done.returncode, 6)
        self.assertIn("sums of weights", done.stdout)
        self.check_message(done)
        self.assertFalse(self.directory.joinpath("p.svg").exists())

    def test_the_report_and_the_plan(self):
        document = self.json("histogram", "x.npy", "--weights", "w.npy", "--report", "run.html")
        self.assertEqual(document["input"]["weights"]["dtype"], "<f8")
        self.assertEqual(document["input"]["dtype"], "<f4")
        self.assertEqual(document["run"]["passes"], 2)
        page = self.directory.joinpath("run.html").read_text(encoding="utf-8")
        for name in ("x.npy", "w.npy"):
            self.assertIn(f"{name}: {COUNT:,} values", page)
        self.assertIn("sums of the bins", page)
        plan = self.succeed("histogram", "x.npy", "--weights", "w.npy", "--explain").stdout
        self.assertIn("w.npy", plan)
        self.assertRegex(plan, r"which --range\s+would give")
        self.json("histogram", "x.npy", "--weights", "w.npy", "--explain")

    def test_a_checkpoint_changes_nothing(self):
        words = ("histogram", "x.npy", "--weights", "w.npy", "--resume", "p", "--chunk", "64K")
        expected = self.result("x.npy", "--weights", "w.npy")
        result = self.json(*words, "--checkpoint-every", 0)["result"]
        self.assertEqual(result["sums"], expected["sums"])
        self.assertFalse(self.directory.joinpath("p").exists())

    def test_the_check_of_a_sum_is_exact(self):
        total = self.result("x.npy", "--weights", "w.npy", "--bins", 1)["sums"][0]
        self.assertEqual(Fraction(total), Fraction(float(sum(map(Fraction, self.w.tolist())))))

    def shards(self, count, words, prefix, *more):
        """Computes the parts of shards, and returns their names."""
        parts = [f"{prefix}{i}.part" for i in range(count)]
        for i, part in enumerate(parts):
            self.succeed("histogram", *words, "--shard", f"{i}/{count}", "-o", part, "--force",
                         *more)
        return parts

    def test_shards(self):
        words = ["x.npy", "--weights=w.npy", "--bins=20", "--range=-1:1"]
        whole = self.json("histogram", *words)
        text = self.succeed("histogram", *words).stdout
        for count in (1, 3, 9):  # of 9, some are empty
            with self.subTest(count=count):
                parts = self.shards(count, words, "p")
                merged = self.json("merge", *parts)
                self.assertEqual(merged["result"], whole["result"])
                self.assertEqual(merged["input"], whole["input"])
                self.succeed("merge", *parts[-2:], "-o", "some.part", "--force")
                both = self.succeed("merge", "some.part", *parts[:-2]).stdout
                self.assertEqual(both.split("\n\n")[0], text.split("\n\n")[0])
        self.assertEqual(self.succeed("merge", *parts, "--tsv").stdout,
                         self.succeed("histogram", *words, "--tsv").stdout)
        self.succeed("merge", *parts, "--plot", "sums.svg")
        self.check_error(2, "merge", *parts, "--tsv", "--density")
        self.check_error(2, "merge", *parts[:4])
        np.save(self.path("w.npy"), self.w[::-1])  # other weights
        self.shards(1, words, "other")
        self.check_error(5, "merge", "other0.part", *parts[1:3])

    def test_shards_find_the_range_in_a_round_before(self):
        words = ["x.npy", "--weights=w.npy", "--bins=20"]
        whole = self.json("histogram", *words)["result"]
        first = self.shards(3, words, "first")
        self.check_error(2, "merge", *first)
        self.succeed("merge", *first, "-o", "round.part")
        second = self.shards(4, words, "second", "--after", "round.part")
        self.assertEqual(self.json("merge", *second)["result"], whole)
        self.check_error(2, "histogram", *words, "--shard=0/4", "--after", second[0], "-o",
                         "z.part")
        self.check_error(2, "histogram", "x.npy", "--bins=20", "--shard=0/4", "--after",
                         "round.part", "-o", "z.part")

    def test_refusals(self):
        np.save(self.path("short.npy"), self.w[:10])
        np.save(self.path("rows.npy"), self.w[:6].reshape(2, 3))
        np.save(self.path("fortran.npy"), np.asfortranarray(self.w[:6].reshape(2, 3)))
        np.save(self.path("structs.npy"), np.zeros(COUNT, [("a", "f4"), ("b", "f4")]))
        weighted = ("x.npy", "--weights", "w.npy")
        for words in (["x.npy", *weighted], ["-", "--weights", "w.npy"],
                      ["x.npy", "--weights", "-"], ["x.npy", "--weights", ""],
                      [*weighted, "--bins", "auto"], [*weighted, "--bins", 65537],
                      [*weighted, "--shard", "0/2"], [*weighted, "--checksum"],
                      [*weighted, "--log-scale"], [*weighted, "--tsv", "--density"],
                      [*weighted, "--trace", "w.npy"]):
            self.check_error(2, "histogram", *words)
        for words in (["x.npy", "--weights", "short.npy"], ["rows.npy", "--weights", "fortran.npy"],
                      ["x.npy", "--weights", "structs.npy"]):
            self.check_error(3, "histogram", *words)
        self.check_error(4, "histogram", "x.npy", "--weights", "no.npy")
        self.refuse(7, "the pass needs at least", "histogram", *weighted, "--bins", 60000,
                    "--memory", "30M", hint="--memory 6[0-9]M")

    def test_limits_of_memory_are_in_the_plan(self):
        done = self.run_program("histogram", "x.npy", "--weights", "w.npy", "--memory", "64M",
                                "--json", "--bins", 5000)
        document = json.loads(done.stdout)
        self.check(document["result"], self.x, self.w, 5000)


if __name__ == "__main__":
    main()
