#!/usr/bin/env python3
"""Compares histogram --bins sqrt, sturges, scott, fd and auto with NumPy."""

import math
import subprocess

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(12)
RULES = ("sqrt", "sturges", "scott", "fd", "auto")
MAX_BINS = 2**20


def numpy_bins(data, rule):
    """Returns len(numpy.histogram_bin_edges(data.astype(float64), rule)) - 1, of NumPy 2, which
    NumPy 1 does not give for integers: their bins hold one at least. For equal values, whose mean
    may be rounded, NumPy may run out of memory."""
    finite = data[np.isfinite(data)].astype("f8")
    if finite.min() == finite.max():
        return 1
    extent = finite.max() - finite.min()
    if rule in ("fd", "auto"):
        bins = math.ceil(extent / width_by_quartiles(finite, extent, rule) or 1)
    else:
        bins = len(np.histogram_bin_edges(finite, rule)) - 1
    return min(bins, max(math.ceil(extent), 1)) if data.dtype.kind in "iu" else bins


def width_by_quartiles(finite, extent, rule):
    """Returns the width of NumPy 2.4, of which NumPy 1 has another `auto`."""
    width = 2 * np.subtract(*np.percentile(finite, [75, 25])) * finite.size ** (-1 / 3)
    if rule == "auto":
        width = min(max(width, extent / np.sqrt(finite.size) / 2),
                    extent / (np.log2(finite.size) + 1))
    return width or extent


class BinRulesTest(CliTest):
    def check(self, data, name, *words):
        self.write(name, data)
        finite = data[np.isfinite(data)].astype("f8")
        for rule in RULES:
            with self.subTest(name=name, rule=rule, words=words, size=data.size):
                bins = numpy_bins(data, rule)
                if bins > MAX_BINS:
                    self.check_error(3, "histogram", name, "--bins", rule, *words)
                    continue
                document = self.json("histogram", name, "--bins", rule, "--verify", *words)
                result = document["result"]
                counts, edges = np.histogram(finite, bins)
                self.assertEqual((result["bins"], result["rule"]), (bins, rule))
                self.assertEqual(result["edges"], edges.tolist())
                self.assertEqual(result["counts"], counts.tolist())
                self.assertEqual((result["count"], result["nan"]), (data.size,
                                                                    np.isnan(data).sum()))
                by_quartiles = {1: 2, 2: 2, 4: 3, 8: 5}[data.itemsize]
                self.assertEqual(document["run"]["passes"],
                                 by_quartiles if rule in ("fd", "auto") else 2)
                self.assertTrue(result["verified"])

    def test_floats(self):
        for size in (2, 3, 7, 8, 100, 144, 1000, 65_536, 65_537, 300_000):
            self.check(RANDOM.normal(3, 2, size), "x.f64")
        self.check(RANDOM.exponential(1e-30, 100_000), "x.f64")
        self.check(RANDOM.normal(1e9, 1, 10_000), "x.f64")
        self.check(RANDOM.normal(0, 1e150, 10_000), "x.f64")
        self.check(RANDOM.standard_cauchy(10_000), "x.f64")
        self.check(RANDOM.normal(0, 1, 100_000).astype("f4"), "x.f32")
        self.check(RANDOM.normal(0, 100, 100_000).astype("f2"), "x.f16")
        self.check(RANDOM.normal(3, 2, 100_000).astype(">f8"), "x.bin", "--dtype", ">f8")

    def test_integers(self):
        for size in (2, 100, 100_000):
            self.check(RANDOM.integers(0, 256, size, "u1"), "x.u8")
            self.check(RANDOM.integers(-9, 10, size, "i1"), "x.i8")
            self.check(RANDOM.integers(-30_000, 30_000, size, "i2"), "x.i16")
            self.check(RANDOM.integers(0, 40, size, "u4"), "x.u32")
            self.check(RANDOM.integers(-2**62, 2**62, size, "i8"), "x.i64")
            self.check(RANDOM.integers(2**63, 2**64 - 1, size, "u8"), "x.u64")

    def test_squares(self):
        """The square root of the count is exact, so all depends on the rounding of the width."""
        for root in 2, 3, 5, 6, 7, 10, 49, 255, 301:
            self.check(RANDOM.uniform(0, 0.7, root * root), "x.f64")

    def test_constant_and_single(self):
        for data in (np.full(1000, 0.1), np.zeros(7), np.full(100, -5, "i2"), np.full(9, 7, "u1"),
                     np.array([3.5]), np.array([200], "u1")):
            self.check(data, {"f8": "x.f64", "i2": "x.i16", "u1": "x.u8"}[data.dtype.str[1:]])
        self.write("x.f64", np.full(1000, 0.1))
        self.assertEqual(self.json("histogram", "x.f64", "--bins", "scott")["result"]["edges"],
                         [0.1 - 0.5, 0.1 + 0.5])

    def test_of_no_values(self):
        self.write("x.f64", b"")
        for rule in RULES:
            result = self.json("histogram", "x.f64", "--bins", rule)["result"]
            self.assertEqual((result["bins"], result["counts"], result["count"]), (None, None, 0))

    def test_nan_and_infinities(self):
        data = RANDOM.normal(0, 1, 1000)
        data[5:20] = np.nan
        self.check(data, "x.f64")
        data[[100, 200]] = np.inf, -np.inf
        self.write("x.f64", data)
        for rule in "sqrt", "sturges":
            result = self.json("histogram", "x.f64", "--bins", rule, "--verify")["result"]
            finite = data[np.isfinite(data)]
            self.assertEqual(result["edges"], np.histogram_bin_edges(finite, rule).tolist())
            self.assertEqual((result["below"], result["above"], result["nan"]), (1, 1, 15))
        for rule in "scott", "fd", "auto":
            self.check_error(3, "histogram", "x.f64", "--bins", rule)
        self.write("x.f64", RANDOM.normal(0, 1e200, 100))
        self.check_error(3, "histogram", "x.f64", "--bins", "scott")
        self.write("x.f64", np.full(3, np.nan))
        self.check_error(3, "histogram", "x.f64", "--bins", "sqrt")

    def test_however_it_is_computed(self):
        self.write("x.f32", RANDOM.normal(0, 1, 3_000_000).astype("f4"))
        for rule in "scott", "auto":
            self.compare_ways(rule)

    def compare_ways(self, rule):
        whole = self.json("histogram", "x.f32", "--bins", rule)["result"]
        for words in (["--threads", "1"], ["--chunk", "256K", "--streams", "3"],
                      ["--direct", "yes"], ["--checksum"], ["--device", "cpu"],
                      ["--memory", "16M"], ["--resume", "job"]):
            self.assertEqual(self.json("histogram", "x.f32", "--bins", rule, *words)["result"],
                             whole, words)

    def test_too_many_bins(self):
        with open(self.path("x.f16"), "wb") as file:  # one value is far from 100,000,000 zeros
            file.write(np.array([1000], "f2").tobytes())
            file.truncate(200_000_000)
        self.check_error(3, "histogram", "x.f16", "--bins", "scott")
        result = self.json("histogram", "x.f16", "--bins", "sqrt")["result"]
        self.assertEqual(result["bins"], 10_000)

    def test_refused(self):
        self.write("x.f32", np.arange(100, dtype="f4"))
        for rule in "auto", "fd":
            self.check_error(2, "histogram", "x.f32", "--bins", rule, "--shard", "0/2", "-o",
                             "0.part")
        for word in "doane", "Scott", "ten":
            self.check_error(2, "histogram", "x.f32", "--bins", word)
        self.check_error(2, "histogram", "x.f32", "--bins", "sqrt", "--range", "0:1")
        self.check_error(2, "histogram", "x.f32", "--bins", "scott", "--log-bins")
        self.check_error(2, "histogram", "x.f32", "--bins", "scott", "--edges", "0,1")
        with subprocess.Popen(["cat", self.path("x.f32")], stdout=subprocess.PIPE) as cat:
            self.check_error(2, "histogram", "-", "--dtype", "f4", "--bins", "sqrt",
                             stdin=cat.stdout)

    def test_of_reduce(self):
        data = RANDOM.normal(0, 1, 10_000)
        self.write("x.f64", data)
        for rule in RULES:
            result = self.json("reduce", "x.f64", "--histogram", rule, "--verify")["result"]
            alone = self.json("histogram", "x.f64", "--bins", rule, "--verify")["result"]
            self.assertEqual(result["histogram"], alone)
            self.assertEqual(result["count"], 10_000)

    def test_what_is_said(self):
        data = RANDOM.normal(0, 1, 10_000)
        self.write("x.f64", data)
        text = self.succeed("histogram", "x.f64", "--bins", "sturges").stdout
        self.assertIn("\n15 bins (by the rule sturges) from -", text)
        plan = " ".join(self.succeed("histogram", "x.f64", "--bins", "scott",
                                     "--explain").stdout.split())
        self.assertIn("two passes: the first finds the range and the number of the bins", plan)
        self.assertNotIn("--range would give", plan)
        table = self.succeed("histogram", "x.f64", "--bins", "sqrt", "--tsv").stdout
        self.assertEqual(len(table.splitlines()), 1 + numpy_bins(data, "sqrt"))
        self.succeed("histogram", "x.f64", "--bins", "scott", "--plot", "x.svg", "--report",
                     "x.html")
        self.assertIn("<svg", (self.directory / "x.svg").read_text())
        self.assertNotIn("rule", self.json("histogram", "x.f64", "--bins", "9")["result"])


if __name__ == "__main__":
    main()
