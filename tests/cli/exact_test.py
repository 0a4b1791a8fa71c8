#!/usr/bin/env python3
"""Tests that reduce --exact gives the exact sum and mean, rounded once. They are compared with
math.fsum, which rounds correctly, and with fractions."""

import math
from fractions import Fraction

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(11)
FLOATS = ["f2", "bf16", "f4", "f8"]
COUNT = 100_001


def as_doubles(bits, dtype):
    """Converts elements, given as unsigned integers, to doubles."""
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        if dtype == "bf16":
            return (bits.astype("u4") << 16).view("f4").astype("f8")
        return bits.view(dtype).astype("f8")


def bits_of(values, dtype):
    """Converts values to elements, as unsigned integers; bf16 is truncated."""
    if dtype == "bf16":
        return (values.astype("f4").view("u4") >> 16).astype("u2")
    return values.astype(dtype).view("u" + dtype[1])


def random_bits(dtype):
    width = 2 if dtype == "bf16" else int(dtype[1])
    bits = np.frombuffer(RANDOM.bytes(width * COUNT), f"u{width}")
    return bits[np.isfinite(as_doubles(bits, dtype))]


def opposite(bits):
    return bits ^ bits.dtype.type(1 << (8 * bits.itemsize - 1))


def hostile(dtype):
    """Returns finite elements, as unsigned integers, in difficult patterns by name."""
    anything = random_bits(dtype)
    smaller = anything[np.abs(as_doubles(anything, dtype)) < 2.0 ** 1000]  # for fsum
    rest = bits_of(np.array([1, 2.0 ** -10, 1.5]), dtype)
    cancelling = np.concatenate([smaller, opposite(smaller), rest])
    sign_and_low_bits = anything.dtype.type((1 << (8 * anything.itemsize - 1)) + 7)
    return {
        "normal": bits_of(RANDOM.normal(0, 3, COUNT), dtype),
        "anything": smaller,
        "cancelling": RANDOM.permutation(cancelling),
        "subnormal": anything & sign_and_low_bits,
        "constant": bits_of(np.full(COUNT, 0.1), dtype),
        "minus zero": bits_of(np.full(COUNT, -0.0), dtype),
    }


def exact_mean(values):
    """Returns the exact mean, rounded once."""
    ratios = (value.as_integer_ratio() for value in values.tolist())
    total = sum(numerator << (1075 - denominator.bit_length()) for numerator, denominator in ratios)
    return float(Fraction(total, len(values) << 1074))


class ExactTest(CliTest):
    def reduce(self, *words):
        return self.json("reduce", "x.bin", *words)["result"]

    def exact(self, values, *words):
        self.write("x.bin", np.asarray(values, "f8"))
        result = self.reduce("--dtype", "f8", "--exact", *words)
        self.assertIs(result["exact"], True)
        return result

    def test_every_type_and_byte_order(self):
        for dtype in FLOATS:
            for name, bits in hostile(dtype).items():
                values = as_doubles(bits, dtype)
                total, mean = math.fsum(values), exact_mean(values)
                for order in "<>":
                    with self.subTest(dtype=dtype, name=name, order=order):
                        self.write("x.bin", bits.astype(bits.dtype.newbyteorder(order)))
                        found = self.reduce("--dtype", order + dtype, "--exact",
                                            "--chunk", "256K", "--streams", "3")
                        self.assertEqual(found["sum"], total)
                        self.assertEqual(found["mean"], mean)
                        self.assertEqual(math.copysign(1, found["sum"]),
                                         math.copysign(1, total + 0.0))

    def test_where_the_plain_sum_has_no_digit_right(self):
        values = RANDOM.uniform(1e25, 1e26, COUNT)
        values = RANDOM.permutation(np.concatenate([values, -values, [math.pi]]))
        self.write("x.bin", values)
        plain = self.reduce("--dtype", "f8")
        self.assertNotIn("exact", plain)
        self.assertGreater(abs(plain["sum"] - math.pi), math.pi)
        self.assertEqual(self.exact(values)["sum"], math.pi)

    def test_any_order_and_any_way_of_reading(self):
        bits = hostile("f8")["anything"]
        total = math.fsum(bits.view("f8"))
        for shuffle in range(3):
            for words in (["--chunk", "512K"], ["--streams", "1"], ["--engine", "threads"],
                          ["--chunk", "1M", "--streams", "5", "--threads", "3"],
                          ["--device", "cpu", "--direct", "no"]):
                self.assertEqual(self.exact(bits.view("f8"), *words)["sum"], total, words)
            bits = RANDOM.permutation(bits)

    def test_the_middle_between_two_goes_to_the_even_one(self):
        tiny = 2.0 ** -1074
        for values, total in (([2.0**53, 1], 2.0**53), ([2.0**53, 3], 2.0**53 + 4),
                              ([2.0**53, 1, tiny], 2.0**53 + 2), ([2.0**53, 1, -tiny], 2.0**53)):
            self.assertEqual(math.fsum(values), total)
            self.assertEqual(self.exact(values)["sum"], total)
            self.assertEqual(self.exact([-value for value in values])["sum"], -total)

    def test_infinite_only_where_the_sum_is(self):
        largest = np.finfo("f8").max
        self.assertEqual(self.exact([1e308] * 1000 + [-1e308] * 999)["sum"], 1e308)
        self.assertEqual(self.exact([largest, 2.0**970, -2.0**-1074])["sum"], largest)
        found = self.exact([-largest, -2.0**970])
        self.assertEqual((found["sum"], found["mean"]), ("-Infinity", -largest / 2 - 2.0**969))
        found = self.exact([1e308] * 70_000)
        self.assertEqual((found["sum"], found["mean"]), ("Infinity", 1e308))

    def test_infinities_and_nan(self):
        for values, total in (([np.inf, 1], "Infinity"), ([-np.inf, 1], "-Infinity"),
                              ([np.inf, 1, -np.inf], "NaN"), ([np.nan, 1], "NaN")):
            found = self.exact(values)
            self.assertEqual((found["sum"], found["mean"]), (total, total))
        found = self.exact([1e16, np.nan, 1, -1e16], "--nan", "omit")
        self.assertEqual((found["sum"], found["mean"], found["nan"]), (1, 1 / 3, 1))

    def test_integers_and_nothing(self):
        self.write("x.bin", np.array([2**53, 1, 2], "i8"))
        found = self.reduce("--dtype", "i8", "--exact")
        self.assertEqual((found["sum"], found["mean"]),
                         (2**53 + 3, float(Fraction(2**53 + 3, 3))))
        self.write("x.bin", b"")
        found = self.reduce("--dtype", "f4", "--exact")
        self.assertEqual((found["sum"], found["exact"]), (0, True))

    def test_text(self):
        self.write("x.f64", np.array([1e308, 1, -1e308]))
        text = self.succeed("reduce", "x.f64", "--exact").stdout
        self.assertRegex(text, r"\n  sum +1  correctly rounded\n")
        self.assertRegex(text, r"\n  mean +0\.3333333333333333  correctly rounded\n")
        self.assertNotIn("rounded", self.succeed("reduce", "x.f64").stdout)


if __name__ == "__main__":
    main()
