#!/usr/bin/env python3
"""Tests ooc-run filter: its files against NumPy's boolean indexing, and what it refuses."""

import os

import numpy as np
from cli_support import CliTest, main

COUNT = 300_001
RANDOM = np.random.default_rng(4)
VALUES = RANDOM.normal(size=COUNT).astype("f4")
VALUES[[0, 5, COUNT - 1]] = np.nan, np.inf, -np.inf


class FilterTest(CliTest):
    def compare(self, name, *words, values, fits, out="kept.npy"):
        """Filters with every form of output, and verifies each."""
        def result(*more):
            found = self.json("filter", name, *words, *more, "--verify", "--force")["result"]
            self.assertEqual((found["count"], found["kept"], found["verified"]),
                             (len(fits), fits.sum(), True))
            return found["bytes_written"]

        self.assertEqual(result("-o", out), values[fits].nbytes)
        self.same(out, values[fits])
        self.assertEqual(result("-o", out, "--rest", "rest.npy"), values.nbytes)
        self.same(out, values[fits])
        self.same("rest.npy", values[~fits])
        result("-o", "places.npy", "--rest", "others.npy", "--indices")
        self.same("places.npy", np.flatnonzero(fits))
        self.same("others.npy", np.flatnonzero(~fits))

    def same(self, name, expected):
        found = np.load(self.path(name))
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        self.assertEqual(found.tobytes(), expected.tobytes())

    def test_ranges(self):
        np.save(self.path("x.npy"), VALUES)
        x = VALUES.astype("f8")
        value = float(VALUES[7])
        for words, fits in ((["--above", 0.5], x > 0.5),
                            (["--below", -1], x < -1),
                            (["--above", -0.5, "--below", 0.25], (x > -0.5) & (x < 0.25)),
                            (["--between", "0:1"], (x >= 0) & (x <= 1)),
                            (["--between", ":0.25"], x <= 0.25),
                            (["--between", "-1e-3:"], x >= -1e-3),
                            (["--equal", repr(value)], x == value),
                            (["--finite"], np.isfinite(x)),
                            (["--finite", "--above", 1], np.isfinite(x) & (x > 1)),
                            (["--finite", "--between", "1:inf"], np.isfinite(x) & (x >= 1)),
                            (["--not-nan"], ~np.isnan(x)),
                            (["--above", "inf"], x > np.inf),
                            (["--equal", "-inf"], x == -np.inf)):
            for way in ((), ("--chunk", "64K", "--streams", 3), ("--engine", "threads")):
                with self.subTest(words, way=way):
                    self.compare("x.npy", *words, *way, values=VALUES, fits=fits)

    def test_types_and_byte_orders(self):
        for code in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f8", ">i4", ">f8", "?"):
            x = RANDOM.integers(0, 2 if code == "?" else 100, 20_000).astype(code)
            np.save(self.path("x.npy"), x)
            wide = x.astype("f8")
            for words, fits in ((["--above", 0], wide > 0), (["--below", -1e30], wide < -1e30),
                                (["--between", "0.5:50"], (wide >= 0.5) & (wide <= 50))):
                with self.subTest(words, code=code):
                    self.compare("x.npy", *words, values=x, fits=fits)

    def test_integers_beyond_doubles_are_compared_exactly(self):
        x = np.array([2**63, 2**63 + 1, 2**64 - 1, 0, 5], "u8")
        np.save(self.path("x.npy"), x)
        self.compare("x.npy", "--above", 2**63, values=x, fits=x > 2**63)
        self.compare("x.npy", "--equal", 2**64 - 1, values=x, fits=x == 2**64 - 1)

    def test_rows_and_structs(self):
        rows = RANDOM.normal(size=(50_000, 3))
        np.save(self.path("rows.npy"), rows)
        self.compare("rows.npy", "--by", 1, "--above", 0, values=rows, fits=rows[:, 1] > 0)
        flat = rows.reshape(-1)
        self.compare("rows.npy", "--above", 0, values=flat, fits=flat > 0)
        thin = rows[:, :1].copy()
        np.save(self.path("thin.npy"), thin)
        self.compare("thin.npy", "--by", 0, "--above", 0, values=thin, fits=thin[:, 0] > 0)
        structs = np.zeros(20_000, [("a", ">f4"), ("flag", "?"), ("name", "S5"), ("n", "i8"),
                                    ("time", ">M8[ns]"), ("v", "f4", (2, 3)), ("w", "U3", 2)])
        structs["a"] = VALUES[:20_000]
        structs["n"] = np.arange(20_000) % 11 - 5
        structs["flag"] = structs["n"] > 2
        np.save(self.path("s.npy"), structs)
        self.compare("s.npy", "--by", "a", "--above", 0.5, values=structs, fits=structs["a"] > 0.5)
        self.compare("s.npy", "--by", "n", "--between", "-2:2", values=structs,
                     fits=abs(structs["n"]) <= 2)
        self.compare("s.npy", "--by", "flag", "--equal", 1, values=structs, fits=structs["flag"])
        self.compare("s.npy::n", "--equal", -5, values=structs["n"], fits=structs["n"] == -5)

    def test_masks(self):
        rows = RANDOM.normal(size=(50_000, 3))
        np.save(self.path("x.npy"), rows)
        mask = RANDOM.integers(0, 2, 50_000).astype("?")
        np.save(self.path("mask.npy"), mask)
        self.compare("x.npy", "--mask", "mask.npy", values=rows, fits=mask)
        flat = RANDOM.integers(-1, 2, rows.shape).astype("f4")
        flat[0] = np.nan
        np.save(self.path("mask.npy"), flat)
        self.compare("x.npy", "--mask", "mask.npy", values=rows.reshape(-1),
                     fits=flat.reshape(-1) != 0)
        structs = np.zeros(20_000, [("a", "f4"), ("keep", "i2")])
        structs["keep"] = np.arange(20_000) % 3
        np.save(self.path("s.npy"), structs)
        self.compare("s.npy", "--mask", "s.npy::keep", values=structs, fits=structs["keep"] != 0)

    def test_raw_files_parts_and_text(self):
        self.write("x.f32", VALUES)
        text = self.succeed("filter", "x.f32", "-o", "o.f32", "--above", 1, "--rest",
                            "r.f32").stdout
        fits = VALUES > 1
        self.assertEqual(self.directory.joinpath("o.f32").read_bytes(), VALUES[fits].tobytes())
        self.assertIn(f"wrote o.f32: {fits.sum():,} of 300,001 values (15.9 %)", text)
        self.assertIn(f"wrote r.f32: {(~fits).sum():,} of 300,001 values (84.1 %)", text)
        self.json("filter", "x.f32", "x.f32", "-o", "two.npy", "--skip", 9, "--count", 400_000,
                  "--below", 0, "--indices", "--verify")
        both = np.concatenate([VALUES, VALUES])[9:400_009]
        np.testing.assert_array_equal(np.load(self.path("two.npy")), np.flatnonzero(both < 0))

    def test_empty_data_and_nothing_kept(self):
        np.save(self.path("x.npy"), VALUES[:0])
        self.compare("x.npy", "--above", 0, values=VALUES[:0], fits=np.zeros(0, bool))
        np.save(self.path("x.npy"), VALUES[:3])
        self.compare("x.npy", "--above", 99, values=VALUES[:3], fits=np.zeros(3, bool))

    def test_a_stream(self):
        self.write("x.f32", VALUES)
        with open(self.path("x.f32"), "rb") as file:
            found = self.json("filter", "-", "--dtype", "f4", "-o", "o.f32", "--above", 1,
                              stdin=file)
        self.assertEqual(found["result"]["kept"], (VALUES > 1).sum())
        self.assertEqual(self.directory.joinpath("o.f32").read_bytes(),
                         VALUES[VALUES > 1].tobytes())

    def test_a_value_that_is_none_of_the_type(self):
        self.write("x.f32", VALUES)
        words = ("filter", "x.f32", "-o", "o.f32", "--force")
        warnings = self.json(*words, "--equal", 0.1)["warnings"]
        self.assertIn("no value of float32 is 0.1", warnings[0])
        self.assertEqual(self.json(*words, "--equal", 0.5)["warnings"], [])
        warnings = self.json(*words, "--equal", 2**24 + 1)["warnings"]
        self.assertIn("no value of float32 is 16777217", warnings[0])
        self.write("x.i16", np.arange(9, dtype="i2"))
        found = self.json("filter", "x.i16", "-o", "o.i16", "--equal", 2.5)
        self.assertIn("no value of int16 is 2.5", found["warnings"][0])

    def test_explain_writes_nothing(self):
        self.write("x.f32", VALUES)
        words = ("filter", "x.f32", "-o", "o.npy", "--rest", "r.npy", "--above", 1, "--explain")
        text = self.succeed(*words).stdout
        self.assertIn("o.npy, r.npy: at most all that is read", text)
        self.assertIn("writes      1.20 MB", text)
        self.json(*words)
        self.assertEqual(os.listdir(self.directory), ["x.f32"])

    def test_goes_on_from_a_checkpoint(self):
        self.write("x.f32", VALUES)
        self.json("filter", "x.f32", "-o", "o.f32", "--above", 0, "--resume", "saved")
        self.assertEqual(self.directory.joinpath("o.f32").read_bytes(),
                         VALUES[VALUES > 0].tobytes())
        self.assertEqual(sorted(os.listdir(self.directory)), ["o.f32", "x.f32"])

    def test_refusals(self):
        self.write("x.f32", VALUES)
        np.save(self.path("s.npy"), np.zeros(5, [("x", "f4"), ("name", "S3")]))
        np.save(self.path("mask.npy"), np.zeros(5))
        for words in (("x.f32", "--above", 1),
                      ("x.f32", "-o", "o.npy"),
                      ("x.f32", "-o", "o.npy", "--by", 0),
                      ("x.f32", "-o", "o.npy", "--above", 1, "--mask", "mask.npy"),
                      ("x.f32", "-o", "o.npy", "--above", 1, "--equal", 2),
                      ("x.f32", "-o", "o.npy", "--above", 1, "--between", "1:2"),
                      ("x.f32", "-o", "o.npy", "--above", "nan"),
                      ("x.f32", "-o", "o.npy", "--between", "2:1"),
                      ("x.f32", "-o", "o.npy", "--between", ":"),
                      ("x.f32", "-o", "o.npy", "--between", "2"),
                      ("x.f32", "-o", "o.npy", "--above", -2**63 - 1),
                      ("x.f32", "-o", "o.npy", "--above", 1, "--by", ""),
                      ("x.f32", "-o", "o.npy", "--above", 1, "--by", 1),
                      ("x.f32", "-o", "o.npy", "--above", 1, "--rest", "o.npy"),
                      ("x.f32", "-o", "x.f32", "--above", 1, "--force"),
                      ("x.f32", "-o", "o.f64", "--above", 1),
                      ("x.f32", "-o", "o.npy", "--mask", "-"),
                      ("s.npy", "-o", "o.npy", "--by", "y", "--above", 1),
                      ("s.npy", "-o", "o.npy", "--by", "name", "--above", 1)):
            self.check_error(2, "filter", *words)
        self.check_error(3, "filter", "s.npy", "-o", "o.npy", "--above", 1)
        self.check_error(3, "filter", "x.f32", "-o", "o.npy", "--mask", "mask.npy")
        self.check_error(3, "filter", "x.f32", "-o", "o.npy", "--mask", "s.npy")
        self.check_error(4, "filter", "x.f32", "-o", "o.npy", "--mask", "none.npy")
        self.write("there.npy", b"mine")
        self.check_error(6, "filter", "x.f32", "-o", "there.npy", "--above", 1)
        self.assertEqual(sorted(os.listdir(self.directory)),
                         ["mask.npy", "s.npy", "there.npy", "x.f32"])
        self.assertEqual(self.directory.joinpath("there.npy").read_bytes(), b"mine")


if __name__ == "__main__":
    main()
