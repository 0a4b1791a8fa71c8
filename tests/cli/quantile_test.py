#!/usr/bin/env python3
"""Compares ooc-run quantile with numpy.quantile of the values as float64, to the bit."""

import os
import re
import struct
import sys
import xml.etree.ElementTree

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(11)
TILE = 65_536  # shards have whole ones
METHODS = ("linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf",
           "averaged_inverted_cdf", "interpolated_inverted_cdf", "hazen", "weibull",
           "median_unbiased", "normal_unbiased")
TAKE_ELEMENTS = ("lower", "higher", "nearest", "inverted_cdf")
TYPES = {"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
         "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64"}
SOME = [0.5, 0, 1, 0.25, 1 / 3, 0.999, 0.5, 0.1, 0.7, 1e-9, 0.01]


def text_of(quantiles):
    return ",".join(repr(float(q)) for q in quantiles)


def bits(value):
    return "nan" if np.isnan(value) else struct.pack("d", value)


class QuantileTest(CliTest):
    def found(self, *words):
        """Returns the values of the quantiles; those of integers are Python's."""
        document = self.json("quantile", *words)
        values = [each["value"] for each in document["result"]["quantiles"]]
        return [float(value) if isinstance(value, str) else value for value in values], document

    def check(self, data, name, values=None, quantiles=None, *words):
        """Compares all methods with NumPy, of data without zeros of both signs."""
        self.write(name, data)
        quantiles = SOME if quantiles is None else quantiles
        values = data.astype("f8") if values is None else values
        for method in METHODS:
            with self.subTest(name=name, method=method, size=data.size):
                found, document = self.found(name, "--q", text_of(quantiles), "--method", method,
                                             *words)
                with np.errstate(all="ignore"):
                    expected = np.quantile(values, quantiles, method=method)
                if data.dtype.kind in "iu" and method in TAKE_ELEMENTS:
                    self.assertTrue(all(isinstance(value, int) for value in found), found)
                    self.assertTrue(set(found) <= set(data.tolist()))
                self.assertEqual([bits(value) for value in found],
                                 [bits(value) for value in expected])
                self.assertEqual([each["q"] for each in document["result"]["quantiles"]],
                                 quantiles)
                self.assertEqual(document["result"]["count"], data.size)

    def test_floats(self):
        for size in (1, 2, 3, 10, 1001, 100_000):
            self.check(RANDOM.normal(3, 2, size), "x.f64")
            self.check(RANDOM.normal(3, 2, size).astype("f4"), "x.f32")
        self.check(RANDOM.normal(3, 2, 999).astype("f2"), "x.f16")
        self.check(RANDOM.standard_cauchy(70_000) * 1e300, "x.f64")
        self.check(np.sort(RANDOM.normal(0, 1, 70_000)), "x.f64", None, None, "--verify")
        self.check(np.full(70_000, 2.5, "f4"), "x.f32", None, None, "--verify")
        self.check(RANDOM.zipf(1.5, 70_000).astype("f4"), "x.f32")
        self.check(RANDOM.normal(3, 2, 999).astype(">f8"), "x.bin", None, None, "--dtype", ">f8")
        halves = (RANDOM.normal(3, 2, 999).astype("f4").view("u4") >> 16).astype("u2")
        self.write("x.bf16", halves)
        values = (halves.astype("u4") << 16).view("f4").astype("f8")
        for method in METHODS:
            found, _ = self.found("x.bf16", "--q", text_of(SOME), "--method", method)
            self.assertEqual(found, np.quantile(values, SOME, method=method).tolist())

    def test_integers(self):
        for code, ending in TYPES.items():
            if code.startswith("f"):
                continue
            limits = np.iinfo(code)
            for size in (1, 7, 70_001):
                data = RANDOM.integers(limits.min, limits.max, size, code, endpoint=True)
                self.check(data, f"x.{ending}")
        self.check(RANDOM.integers(5, 9, 10_000), "x.i64", None, None, "--verify")

    def test_integers_keep_all_digits(self):
        data = np.array([2**63 + 1, 2**63 + 3, 2**63 + 5], "u8")
        self.write("x.u64", data)
        self.assertEqual(self.found("x.u64", "--q", "0,0.5,1", "--method", "nearest")[0],
                         data.tolist())

    def test_infinities(self):
        data = np.array([-np.inf, 1, 2, 3, np.inf])
        self.check(data, "x.f64", None, [0, 0.1, 0.25, 0.4, 0.5, 0.9, 1])
        self.check(np.full(9, np.inf), "x.f64")
        self.assertIn("an infinity", self.succeed("quantile", "x.f64").stderr)

    def test_zeros_have_an_order(self):
        self.write("x.f64", np.array([0.0, -0.0, 0.0, -0.0]))
        found, _ = self.found("x.f64", "--method", "lower", "--q", "0,0.34,0.67,1")
        self.assertEqual([bits(value) for value in found],
                         [bits(value) for value in (-0.0, -0.0, 0.0, 0.0)])

    def test_nan(self):
        data = RANDOM.normal(0, 1, 1000).astype("f4")
        data[::7] = np.nan
        self.write("x.f32", data)
        done = self.succeed("quantile", "x.f32")
        self.assertIn("143 values are NaN", done.stderr)
        found, document = self.found("x.f32")
        self.assertTrue(np.isnan(found).all())
        self.assertEqual(document["run"]["passes"], 1)
        found, document = self.found("x.f32", "--nan", "omit", "--verify")
        expected = np.nanquantile(data.astype("f8"), [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(found, expected.tolist())
        self.assertEqual(document["result"]["omitted"], 143)
        self.write("x.f32", np.full(9, np.nan, "f4"))
        self.assertEqual(self.found("x.f32", "--nan", "omit")[0], [None] * 5)

    def test_nothing(self):
        self.write("x.f64", b"")
        self.assertEqual(self.found("x.f64")[0], [None] * 5)

    def test_many_quantiles(self):
        quantiles = np.linspace(0, 1, 1000).tolist()
        data = RANDOM.normal(0, 1, 200_000).astype("f4")
        self.write("x.f32", data)
        found, document = self.found("x.f32", "--q", text_of(quantiles), "--verify")
        self.assertEqual(found, np.quantile(data.astype("f8"), quantiles).tolist())
        self.assertEqual(document["run"]["passes"], 3)
        self.refuse(2, "1001 quantiles", "quantile", "x.f32", "--q", ",".join(["0"] * 1001))

    def test_text_and_table(self):
        self.write("x.i32", np.array([1, 2, 3, 4, 1_000_000], "i4"))
        text = self.succeed("quantile", "x.i32", "--q", "0.5,1", "--method", "lower").stdout
        self.assertRegex(text, r"\n  count     +5\n  nan       +0\n  0\.5       +3\n"
                               r"  1         +1,000,000\n")
        table = self.succeed("quantile", "x.i32", "--q", "0.5,0.6", "--tsv").stdout
        self.assertEqual(table, "q\tvalue\n0.5\t3\n0.6\t3.4\n")

    def test_draws_the_distribution(self):
        self.write("x.u16", np.arange(1001, dtype="u2"))
        self.write("x.f32", np.zeros(9, "f4"))
        words = ["quantile", "x.u16", "--q", "0.5,0.9"]
        without = self.json(*words)["result"]
        self.assertEqual(self.json(*words, "--plot", "x.svg", "--title", "A & B", "--xlabel", "m",
                                   "--verify")["result"], {**without, "verified": True})
        picture = xml.etree.ElementTree.parse(self.path("x.svg"))
        texts = [element.text for element in picture.iter() if element.text]
        for text in "A & B", "m", "fraction", "q 0.5: 500", "q 0.9: 900":
            self.assertIn(text, texts)
        self.assertIn("the fraction of values up to each, by 103 exact quantiles; those of the "
                      "answer are marked", texts)
        (curve,) = [element.get("d") for element in picture.iter()
                    if element.get("class") == "curve"]
        steps = [tuple(map(float, step)) for step in re.findall(r"H([\d.]+)V([\d.]+)", curve)]
        self.assertEqual(len(steps), 103)
        # Of evenly spaced values the curve is a straight line, but for roundings to 0.1 pixels.
        (left, bottom), (right, top) = steps[0], steps[-1]
        for x, y in steps:
            self.assertAlmostEqual((x - left) / (right - left), (bottom - y) / (bottom - top),
                                   delta=0.001)
        marks = [(float(mark.get("cx")), float(mark.get("cy"))) for mark in picture.iter()
                 if mark.get("class") == "mark"]
        self.assertEqual(len(marks), 2)
        self.assertTrue(set(marks) <= set(steps))
        self.check_error(6, *words, "--plot", "x.svg")  # it is there
        plan = self.json("quantile", "x.f32", "--plot", "y.svg", "--explain")["result"]["plan"]
        self.assertEqual(plan["passes"], 2)
        self.succeed(*words, "--plot", "x.svg", "--force", "--tsv")

    def test_draws_what_is_finite(self):
        self.write("x.f64", np.array([-np.inf, 1, 2, 3, np.inf]))
        self.succeed("quantile", "x.f64", "--method", "lower", "--plot", "x.svg")
        with open(self.path("x.svg")) as file:
            self.assertEqual(file.read().count('class="mark"'), 3)
        for value in -1e300, sys.float_info.max, 0:
            self.write("same.f64", np.full(9, value, "f8"))
            self.succeed("quantile", "same.f64", "--plot", "same.svg", "--force")
            with open(self.path("same.svg")) as file:
                self.assertNotRegex(file.read(), "[^a-z](nan|inf)")
        self.write("nan.f32", np.full(9, np.nan, "f4"))
        done = self.succeed("quantile", "nan.f32", "--plot", "nan.svg")
        self.assertIn("no picture: no quantile is finite", done.stderr)
        self.assertFalse(os.path.exists(self.path("nan.svg")))

    def test_explains_its_passes(self):
        self.write("x.f64", np.zeros(1000))
        plan = self.json("quantile", "x.f64", "--explain")["result"]["plan"]
        self.assertEqual(plan["passes"], 4)
        self.assertTrue(any("4 passes" in reason for reason in plan["reasons"]), plan["reasons"])

    def test_refuses_what_is_no_quantile(self):
        self.write("x.f32", np.zeros(10, "f4"))
        for value in ("1.5", "-0.1", "0.5,", "x", "nan"):
            self.check_error(2, "quantile", "x.f32", f"--q={value}")
        self.check_error(2, "quantile", "x.f32", "--method", "lowest")
        self.check_error(2, "quantile", "x.f32", "--tsv", "--json")
        with open(self.path("x.f32"), "rb") as file:
            self.check_error(2, "quantile", "-", "--dtype", "f4", stdin=file)
        with open(self.path("x.f32"), "rb") as file:  # bytes take one pass
            self.succeed("quantile", "-", "--dtype", "u1", stdin=file)

    def test_reduce_finds_them_too(self):
        data = RANDOM.normal(0, 3, 100_000).astype("f4")
        self.write("x.f32", data)
        words = ["--q", "0.5,0.99,0", "--method", "hazen"]
        quantiles = self.json("quantile", "x.f32", *words)["result"]
        statistics = self.json("reduce", "x.f32")["result"]
        document = self.json("reduce", "x.f32", *words, "--verify")
        both = document["result"]
        self.assertEqual(document["run"]["passes"], 2)
        self.assertEqual(both["quantiles"], quantiles["quantiles"])
        self.assertEqual(both["method"], "hazen")
        self.assertEqual({name: both[name] for name in statistics},
                         {**statistics, "verified": True})
        self.assertRegex(self.succeed("reduce", "x.f32", *words).stdout,
                         r"\n  stddev +[\d.]+\n\n  0\.5  +-?[\d.]+\n")
        self.assertEqual(self.json("reduce", "x.f32", *words,
                                   "--explain")["result"]["plan"]["passes"], 2)
        self.check_error(2, "reduce", "x.f32", *words, "--histogram", "9")
        self.check_error(2, "reduce", "x.f32", *words, "--shard", "0/2", "-o", "x.part")
        self.check_error(2, "reduce", "x.f32", "--method", "lower")

    def test_goes_on_where_it_was_stopped(self):
        self.write("x.f64", RANDOM.normal(0, 3, 300_000))
        whole = self.json("quantile", "x.f64")["result"]
        document = self.json("quantile", "x.f64", "--resume", "state")
        self.assertEqual(document["result"], whole)
        self.assertFalse((self.directory / "state").exists())

    def in_rounds(self, count, *words):
        """Computes all rounds of all shards; returns the parts of the last one."""
        after = []
        while True:
            parts = [f"{i}.part" for i in range(count)]
            for i, part in enumerate(parts):
                document = self.json("quantile", *words, *after, "--shard", f"{i}/{count}", "-o",
                                     part, "--force")
            number, rounds = document["result"]["round"]
            if number == rounds:
                return parts
            self.refuse(2, f"of round {number} of {rounds}", "merge", *parts)
            self.succeed("merge", *parts, "-o", "round.part", "--force")
            after = ["--after", "round.part"]

    def test_rounds_of_shards(self):
        data = RANDOM.normal(0, 3, 6 * TILE + 5)
        data[[3, 9]] = np.nan
        self.write("x.f64", data)
        self.write("x.i32", RANDOM.integers(-999, 999, 3 * TILE, "i4"))
        for words in (["x.f64", "--nan", "omit"], ["x.i32", "--q", "0.5,0.9"]):
            whole = self.json("quantile", *words)["result"]
            for count in (1, 3, 40):  # of 40, some are empty
                with self.subTest(words=words, count=count):
                    parts = self.in_rounds(count, *words)
                    self.assertEqual(self.json("merge", *parts)["result"], whole)
        table = self.succeed("merge", *parts, "--tsv").stdout
        self.assertEqual(table, self.succeed("quantile", *words, "--tsv").stdout)

    def test_rounds_that_do_not_belong_together(self):
        self.write("x.f32", RANDOM.normal(0, 3, 3 * TILE).astype("f4"))
        self.write("x.u8", np.zeros(TILE, "u1"))
        shard = ["--shard", "0/1", "-o", "y.part", "--after"]
        parts = self.in_rounds(1, "x.f32")
        self.check_error(2, "quantile", "x.f32", *shard, *parts)  # no round is left
        self.check_error(2, "merge", *parts, "--plot", "x.svg")
        self.check_error(2, "quantile", "x.f32", "--q", "0.5", *shard, "round.part")
        self.check_error(2, "quantile", "x.u8", *shard, "round.part")
        self.check_error(2, "histogram", "x.f32", *shard, "round.part")
        self.succeed("quantile", "x.f32", "--shard", "0/2", "-o", "half.part")
        self.check_error(2, "quantile", "x.f32", *shard, "half.part")
        self.check_error(2, "merge", "half.part", *parts)

    def test_nan_ends_the_first_round(self):
        data = np.zeros(3 * TILE, "f4")
        data[7] = np.nan
        self.write("x.f32", data)
        self.succeed("quantile", "x.f32", "--shard", "0/1", "-o", "0.part")
        result = self.json("merge", "0.part")["result"]
        self.assertEqual({each["value"] for each in result["quantiles"]}, {"NaN"})


if __name__ == "__main__":
    main()
