#!/usr/bin/env python3
"""Compares `ooc-run reduce` with NumPy, for all types, both byte orders, raw and .npy files."""

import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

PROGRAM = sys.argv.pop(1)
TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "bf16"]
COUNTS = [1, 255, 70_001, 400_000]
NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number(value):
    return NAMES.get(value, value) if isinstance(value, str) else value


def run_reduce(path, *options):
    command = [PROGRAM, "reduce", str(path), "--json", "--device", "cpu", *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {key: number(value) for key, value in json.loads(output)["result"].items()}


def stored(values, dtype, swapped):
    """Returns the contents of a raw file of these values, and the values that NumPy works on."""
    if dtype == "bf16":
        halves = (values.astype("f4").view("u4") >> 16).astype("u2")
        exact = (halves.astype("u4") << 16).view("f4")
        return halves.astype(">u2" if swapped else "<u2"), exact
    return values.astype((">" if swapped else "<") + dtype), values


class ReduceTest(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(20240229)
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = Path(self.directory.name) / "data.bin"

    def values_of(self, dtype, count, kind):
        """Returns values that the type can hold, so that nothing is rounded in the file."""
        if dtype[0] in "ui":
            limits = np.iinfo(dtype)
            values = self.random.integers(limits.min, limits.max, count, dtype, endpoint=True)
            return np.sort(values)[::-1] if kind == "sorted" else values
        wide = "f4" if dtype == "bf16" else dtype
        values = self.random.normal(3, 10, count).astype(wide)
        if kind == "sorted":
            values = np.sort(values)[::-1]
        elif kind == "constant":
            values[:] = values[0]
        elif kind == "infinite":
            values[count // 2] = np.inf
        elif kind in ("nan", "all nan"):
            values[count // 3] = np.nan
            values[count - 1] = np.nan
            if kind == "all nan":
                values[:] = np.nan
        return np.ascontiguousarray(values)

    def check(self, found, values):
        """Checks the statistics of values without NaN."""
        wide = values.astype("f8")
        self.assertEqual(found["count"], values.size)
        self.assertEqual(found["nan"], 0)
        self.assertEqual(found["min"], values.min())
        self.assertEqual(found["max"], values.max())
        self.assertEqual(found["argmin"], values.argmin())
        self.assertEqual(found["argmax"], values.argmax())
        if values.dtype.kind in "ui":
            self.assertEqual(found["sum"], sum(values.tolist()))
            self.assertEqual(found["mean"], float(found["sum"]) / values.size)
        elif np.isinf(wide).any():
            self.assertEqual(found["sum"], math.inf)
            self.assertEqual(found["mean"], math.inf)
            self.assertTrue(math.isnan(found["variance"]))
            self.assertTrue(math.isnan(found["stddev"]))
            return
        else:
            size = math.fsum(np.abs(wide))
            self.assertLessEqual(abs(found["sum"] - math.fsum(wide)), 1e-14 * size)
            self.assertEqual(found["mean"], float(found["sum"]) / values.size)
        np.testing.assert_allclose(found["variance"], wide.var(), rtol=1e-11, atol=1e-25)
        self.assertEqual(found["stddev"], math.sqrt(found["variance"]))

    def test_every_type(self):
        for dtype in TYPES:
            for swapped in (False, True):
                for count in COUNTS:
                    kinds = ["random", "sorted"]
                    kinds += ["constant", "infinite"] if dtype[0] not in "ui" else []
                    for kind in kinds:
                        with self.subTest(dtype=dtype, swapped=swapped, count=count, kind=kind):
                            raw, values = stored(self.values_of(dtype, count, kind), dtype, swapped)
                            raw.tofile(self.path)
                            order = ">" if swapped else "<"
                            found = run_reduce(self.path, "--dtype", order + dtype,
                                               "--chunk", "256K", "--streams", "3")
                            self.check(found, values)

    def test_nan(self):
        for dtype in ("f2", "f4", "f8", "bf16"):
            for kind in ("nan", "all nan"):
                with self.subTest(dtype=dtype, kind=kind):
                    raw, values = stored(self.values_of(dtype, 200_000, kind), dtype, False)
                    raw.tofile(self.path)
                    found = run_reduce(self.path, "--dtype", dtype)
                    self.assertEqual(found["nan"], np.isnan(values).sum())
                    for name in ("sum", "min", "max", "mean", "variance", "stddev"):
                        self.assertTrue(math.isnan(found[name]), name)
                    self.assertEqual(found["argmin"], values.argmin())
                    self.assertEqual(found["argmax"], values.argmax())

                    found = run_reduce(self.path, "--dtype", dtype, "--nan", "omit")
                    self.assertEqual(found["nan"], np.isnan(values).sum())
                    wide = values.astype("f8")
                    np.testing.assert_allclose(found["sum"], np.nansum(wide), rtol=1e-12)
                    if kind == "all nan":
                        self.assertIsNone(found["argmin"])
                        self.assertTrue(math.isnan(found["mean"]))
                        continue
                    self.assertEqual(found["min"], np.nanmin(values))
                    self.assertEqual(found["argmax"], np.nanargmax(values))
                    np.testing.assert_allclose(found["mean"], np.nanmean(wide), rtol=1e-12)
                    np.testing.assert_allclose(found["variance"], np.nanvar(wide), rtol=1e-12)

    def test_both_zeros(self):
        """-0 equals +0: argmin is the first of either, and min is that element."""
        for dtype in ("f2", "f4", "f8", "bf16"):
            for count in (3, 300, 70_000, 400_000):
                for minus_zeros in (0.5, 0.001):
                    zeros = np.where(self.random.random(count) < minus_zeros, -0.0, 0.0)
                    zeros[0] = -zeros[0]
                    values = stored(zeros.astype("f4"), dtype, False)[1]
                    for nan in ((), (count // 2,)):
                        values[list(nan)] = np.nan
                        stored(values, dtype, False)[0].tofile(self.path)
                        with self.subTest(dtype=dtype, count=count, minus_zeros=minus_zeros):
                            self.check_zeros(values, dtype)

    def check_zeros(self, values, dtype):
        found = run_reduce(self.path, "--dtype", dtype, "--chunk", "256K", "--streams", "3")
        self.assertEqual((found["argmin"], found["argmax"]), (values.argmin(), values.argmax()))
        found = run_reduce(self.path, "--dtype", dtype, "--nan", "omit")
        self.assertEqual((found["argmin"], found["argmax"]),
                         (np.nanargmin(values), np.nanargmax(values)))
        for extreme in "min", "max":
            element = values[found["arg" + extreme]]
            self.assertEqual(math.copysign(1, found[extreme]), math.copysign(1, element))

    def test_npy_files(self):
        path = self.path.with_suffix(".npy")
        for dtype in TYPES[:-1]:
            for order in "<>":
                with self.subTest(dtype=dtype, order=order):
                    values = self.values_of(dtype, 300_000, "random")
                    np.save(path, values.astype(order + dtype).reshape(300, 1000))
                    self.check(run_reduce(path), values)

    def test_a_part_of_several_files(self):
        values = self.values_of("f8", 200_000, "random")
        second = self.path.with_name("second.bin")
        for path, part in ((self.path, values[:90_001]), (second, values[90_001:])):
            path.write_bytes(b"header!" + part.tobytes())
        found = run_reduce(self.path, str(second), "--dtype", "f8", "--offset", "7",
                           "--count", "150000")
        self.check(found, values[:150_000])

    def test_an_empty_file(self):
        self.path.write_bytes(b"")
        for dtype in ("f4", "i2"):
            found = run_reduce(self.path, "--dtype", dtype, "--verify")
            for name in ("count", "nan", "inf", "sum"):
                self.assertEqual(found.pop(name), 0)
            self.assertIs(found.pop("verified"), True)
            self.assertEqual(set(found.values()), {None})


if __name__ == "__main__":
    unittest.main()
