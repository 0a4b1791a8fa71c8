#!/usr/bin/env python3
"""Compares results of histogram and reduce with NumPy's."""

import math
import os
import re

from cli_support import CliTest, main

import numpy as np

INTEGERS = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"]
RANDOM = np.random.default_rng(20)


def full_range(code, count):
    return np.frombuffer(RANDOM.bytes(count * np.dtype(code).itemsize), code)


class HistogramTest(CliTest):
    def check(self, data, *words, bins=256, limits=None, files=("x.bin",)):
        document = self.json("histogram", *files, "--dtype", data.dtype.str, *words)
        result = document["result"]
        counts, edges = np.histogram(data.astype("f8"), bins, limits)
        self.assertEqual(result["edges"], edges.tolist())
        self.assertEqual(result["counts"], counts.tolist())
        self.assertEqual(result["count"], data.size)
        self.assertEqual(result["lower"], edges[0])
        self.assertEqual(result["upper"], edges[-1])
        self.assertEqual(sum(result["counts"]) + result["below"] + result["above"] + result["nan"],
                         result["count"])
        return document

    def test_floats_between_their_extremes(self):
        for code in ("<f4", ">f4", "<f8", ">f8", "<f2"):
            data = RANDOM.normal(size=100_003).astype(code)
            self.write("x.bin", data)
            document = self.check(data)
            self.assertEqual(document["run"]["passes"], 2)
            self.check(data, "--bins", "7", "--range", "-1:1.5", bins=7, limits=(-1, 1.5))

    def test_integers_over_their_full_range(self):
        for code in INTEGERS:
            data = full_range(code, 50_000)
            self.write("x.bin", data)
            limits = {"u1": (0, 256), "i1": (-128, 128)}.get(code)
            document = self.check(data, limits=limits)
            self.assertEqual(document["run"]["passes"], 1 if limits else 2)

    def test_special_values(self):
        data = np.array([np.nan, np.inf, -np.inf, 0, 0.5, 1, -0.0, 2, -1, np.nan], "f4")
        self.write("x.f32", data)
        result = self.json("histogram", "x.f32", "--bins", "2", "--range", "0:1")["result"]
        self.assertEqual(result["counts"], [2, 2])
        self.assertEqual((result["below"], result["above"], result["nan"]), (2, 2, 2))

    def test_edges(self):
        data = RANDOM.uniform(0, 10, 10_000)
        self.write("x.f64", data)
        edges = [0.5, 1, 4, 9.5]
        result = self.json("histogram", "x.f64", "--edges", "0.5,1,4,9.5")["result"]
        self.assertEqual(result["edges"], edges)
        self.assertEqual(result["counts"], np.histogram(data, edges)[0].tolist())
        self.assertEqual(result["below"], int((data < 0.5).sum()))

    def test_logarithmic_bins(self):
        data = 10.0 ** RANDOM.uniform(-3, 3, 10_000)
        self.write("x.f64", data)
        result = self.json("histogram", "x.f64", "--log-bins", "--bins", "6",
                           "--range", "0.001:1000")["result"]
        np.testing.assert_allclose(result["edges"], np.geomspace(1e-3, 1e3, 7), rtol=1e-12)
        self.assertEqual(result["counts"], np.histogram(data, result["edges"])[0].tolist())

    def test_several_files_are_one_dataset(self):
        data = RANDOM.normal(size=70_001).astype("f4")
        for name, part in zip(("a.f32", "b.f32", "c.f32", "d.f32"),
                              np.split(data, [5, 5, 66_000])):
            self.write(name, part)
        document = self.check(data, files=("a.f32", "b.f32", "c.f32", "d.f32"))
        self.assertEqual([file["bytes"] for file in document["input"]["files"]],
                         [20, 0, 4 * 65_995, 4 * 4_001])


class ReduceTest(CliTest):
    def test_floats(self):
        data = RANDOM.normal(3, 2, 300_007).astype("f4")
        self.write("x.f32", data)
        document = self.json("reduce", "x.f32")
        result = document["result"]
        self.assertEqual(result["min"], float(data.min()))
        self.assertEqual(result["max"], float(data.max()))
        self.assertEqual(result["argmin"], int(data.argmin()))
        self.assertEqual(result["argmax"], int(data.argmax()))
        wide = data.astype("f8")
        self.assertAlmostEqual(result["sum"] / math.fsum(wide), 1, 12)
        self.assertEqual(result["mean"], result["sum"] / data.size)
        self.assertAlmostEqual(result["variance"] / wide.var(), 1, 12)
        self.assertAlmostEqual(result["stddev"] / wide.std(), 1, 12)
        self.assertEqual(document["input"], {
            "files": [{"path": "x.f32", "bytes": data.nbytes}], "format": "raw", "dtype": "<f4",
            "type_reason": document["input"]["type_reason"], "shape": None, "offset": 0,
            "skip": 0, "count": data.size, "bytes": data.nbytes, "bytes_behind": 0})
        self.assertEqual(document["run"]["passes"], 1)
        self.assertIsNone(document["run"]["stages"]["write"])

    def test_integer_sums_are_exact_beyond_64_bits(self):
        for code in INTEGERS:
            data = full_range(code, 100_000)
            data = np.concatenate([data, np.full(5_000, np.iinfo(code).max, code)])
            self.write("x.bin", data)
            result = self.json("reduce", "x.bin", "--dtype", code)["result"]
            self.assertEqual(result["sum"], sum(data.tolist()))
            self.assertEqual(result["min"], int(data.min()))
            self.assertEqual(result["max"], int(data.max()))
        self.write("x.u64", np.full(3, 2**64 - 1, "u8"))
        self.assertEqual(self.json("reduce", "x.u64")["result"]["sum"], 3 * (2**64 - 1))
        self.write("x.i64", np.full(3, -(2**63), "i8"))
        self.assertEqual(self.json("reduce", "x.i64")["result"]["sum"], -3 * 2**63)

    def test_nan(self):
        self.write("x.f64", np.array([3, np.nan, 1, 2]))
        result = self.json("reduce", "x.f64")["result"]
        self.assertEqual([result[key] for key in ("nan", "sum", "min", "mean", "stddev")],
                         [1, "NaN", "NaN", "NaN", "NaN"])
        result = self.json("reduce", "x.f64", "--nan", "omit")["result"]
        self.assertEqual([result[key] for key in ("count", "nan", "sum", "min", "argmin", "mean")],
                         [4, 1, 6, 1, 2, 2])

    def test_infinities(self):
        self.write("x.f64", np.array([1, np.inf]))
        result = self.json("reduce", "x.f64")["result"]
        self.assertEqual((result["sum"], result["max"], result["variance"]),
                         ("Infinity", "Infinity", "NaN"))

    def test_infinities_are_counted(self):
        data = RANDOM.normal(size=200_003)
        for code in ("f2", "f4", "f8", ">f8"):
            array = data.astype(code)
            array[::1000] = np.inf
            array[1::777] = -np.inf
            array[2::5000] = np.nan
            self.write("x.bin", array)
            count = int(np.isinf(array).sum())
            for nan in ("propagate", "omit"):
                words = ["reduce", "x.bin", "--dtype", code, "--nan", nan, "--verify"]
                for more in ([], ["--exact"], ["--histogram", 5, "--range", "0:1"]):
                    found = self.json(*words, *more)["result"]
                    self.assertEqual((found["count"], found["inf"]), (array.size, count))
                    self.assertEqual(found.get("omitted"),
                                     found["nan"] if nan == "omit" else None)
        self.write("x.i32", np.arange(9, dtype="i4"))
        self.assertEqual(self.json("reduce", "x.i32")["result"]["inf"], 0)
        for i in range(3):
            self.succeed("reduce", "x.bin", "--dtype", ">f8", "--shard", f"{i}/3", "-o",
                         f"{i}.part")
        self.assertEqual(self.json("merge", "0.part", "1.part", "2.part")["result"]["inf"], count)

    def test_the_same_bits_however_it_runs(self):
        self.write("x.f32", RANDOM.normal(size=1_000_003).astype("f4"))
        wanted = self.json("reduce", "x.f32")["result"]
        for words in (["--chunk", "256K"], ["--streams", "1"], ["--streams", "5", "--threads", "3"],
                      ["--engine", "threads"], ["--direct", "no"], ["--device", "cpu"],
                      ["--memory", "64M"]):
            self.assertEqual(self.json("reduce", "x.f32", *words)["result"], wanted, words)

    def test_npy_and_parts_of_raw_files(self):
        data = RANDOM.integers(-9, 9, (100, 30)).astype(">i2")
        np.save(self.path("x.npy"), data)
        document = self.json("reduce", "x.npy")
        self.assertEqual(document["result"]["sum"], int(data.sum()))
        self.assertEqual(document["input"]["shape"], [100, 30])
        self.assertEqual(document["input"]["dtype"], ">i2")
        self.write("x.raw", b"abc" + data.tobytes())
        document = self.json("reduce", "x.raw", "--dtype", ">i2", "--offset", 3, "--count", 50)
        self.assertEqual(document["result"]["sum"], int(data.ravel()[:50].sum()))
        self.assertEqual((document["input"]["offset"], document["input"]["count"]), (3, 50))


class TextTest(CliTest):
    def test_histogram(self):
        self.write("x.f32", np.linspace(0, 1, 1001).astype("f4"))
        done = self.succeed("histogram", "x.f32", "--bins", "10", env={"COLUMNS": "70"})
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^x\.f32: 1,001 values of float32 \(from \.f32\)$")
        self.assertEqual(lines[1], "10 bins from 0 to 1")
        self.assertEqual(len(lines), 3 + 12 + 2)
        self.assertRegex(lines[3], r"^ +0\.0 ┌█+[▏▎▍▌▋▊▉]? +100  10\.0 %$")
        self.assertRegex(lines[13], r"^ +1\.0 └─[─┬]*┬$")
        self.assertRegex(lines[14], r"^ +0 .* 100$")
        self.assertRegex(lines[-1],
                         r"^4\.00 KB in .*s, .*/s, .*, 2 passes$")
        self.assertLessEqual(max(map(len, lines[3:15])), 70)

    def test_without_unicode(self):
        self.write("x.u8", bytes(range(256)))
        text = self.succeed("histogram", "x.u8", env={"LANG": "C"}).stdout
        self.assertTrue(text.isascii())
        self.assertIn(" |####", text)

    def test_reduce(self):
        self.write("x.i32", np.arange(2000, dtype="i4"))
        text = self.succeed("reduce", "x.i32").stdout
        self.assertRegex(text, r"\n  sum +1,999,000\n  min +0  at 0\n  max +1,999  at 1,999\n"
                               r"  mean +999\.5\n  variance +333333\.25\n")

    def test_reasons_are_for_those_who_ask(self):
        self.write("x.u8", bytes(100))
        words = ["reduce", "x.u8", "--direct", "no"]
        for done in (self.succeed(*words), self.succeed(*words, "-q"), self.succeed(*words, "-qv"),
                     self.succeed(*words, "--quiet")):
            self.assertEqual(done.stderr, "")
            self.assertRegex(done.stdout,
                             r"\n100 bytes in \S+ m?s, \S+ \S+/s, [^,\n]+, "
                             r"(page cache|buffered, threads)\n$")
        reasons = self.json(*words)["run"]["reasons"]
        self.assertTrue(reasons)
        for option in ("-v", "--verbose"):
            self.assertEqual(self.succeed(*words, option).stderr.splitlines(),
                             [f"ooc-run: note: {reason}" for reason in reasons])

    def test_what_makes_a_statistic_nan(self):
        """It is a warning, also with --quiet, in JSON, with bins and in merged parts."""
        nan, inf = np.nan, np.inf
        for name, data, policies in (
                ("nan", [1, nan, nan, 3], ("propagate", "omit")),
                ("mixed", [1, nan, inf], ("propagate",)), ("numbers", [1, 2, 3], ("propagate",)),
                ("nothing", [], ("omit",)), ("all_nan", [nan, nan], ("omit",)),
                ("inf", [1, inf, inf], ("propagate",)), ("minus", [nan, -inf, 3], ("omit",)),
                ("both", [inf, 1, -inf], ("propagate",)),
                ("large", [1.7e308, -1.7e308] * 2, ("propagate",))):
            self.write(f"{name}.f64", np.array(data, "f8"))
            for words in (["reduce", f"{name}.f64", "--nan", policy] for policy in policies):
                with self.subTest(words):
                    quiet = self.succeed(*words, "-q")
                    self.check_message(quiet)
                    warnings = [line.removeprefix("ooc-run: warning: ")
                                for line in quiet.stderr.splitlines()]
                    for more in ([], ["--histogram", 4, "--range", "0:9"]):
                        self.assertEqual(self.succeed(*words, *more, "-q").stderr, quiet.stderr)
                        self.assertIn(quiet.stderr, self.succeed(*words, *more).stderr)
                        self.assertEqual(self.json(*words, *more)["warnings"], warnings)
                    self.succeed(*words, "--shard", "0/1", "-o", "x.part", "--force")
                    if data:
                        self.assertEqual(self.succeed("merge", "x.part", "-q").stderr, quiet.stderr)
                        self.assertEqual(self.json("merge", "x.part")["warnings"], warnings)

    def test_sizes_that_are_not_those_asked_for(self):
        self.write("x.f32", np.ones(1 << 20, "f4"))
        words = ["reduce", "x.f32", "--device", "cpu", "--direct", "no"]
        for size in (["--chunk", "100"], ["--chunk", "300000"], ["--vram", "1G"]):
            done = self.succeed(*words, *size)
            self.check_message(done)
            note, = done.stderr.splitlines()
            self.assertIn(note.removeprefix("ooc-run: note: "),
                          self.json(*words, *size)["run"]["reasons"])
            self.assertEqual(self.succeed(*words, *size, "-q").stderr, "")
        # Nothing is rounded, or there is no more than fits.
        for size in (["--chunk", "256K"], ["--chunk", "64M"], ["--memory", "64M"]):
            self.assertEqual(self.succeed(*words, *size).stderr, "")
        plan = self.json(*words, "--vram", "1G", "--explain")["result"]["plan"]
        self.assertIn("--vram has no effect", " ".join(plan["reasons"]))

    def test_what_would_show_more(self):
        tail = np.ones(1000, "f4")
        tail[7] = 1e9
        self.write("tail.f32", tail)
        for words in (["histogram"], ["reduce", "--histogram", 20]):
            self.check_message(self.succeed(*words, "tail.f32", "--device", "cpu"))
        for words in (["--log-bins"], ["--bins", 2], ["--edges", "0,1,2"], ["--range", "0:2"]):
            self.assertNotIn("log-bins", self.succeed("histogram", "tail.f32", *words).stderr)
        self.write("flat.f32", np.ones(1000, "f4"))
        self.assertNotIn("log-bins", self.succeed("histogram", "flat.f32").stderr)

    def test_elements_have_the_digits_of_their_type(self):
        self.write("x.f32", np.array([0.1, 0.7], "f4"))
        text = self.succeed("reduce", "x.f32").stdout
        self.assertRegex(text, r"\n  min +0\.1  at 0\n  max +0\.7  at 1\n")
        self.assertEqual(self.json("reduce", "x.f32")["result"]["min"], float(np.float32(0.1)))

    def test_what_two_passes_have_to_say_is_said_once(self):
        """Each note is printed once, though the first of two passes changes the page cache."""
        path = self.write("x.f32", np.arange(4 << 20, dtype="f4"))
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
            file.read(10 << 20)
        done = self.succeed("histogram", path, "--device", "cpu", "--threads", "2", "-v")
        self.assertIn("2 passes", done.stdout)
        words = [re.sub(r"\d", "", line) for line in done.stderr.splitlines()]
        self.assertEqual(len(words), len(set(words)), done.stderr)
        self.assertIn("ooc-run: note: reading through the page cache: ", done.stderr)


if __name__ == "__main__":
    main()
