#!/usr/bin/env python3
"""Compares ooc-run top with a stable sort by NumPy."""

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(12)
TILE = 65_536  # shards have whole ones
TYPES = {"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
         "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64"}


def best(data, k, smallest):
    """Returns the best values and their indices. Data have no zeros of both signs."""
    kept = np.flatnonzero(data == data)
    values = data[kept]
    if smallest:
        order = np.argsort(values, kind="stable")
    else:  # the first of equal values comes last in the reverse of a stable sort of the reverse
        order = len(values) - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    indices = kept[order[:k]]
    return data[indices].tolist(), indices.tolist()


class TopTest(CliTest):
    def found(self, *words):
        """Returns the values, their indices, and the document."""
        document = self.json("top", *words)
        values = document["result"]["values"]
        numbers = [each["value"] for each in values]
        return ([float(value) if isinstance(value, str) else value for value in numbers],
                [each["index"] for each in values], document)

    def check(self, data, name, *words):
        self.write(name, data)
        for k in (1, 1000, data.size + 1):
            for smallest in ([], ["--smallest"]):
                with self.subTest(name=name, k=k, smallest=smallest):
                    values, indices, document = self.found(name, "-k", str(k), *smallest, *words)
                    self.assertEqual((values, indices), best(data, k, bool(smallest)))
                    self.assertEqual(document["result"]["count"], data.size)
                    self.assertEqual(document["run"]["passes"], 1)

    def test_types_and_patterns(self):
        for code, ending in TYPES.items():
            if code.startswith("f"):
                data = RANDOM.normal(3, 200, 5_001).astype(code)
            else:
                limits = np.iinfo(code)
                data = RANDOM.integers(limits.min, limits.max, 5_001, code, endpoint=True)
            self.check(data, f"x.{ending}", "--verify")
        self.check(np.arange(9_000, dtype="f4"), "x.f32", "--verify")
        self.check(np.arange(9_000, dtype="f4")[::-1], "x.f32", "--verify")
        self.check(np.full(9_000, 2.5, "f4"), "x.f32", "--verify")
        self.check(RANDOM.zipf(1.5, 9_000).astype("f8"), "x.f64", "--verify")
        self.check(RANDOM.normal(3, 2, 999).astype(">f8"), "x.bin", "--dtype", ">f8")

    def test_bf16(self):
        halves = (RANDOM.normal(3, 2, 999).astype("f4").view("u4") >> 16).astype("u2")
        self.write("x.bf16", halves)
        values, indices, _ = self.found("x.bf16", "-k", "20")
        self.assertEqual((values, indices),
                         best((halves.astype("u4") << 16).view("f4"), 20, False))

    def test_zeros_nan_and_infinities(self):
        self.write("x.f64", np.array([0.0, -0.0, np.nan, 0.0, -np.inf, np.inf, -0.0]))
        self.assertEqual(self.found("x.f64")[1], [5, 0, 3, 1, 6, 4])
        values, indices, document = self.found("x.f64", "--smallest", "--verify")
        self.assertEqual(indices, [4, 1, 6, 0, 3, 5])
        self.assertEqual(values[0], -np.inf)
        self.assertEqual(document["result"]["nan"], 1)
        self.write("x.f64", np.full(9, np.nan))
        self.assertIn("all values are NaN", self.succeed("top", "x.f64", "--verify").stderr)
        self.assertEqual(self.found("x.f64")[0], [])

    def test_nothing(self):
        self.write("x.f64", b"")
        self.assertEqual(self.found("x.f64")[0], [])
        self.succeed("top", "x.f64", "--verify")

    def test_parts_of_files(self):
        data = RANDOM.normal(0, 1, 100_000).astype("f4")
        self.write("a.f32", data[:30_000])
        self.write("b.f32", data[30_000:])
        self.assertEqual(self.found("a.f32", "b.f32", "-k", "50")[:2], best(data, 50, False))
        part = data[1000:91_000]
        found = self.found("a.f32", "b.f32", "-k", "50", "--skip", "1000", "--count", "90000",
                           "--verify")
        self.assertEqual(found[:2], best(part, 50, False))
        with open(self.path("a.f32"), "rb") as file:
            done = self.succeed("top", "-", "--dtype", "f4", "-k", "2", "--tsv", stdin=file)
        values, indices = best(data[:30_000], 2, False)
        self.assertEqual([line.split("\t")[1] for line in done.stdout.splitlines()[1:]],
                         [str(index) for index in indices])
        self.assertEqual(len(values), 2)

    def test_text_and_table(self):
        self.write("x.i32", np.array([1, 2, 1_000_000, 4, 1_000_000], "i4"))
        text = self.succeed("top", "x.i32", "-k", "3").stdout
        self.assertIn("\n  count     5\n  nan       0\n\n"
                      "  rank          value  index\n"
                      "  1         1,000,000      2\n"
                      "  2         1,000,000      4\n"
                      "  3                 4      3\n", text)
        table = self.succeed("top", "x.i32", "-k", "2", "--smallest", "--tsv").stdout
        self.assertEqual(table, "value\tindex\n1\t0\n2\t1\n")

    def test_explains_its_pass(self):
        self.write("x.f64", np.zeros(1000))
        plan = self.json("top", "x.f64", "--explain")["result"]["plan"]
        self.assertEqual(plan["passes"], 1)

    def test_refusals(self):
        self.write("x.f32", np.zeros(10, "f4"))
        for value in ("0", "16777217", "-1", "x", "1.5"):
            self.check_error(2, "top", "x.f32", f"-k{value}")
        self.check_error(2, "top", "x.f32", "-k")
        self.check_error(2, "top", "x.f32", "--tsv", "--json")
        self.check_error(2, "top", "x.f32", "--largest")
        self.succeed("top", "x.f32", "--shard", "0/1", "-o", "x.part")
        self.check_error(2, "merge", "x.part", "--plot", "x.svg")
        np.save(self.path("x.npy"), np.asfortranarray(np.ones((3, 4))))
        self.check_error(3, "top", "x.npy")

    def test_goes_on_where_it_was_stopped(self):
        self.write("x.f64", RANDOM.normal(0, 3, 300_000))
        whole = self.json("top", "x.f64")["result"]
        self.assertEqual(self.json("top", "x.f64", "--resume", "state")["result"], whole)
        self.assertFalse((self.directory / "state").exists())

    def test_shards(self):
        data = RANDOM.normal(0, 3, 6 * TILE + 5)
        data[[3, 9]] = np.nan
        self.write("x.f64", data)
        for words in (["-k", "1000"], ["-k", "5"], ["-k", "3000", "--smallest"]):
            whole = self.json("top", "x.f64", *words)["result"]
            for count in (1, 9):  # of 9, some are empty
                with self.subTest(words=words, count=count):
                    parts = [f"{i}.part" for i in range(count)]
                    for i, part in enumerate(parts):
                        self.succeed("top", "x.f64", *words, "--shard", f"{i}/{count}", "-o", part,
                                     "--force")
                    self.assertEqual(self.json("merge", *parts)["result"], whole)
                    self.succeed("merge", *parts[:2], "-o", "some.part", "--force")
                    self.assertEqual(self.json("merge", "some.part", *parts[2:])["result"], whole)
        self.check_error(2, "merge", *parts[:2])
        self.check_error(2, "merge", *parts, "--tsv", "--density")
        words = ["-k", "500000"]  # more than there are
        for i, part in enumerate(parts):
            self.succeed("top", "x.f64", *words, "--shard", f"{i}/9", "-o", part, "--force")
        table = self.succeed("merge", *parts, "--tsv").stdout
        self.assertEqual(table, self.succeed("top", "x.f64", *words, "--tsv").stdout)
        self.succeed("top", "x.f64", "-k", "7", "--shard", "0/9", "-o", "other.part")
        self.check_error(2, "merge", "other.part", *parts[1:3])


if __name__ == "__main__":
    main()
