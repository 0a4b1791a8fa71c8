#!/usr/bin/env python3
"""Compares ooc-run distinct with numpy.unique."""

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(13)
TILE = 65_536  # shards have whole ones
TYPES = {"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
         "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64"}


def most_frequent(data, most):
    """Returns the number of values, and the most frequent with their counts: NaN as text."""
    values, counts = np.unique(data, return_counts=True)
    order = np.lexsort((np.arange(len(values)), -counts))[:most]
    shown = ["nan" if value != value else value.item() for value in values[order]]
    return len(values), list(zip(shown, counts[order].tolist()))


def counts_in(result):
    numbers = [each["value"] for each in result["counts"]]
    values = [value.lower() if value == "NaN" else float(value) if isinstance(value, str) else value
              for value in numbers]
    return list(zip(values, [each["count"] for each in result["counts"]]))


class DistinctTest(CliTest):
    def check(self, data, name, *words):
        self.write(name, data)
        for most in (1, 1000, data.size + 1):
            with self.subTest(name=name, most=most):
                document = self.json("distinct", name, "--counts", str(most), *words)
                result = document["result"]
                self.assertEqual((result["distinct"], counts_in(result)),
                                 most_frequent(data, most))
                self.assertEqual(result["count"], data.size)
                self.assertEqual(document["run"]["passes"], 1)
        found = self.json("distinct", name, *words)["result"]
        self.assertEqual(found["distinct"], len(np.unique(data)))
        self.assertNotIn("counts", found)
        estimated = self.json("distinct", name, "--estimate", *words)["result"]
        self.assertNotIn("distinct", estimated)
        self.assertLess(abs(estimated["estimate"] - found["distinct"]),
                        6 * estimated["relative_error"] * found["distinct"] + 8)

    def test_types_and_patterns(self):
        for code, ending in TYPES.items():
            if code.startswith("f"):
                data = RANDOM.normal(3, 200, 5_001).astype(code)
            else:
                limits = np.iinfo(code)
                data = RANDOM.integers(limits.min, limits.max, 5_001, code, endpoint=True)
            data[2_500:] = data[:2_501]
            self.check(data, f"x.{ending}", "--verify")
        self.check(np.arange(9_000, dtype="f4"), "x.f32", "--verify")
        self.check(np.full(9_000, 2.5, "f4"), "x.f32", "--verify")
        self.check(RANDOM.zipf(1.5, 9_000).astype("f8"), "x.f64", "--verify")
        self.check(RANDOM.normal(3, 2, 999).astype(">f8"), "x.bin", "--dtype", ">f8")

    def test_bf16(self):
        halves = (RANDOM.normal(3, 2, 999).astype("f4").view("u4") >> 16).astype("u2")
        self.write("x.bf16", halves)
        result = self.json("distinct", "x.bf16", "--counts", "20")["result"]
        self.assertEqual((result["distinct"], counts_in(result)),
                         most_frequent((halves.astype("u4") << 16).view("f4"), 20))

    def test_zeros_nan_and_infinities(self):
        data = np.array([0.0, -0.0, np.nan, 0.0, -np.inf, np.inf, -0.0, -np.nan, np.inf])
        data.view("u8")[7] += np.uint64(77)  # another NaN
        self.check(data, "x.f64", "--verify")
        self.write("x.f64", np.array([-0.0]))
        self.assertEqual(self.succeed("distinct", "x.f64", "--counts", "1", "--tsv").stdout,
                         "value\tcount\n0\t1\n")
        self.check(np.full(9, np.nan), "x.f64", "--verify")

    def test_nothing(self):
        self.check(np.zeros(0), "x.f64", "--verify")

    def test_parts_of_files(self):
        data = RANDOM.integers(0, 1000, 100_000).astype("f4")
        self.write("a.f32", data[:30_000])
        self.write("b.f32", data[30_000:])
        result = self.json("distinct", "a.f32", "b.f32", "--counts", "50", "--skip", "1000",
                           "--count", "90000", "--verify")["result"]
        self.assertEqual(counts_in(result), most_frequent(data[1000:91_000], 50)[1])
        with open(self.path("a.f32"), "rb") as file:
            done = self.succeed("distinct", "-", "--dtype", "f4", "--counts", "2", "--tsv",
                                stdin=file)
        counts = most_frequent(data[:30_000], 2)[1]
        self.assertEqual(done.stdout.splitlines()[1:],
                         [f"{value:.0f}\t{count}" for value, count in counts])
        np.save(self.path("x.npy"), np.asfortranarray(data.reshape(100, 1000)))
        result = self.json("distinct", "x.npy", "--counts", "50")["result"]
        self.assertEqual(counts_in(result), most_frequent(data, 50)[1])

    def test_text_and_table(self):
        self.write("x.i32", np.array([1, 2, 1_000_000, 4, 1_000_000], "i4"))
        text = self.succeed("distinct", "x.i32", "--counts", "2").stdout
        self.assertIn("\n  distinct  4\n  count     5\n  nan       0\n\n"
                      "  rank          value  count\n"
                      "  1         1,000,000      2\n"
                      "  2                 1      1\n", text)
        table = self.succeed("distinct", "x.i32", "--counts", "2", "--tsv").stdout
        self.assertEqual(table, "value\tcount\n1000000\t2\n1\t1\n")
        text = self.succeed("distinct", "x.i32", "--estimate").stdout
        self.assertIn("\n  distinct  about 4, with a standard error of 0.81 %\n", text)

    def test_explains_its_pass_and_memory(self):
        self.write("x.f64", np.zeros(1000))
        plan = self.json("distinct", "x.f64", "--explain")["result"]["plan"]
        self.assertEqual(plan["passes"], 1)
        self.assertIn("\n  values ", self.succeed("distinct", "x.f64", "--explain").stdout)
        text = self.succeed("distinct", "x.f64", "--explain", "--estimate").stdout
        self.assertNotIn("\n  values ", text)

    def test_values_that_do_not_fit(self):
        data = np.arange(1_000_000, dtype="u8")
        self.write("x.u64", data)
        limit = ["--memory", "2M", "--device", "cpu"]
        self.check_error(7, "distinct", "x.u64", *limit)
        self.check_error(7, "distinct", "x.u64", "--counts", "3", *limit)
        enough = ["--memory", "64M", "--device", "cpu"]
        self.assertEqual(self.json("distinct", "x.u64", *enough)["result"]["distinct"], data.size)
        estimated = self.json("distinct", "x.u64", "--estimate", *limit)["result"]["estimate"]
        self.assertLess(abs(estimated - data.size), 0.05 * data.size)
        self.succeed("distinct", "x.u64", "--estimate", "--verify", *limit)
        for i in range(2):
            self.succeed("distinct", "x.u64", "--shard", f"{i}/2", "-o", f"{i}.part", *limit)
        self.check_error(7, "merge", "0.part", "1.part")

    def test_refusals(self):
        self.write("x.f32", np.zeros(10, "f4"))
        for value in ("0", "1048577", "-1", "x", "1.5"):
            self.check_error(2, "distinct", "x.f32", f"--counts={value}")
        self.check_error(2, "distinct", "x.f32", "--counts", "2", "--estimate")
        self.check_error(2, "distinct", "x.f32", "--tsv")
        self.check_error(2, "distinct", "x.f32", "--counts", "2", "--tsv", "--json")
        self.succeed("distinct", "x.f32", "--shard", "0/1", "-o", "x.part")
        self.check_error(2, "merge", "x.part", "--plot", "x.svg")
        self.check_error(2, "merge", "x.part", "--tsv")

    def test_goes_on_where_it_was_stopped(self):
        self.write("x.f64", RANDOM.integers(0, 9999, 300_000).astype("f8"))
        words = ["distinct", "x.f64", "--counts", "100"]
        whole = self.json(*words)["result"]
        self.assertEqual(self.json(*words, "--resume", "state")["result"], whole)
        self.assertFalse((self.directory / "state").exists())

    def test_shards(self):
        data = RANDOM.integers(0, 50_000, 6 * TILE + 5).astype("f8")
        data[[3, 9]] = np.nan
        self.write("x.f64", data)
        for words in (["--counts", "1000"], [], ["--estimate"]):
            whole = self.json("distinct", "x.f64", *words)["result"]
            for count in (1, 9):  # of 9, some are empty
                with self.subTest(words=words, count=count):
                    parts = [f"{i}.part" for i in range(count)]
                    for i, part in enumerate(parts):
                        self.succeed("distinct", "x.f64", *words, "--shard", f"{i}/{count}", "-o",
                                     part, "--force")
                    self.assertEqual(self.json("merge", *parts)["result"], whole)
                    self.succeed("merge", *parts[:2], "-o", "some.part", "--force")
                    self.assertEqual(self.json("merge", "some.part", *parts[2:])["result"], whole)
        self.check_error(2, "merge", *parts[:2])
        words = ["--counts", "5"]
        for i, part in enumerate(parts):
            self.succeed("distinct", "x.f64", *words, "--shard", f"{i}/9", "-o", part, "--force")
        table = self.succeed("merge", *parts, "--tsv").stdout
        self.assertEqual(table, self.succeed("distinct", "x.f64", *words, "--tsv").stdout)
        self.succeed("distinct", "x.f64", "--shard", "0/9", "-o", "other.part")
        self.check_error(2, "merge", "other.part", *parts[1:3])


if __name__ == "__main__":
    main()
