#!/usr/bin/env python3
"""Measures how many digits of `ooc-run reduce` are right: on the univariate data of NIST's
Statistical Reference Datasets (https://www.itl.nist.gov/div898/strd/), on many copies of them,
which span several tiles and chunks, and on numbers whose digits cancel. Prints the tables of
docs/decisions/011-exact-sums.md: LRE, the number of right digits, without and with --exact.

PiDigits is left out: no copy was found whose mean and deviation are the certified ones."""

import json
import math
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

import numpy as np

PROGRAM = sys.argv.pop(1)
COPIES = 1000
MOST = 15  # digits, as many as NIST gives


def alternating(middle, low, high):
    return [middle] + [low, high] * 500


def scaled(text, shift, unit):
    """Returns (shift + integer) / unit for each integer of a text, rounded once."""
    return [(shift + int(word)) / unit for word in text.split()]


LEW = """
-213 -564 -35 -15 141 115 -420 -360 203 -338 -431 194 -220 -513 154 -125 -559 92 -21 -579 -52 99
-543 -175 162 -457 -346 204 -300 -474 164 -107 -572 -8 83 -541 -224 180 -420 -374 201 -236 -531 83
27 -564 -112 131 -507 -254 199 -311 -495 143 -46 -579 -90 136 -472 -338 202 -287 -477 169 -124 -568
17 48 -568 -135 162 -430 -422 172 -74 -577 -13 92 -534 -243 194 -355 -465 156 -81 -578 -64 139 -449
-384 193 -198 -538 110 -44 -577 -6 66 -552 -164 161 -460 -344 205 -281 -504 134 -28 -576 -118 156
-437 -381 200 -220 -540 83 11 -568 -160 172 -414 -408 188 -125 -572 -32 139 -492 -321 205 -262 -504
142 -83 -574 0 48 -571 -106 137 -501 -266 190 -391 -406 194 -186 -553 83 -13 -577 -49 103 -515 -280
201 300 -506 131 -45 -578 -80 138 -462 -361 201 -211 -554 32 74 -533 -235 187 -372 -442 182 -147
-566 25 68 -535 -244 194 -351 -463 174 -125 -570 15 72 -550 -190 172 -424 -385 198 -218 -536 96"""
LOTTERY = """
162 671 933 414 788 730 817 33 536 875 670 236 473 167 877 980 316 950 456 92 517 557 956 954 104
178 794 278 147 773 437 435 502 610 582 780 689 562 964 791 28 97 848 281 858 538 660 972 671 613
867 448 738 966 139 636 847 659 754 243 122 455 195 968 793 59 730 361 574 522 97 762 431 158 429
414 22 629 788 999 187 215 810 782 47 34 108 986 25 644 829 630 315 567 919 331 207 412 242 607 668
944 749 168 864 442 533 805 372 63 458 777 416 340 436 140 919 350 510 572 905 900 85 389 473 758
444 169 625 692 140 897 672 288 312 860 724 226 884 508 976 741 476 417 831 15 318 432 241 114 799
955 833 358 935 146 630 830 440 642 356 373 271 715 367 393 190 669 8 861 108 795 269 590 326 866
64 523 862 840 219 382 998 4 628 305 747 247 34 747 729 645 856 974 24 568 24 694 608 480 410 729
947 293 53 930 223 203 677 227 62 455 387 318 562 242 428 968"""
MAVRO = """
180 170 180 190 180 170 150 140 150 150 170 180 180 190 190 210 200 160 140 130 130 150 150 160 150
140 130 140 150 140 150 160 150 160 190 200 200 210 220 230 240 250 270 260 260 260 270 260 250
240"""
MICHELSO = """
85 74 90 107 93 85 95 98 98 88 100 98 93 65 76 81 100 100 96 96 96 94 96 94 88 80 85 88 90 84 83 79
81 88 88 83 80 79 76 80 88 88 88 86 72 72 62 86 97 95 88 91 85 87 84 84 85 84 84 84 89 81 81 82 80
77 76 74 75 76 91 92 89 86 88 72 84 85 85 78 89 84 78 81 76 81 79 81 82 85 87 87 81 74 81 94 95 80
81 87"""

# Name: values, certified mean and standard deviation (of a sample), and how many digits of the
# latter are left once the decimal data are rounded to doubles, whatever the algorithm.
NIST = {
    "NumAcc1": ([10000001, 10000003, 10000002], 10000002, 1, 13),
    "NumAcc2": (alternating(1.2, 1.1, 1.3), 1.2, 0.1, 13),
    "NumAcc3": (alternating(1000000.2, 1000000.1, 1000000.3), 1000000.2, 0.1, 9.4),
    "NumAcc4": (alternating(10000000.2, 10000000.1, 10000000.3), 10000000.2, 0.1, 8.2),
    "Lew": (scaled(LEW, 0, 1), -177.435, 277.332168044316, 13),
    "Lottery": (scaled(LOTTERY, 0, 1), 518.958715596330, 291.699727470969, 13),
    "Mavro": (scaled(MAVRO, 200000, 100000), 2.001856, 0.000429123454003053, 13),
    "Michelso": (scaled(MICHELSO, 29900, 100), 299.8524, 0.0790105478190518, 13),
}


def lre(found, right):
    """Returns -log10 of the relative error: the number of right digits."""
    error = abs((Fraction(found) - Fraction(right)) / Fraction(right))
    return MOST if error == 0 else max(0, min(MOST, -math.log10(error)))


def print_heading(*columns):
    print("\n| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|")


def print_row(name, *numbers):
    print(f"| {name} | " + " | ".join(f"{number:.1f}" for number in numbers) + " |")


def exact(values):
    """Returns exact mean and population variance of doubles that are multiples of 2^-60."""
    unit = 2 ** 60
    numbers = [int(math.ldexp(value, 60)) for value in values]
    count, total = len(numbers), sum(numbers)
    squares = sum(number * number for number in numbers)
    return (Fraction(total, count * unit),
            Fraction(count * squares - total * total, (count * unit) ** 2))


class AccuracyTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "data.bin"

    def reduce(self, values, dtype):
        """Returns the statistics without and with --exact, and the number of chunks."""
        np.asarray(values, dtype).tofile(self.path)
        command = [PROGRAM, "reduce", str(self.path), "--dtype", dtype, "--chunk", "64K", "--json"]
        plain, exact = (json.loads(subprocess.run(command + option, check=True,
                                                  capture_output=True, text=True).stdout)
                        for option in ([], ["--exact"]))
        self.assertEqual(exact["result"]["stddev"], plain["result"]["stddev"])
        return plain["result"], exact["result"], plain["run"]["chunks"]

    def check_nist(self, name, copies):
        values, mean, deviation, deviation_digits = NIST[name]
        count = len(values)
        plain, rounded_once, chunks = self.reduce(values * copies, "f8")
        # The certified deviation is that of a sample; copying data does not change the
        # population's.
        found_deviation = plain["stddev"] * math.sqrt(count / (count - 1))
        digits = (lre(plain["mean"], mean), lre(rounded_once["mean"], mean),
                  lre(found_deviation, deviation))
        print_row(f"{name}, {count * copies:,} numbers", *digits)
        self.assertGreaterEqual(digits[0], 14, name)
        self.assertGreaterEqual(digits[2], deviation_digits, name)
        self.assertEqual(rounded_once["mean"], float(exact(values)[0]))
        self.assertEqual(chunks > 1, count * copies > 65536)

    def test_certified_values(self):
        print_heading("NIST StRD", "mean", "mean, `--exact`", "stddev")
        for name in NIST:
            for copies in (1, COPIES):
                with self.subTest(name=name, copies=copies):
                    self.check_nist(name, copies)

    def test_the_data_are_those_certified(self):
        """Checks the tables here by exact arithmetic, so that a typing error in them shows."""
        for name, (values, mean, deviation, digits) in NIST.items():
            right_mean, variance = exact(values)
            right = math.sqrt(variance * len(values) / (len(values) - 1))
            self.assertGreaterEqual(lre(right_mean, mean), 14, name)
            self.assertGreaterEqual(lre(right, deviation), digits, name)

    def test_floats_whose_digits_cancel(self):
        """Only the last two or three digits vary, so sums of squares would lose all of them."""
        random = np.random.default_rng(1)
        print_heading("300,001 of float32", "mean", "mean, `--exact`", "stddev")
        for middle in (1e3, -1e5, 1e6, 1.6e7):
            values = (middle + random.normal(0, abs(middle) * 1e-5, 300_001)).astype("f4")
            mean, variance = exact(values.tolist())
            plain, rounded_once, chunks = self.reduce(values, "f4")
            self.assertEqual(chunks, 5)
            digits = (lre(plain["mean"], mean), lre(rounded_once["mean"], mean),
                      lre(plain["stddev"] ** 2, variance))
            print_row(f"{middle:,.0f} ± 0.001 %", *digits)
            self.assertGreaterEqual(digits[0], 14.5, middle)
            self.assertGreaterEqual(digits[2], 13, middle)
            self.assertEqual(rounded_once["mean"], float(mean))

    def test_sums_that_cancel(self):
        """Sums numbers, their opposites, and one more number, which is the exact sum."""
        random = np.random.default_rng(2)
        print_heading("300,001 of float64, sum 1/3", "sum", "sum, `--exact`")
        for size in (1, 1e5, 1e10, 1e20):
            numbers = random.uniform(-size, size, 150_000)
            values = random.permutation(np.concatenate([numbers, -numbers, [1 / 3]]))
            plain, rounded_once, _ = self.reduce(values, "f8")
            print_row(f"up to {size:g}", lre(plain["sum"], 1 / 3), lre(rounded_once["sum"], 1 / 3))
            self.assertEqual(rounded_once["sum"], 1 / 3)


if __name__ == "__main__":
    unittest.main()
