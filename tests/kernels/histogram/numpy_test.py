#!/usr/bin/env python3
"""Compares `ooc-run histogram` with numpy.histogram, count for count.

Usage: numpy_test.py OOC_RUN
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

OOC_RUN = sys.argv.pop(1) if len(sys.argv) > 1 else "ooc-run"
RANDOM_CASES = 160

INTEGERS = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"]
FLOATS = ["f2", "f4", "f8"]
DEFAULT_RANGES = {"u1": (0, 256), "i1": (-128, 128)}


def as_doubles(data, dtype):
    """Returns the values as doubles. NumPy has no bf16, but it is the upper half of an f4."""
    with numpy.errstate(all="ignore"):  # signalling NaN
        if dtype == "bf16":
            return (data.astype("u4") << 16).view("f4").astype("f8")
        return data.astype("f8")


def expected_counts(values, bins, limits):
    """Calls numpy.histogram, with edges where it fails with ranges of tiny bins."""
    lower, upper = limits
    if lower == upper or bins < (upper - lower) * sys.float_info.max:
        return numpy.histogram(values, bins, limits)
    edges = numpy.arange(bins + 1) / bins * (upper - lower) + lower
    return numpy.histogram(values, edges)


class HistogramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_histogram(self, data, dtype, *options, npy=False):
        """Writes `data` to a file and returns the histogram by ooc-run."""
        path = Path(self.folder.name) / ("data.npy" if npy else "data.bin")
        if npy:
            numpy.save(path, data)
            options = [path, *options]
        else:
            data.tofile(path)
            swapped = ">" if data.dtype.byteorder == ">" else ""
            options = [path, "--dtype", swapped + dtype, *options]
        command = [OOC_RUN, "histogram", *map(str, options), "--json", "--device", "cpu"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        return json.loads(done.stdout)["result"]

    def check(self, result, values, edges, counts):
        self.assertEqual(result["edges"], list(edges))
        self.assertEqual(result["counts"], list(counts))
        self.assertEqual(result["bins"], len(counts))
        self.assertEqual(result["lower"], edges[0])
        self.assertEqual(result["upper"], edges[-1])
        self.assertEqual(result["below"], numpy.count_nonzero(values < edges[0]))
        self.assertEqual(result["above"], numpy.count_nonzero(values > edges[-1]))
        self.assertEqual(result["nan"], numpy.count_nonzero(numpy.isnan(values)))
        self.assertEqual(result["count"], values.size)

    def check_even(self, data, dtype, bins=256, limits=None, npy=False, options=()):
        """Checks bins of equal width, over `limits` or over the range that ooc-run finds."""
        values = as_doubles(data, dtype)
        options = ["--bins", bins, *options]
        if limits is not None:
            options += ["--range", f"{float(limits[0])!r}:{float(limits[1])!r}"]
        elif dtype in DEFAULT_RANGES:
            limits = DEFAULT_RANGES[dtype]
        else:
            finite = values[numpy.isfinite(values)]
            limits = (finite.min(), finite.max())
        counts, edges = expected_counts(values, bins, limits)
        self.check(self.run_histogram(data, dtype, *options, npy=npy), values, edges, counts)

    # --- each kind of data -----------------------------------------------------------------------

    def test_integers_at_full_range(self):
        random = numpy.random.default_rng(1)
        for dtype in INTEGERS:
            limits = numpy.iinfo(dtype)
            data = random.integers(limits.min, limits.max, 50_000, dtype, endpoint=True)
            data[:4] = [limits.min, limits.max, limits.min + 1, limits.max - 1]
            for bins in (1, 100, 256, 65_535):
                with self.subTest(dtype=dtype, bins=bins):
                    self.check_even(data, dtype, bins)
                    self.check_even(data, dtype, bins, (limits.min, limits.max))

    def test_values_at_edges(self):
        for dtype in FLOATS:
            for limits, bins in [((0, 1), 10), ((0.1, 0.7), 77), ((-3, 1e4), 1000),
                                 ((-1 / 3, 1e3 / 7), 333)]:
                edges = numpy.linspace(*limits, bins + 1).astype(dtype)
                data = numpy.concatenate([edges, numpy.nextafter(edges, dtype_infinity(dtype)),
                                          numpy.nextafter(edges, -dtype_infinity(dtype))])
                with self.subTest(dtype=dtype, limits=limits, bins=bins):
                    self.check_even(data, dtype, bins, limits)
                    self.check_even(data, dtype, bins)

    def test_constant_data(self):
        for dtype in INTEGERS + FLOATS:
            for value in (0, 1, 77):
                with self.subTest(dtype=dtype, value=value):
                    self.check_even(numpy.full(70_000, value, dtype), dtype)

    def test_denormal_values(self):
        random = numpy.random.default_rng(2)
        for dtype in FLOATS:
            smallest = numpy.nextafter(numpy.zeros(1, dtype), numpy.ones(1, dtype))
            data = (random.integers(-500, 500, 10_000) * smallest).astype(dtype)
            for bins in (1, 7, 256):
                with self.subTest(dtype=dtype, bins=bins):
                    self.check_even(data, dtype, bins)

    def test_bins_without_width(self):
        """Bins without width are refused, as by NumPy since version 2."""
        path = Path(self.folder.name) / "data.f64"
        for lower, upper in ((1, 1 + 2e-16), (1e16, 1e16 + 4), (-3 - 1e-15, -3)):
            values = numpy.array([lower, upper])
            values.tofile(path)
            for words, code in ((["--range", f"{lower!r}:{upper!r}"], 2), ([], 3)):
                command = [OOC_RUN, "histogram", str(path), "--bins", "10", *words]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("10 bins do not fit into the range", done.stderr)
            if int(numpy.__version__.split(".")[0]) >= 2:
                with self.assertRaisesRegex(ValueError, "Too many bins"):
                    numpy.histogram(values, 10, (lower, upper))

    def test_not_finite_values(self):
        random = numpy.random.default_rng(3)
        for dtype in FLOATS:
            data = random.normal(size=20_000).astype(dtype)
            data[random.integers(0, data.size, 3000)] = numpy.nan
            data[random.integers(0, data.size, 2000)] = numpy.inf
            data[random.integers(0, data.size, 1000)] = -numpy.inf
            with self.subTest(dtype=dtype):
                self.check_even(data, dtype)
                self.check_even(data, dtype, 50, (-0.5, 0.25))

    def test_every_pattern_of_16_bits(self):
        data = numpy.arange(65_536, dtype="u2")
        for dtype, limits in [("bf16", (-1e3, 1e3)), ("f2", None), ("u2", None), ("i2", None)]:
            with self.subTest(dtype=dtype):
                view = data if dtype == "bf16" else data.view(dtype)
                self.check_even(view, dtype, 1000, limits)
        below_overflow = data[(data & 0x7fff) < 0x7f00]  # else the width of the range is infinite
        self.check_even(below_overflow, "bf16", 99)

    def test_byte_orders_and_formats(self):
        random = numpy.random.default_rng(4)
        for code in ["u2", "i4", "u8", "f2", "f4", "f8"]:
            data = (random.normal(size=30_000) * 100 + 1000).astype(code)
            for order in "<>":
                for npy in (False, True):
                    with self.subTest(code=code, order=order, npy=npy):
                        self.check_even(data.astype(order + code), code, 100, npy=npy)

    # --- other bins ------------------------------------------------------------------------------

    def test_given_edges(self):
        random = numpy.random.default_rng(5)
        for dtype in INTEGERS + FLOATS:
            data = (random.normal(size=20_000) * 20 + 30).clip(0, 100).astype(dtype)
            for edges in ([0, 1], [0.5, 1, 2.25, 10, 50.0, 99.5, 1e6], [30, 31],
                          sorted(random.normal(size=40) * 30)):
                with self.subTest(dtype=dtype, edges=edges):
                    values = as_doubles(data, dtype)
                    text = ",".join(repr(float(edge)) for edge in edges)
                    result = self.run_histogram(data, dtype, "--edges", text)
                    self.check(result, values, edges, numpy.histogram(values, edges)[0])

    def test_logarithmic_bins(self):
        random = numpy.random.default_rng(6)
        for dtype in ["u1", "i2", "u4", "u8", "f2", "f4", "f8"]:
            data = (numpy.exp(random.normal(size=20_000)) * 10).clip(1, 120).astype(dtype)
            for bins, limits in [(1, None), (256, None), (33, (0.5, 60)), (1000, (2, 3))]:
                with self.subTest(dtype=dtype, bins=bins, limits=limits):
                    values = as_doubles(data, dtype)
                    options = ["--log-bins", "--bins", bins]
                    if limits:
                        options += ["--range", f"{limits[0]}:{limits[1]}"]
                    limits = limits or (values.min(), values.max())
                    result = self.run_histogram(data, dtype, *options)
                    edges = numpy.array(result["edges"])
                    numpy.testing.assert_allclose(edges, numpy.geomspace(*limits, bins + 1), 1e-13)
                    self.check(result, values, edges, numpy.histogram(values, edges)[0])

    # --- anything --------------------------------------------------------------------------------

    def test_random_cases(self):
        for seed in range(RANDOM_CASES):
            with self.subTest(seed=seed):
                self.check_random(numpy.random.default_rng(seed))

    def check_random(self, random):
        dtype = random.choice(INTEGERS + FLOATS)
        scale = 10.0 ** random.integers(-3, 5)
        count = int(random.choice([1, 2, 3, 1000, 65_536, 65_537, 200_000]))
        values = random.normal(random.normal() * scale, scale, count)
        if dtype in INTEGERS:
            limits = numpy.iinfo(dtype)
            values = values.clip(limits.min // 2, limits.max // 2)
        elif dtype == "f2":
            values = values.clip(-60_000, 60_000)
        data = values.astype(dtype)
        if random.random() < 0.3:
            data.sort()
        if random.random() < 0.3 and dtype not in ("u1", "i1"):
            data = data.astype(data.dtype.newbyteorder(">"))
        limits = None
        if random.random() < 0.5:
            limits = sorted(random.normal(random.normal() * scale, 2 * scale, 2))
        options = ["--chunk", random.choice(["64K", "256K", "16M"]),
                   "--streams", random.integers(1, 4),
                   "--engine", random.choice(["auto", "threads"])]
        bins = int(2 ** random.uniform(0, 17))
        self.check_even(data, dtype, bins, limits, bool(random.random() < 0.3), options)


def dtype_infinity(dtype):
    return numpy.array(numpy.inf, dtype)


if __name__ == "__main__":
    unittest.main()
