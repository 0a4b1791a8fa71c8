#!/usr/bin/env python3
"""Compares the tables that histogram --tsv prints with NumPy's histograms."""

import io
import signal

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(42)


class TableTest(CliTest):
    def table(self, *words, columns=("lower", "upper", "count")):
        """Returns the columns of a table by their names, and what was said beside it."""
        done = self.succeed("histogram", *words, "--tsv", "--device", "cpu")
        names, *rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual(tuple(names), columns)
        self.assertEqual({len(row) for row in rows} - {len(columns)}, set())
        self.assertTrue(done.stdout.endswith("\n"))
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}, done.stderr

    def check(self, table, counts, edges):
        self.assertEqual([float(edge) for edge in table["lower"]], edges[:-1].tolist())
        self.assertEqual([float(edge) for edge in table["upper"]], edges[1:].tolist())
        self.assertEqual([int(count) for count in table["count"]], counts.tolist())

    def test_as_numpy(self):
        data = RANDOM.normal(size=100_000)
        self.write("x.f64", data)
        for words, bins in ((["--bins", 37], 37), (["--edges=-2,-1,0,3.5"], [-2, -1, 0, 3.5]),
                            (["--bins", 1 << 16], 1 << 16)):
            table, _ = self.table("x.f64", *words, "--density", "--cumulative",
                                  columns=("lower", "upper", "count", "density", "cumulative"))
            counts, edges = np.histogram(data, bins)
            self.check(table, counts, edges)
            self.assertEqual([float(value) for value in table["density"]],
                             np.histogram(data, bins, density=True)[0].tolist())
            self.assertEqual([int(value) for value in table["cumulative"]],
                             np.cumsum(counts).tolist())

    def test_columns_are_chosen(self):
        self.write("x.u8", bytes(range(100)))
        table, said = self.table("x.u8", "--bins", 2, "--range", "0:100", "--density",
                                 columns=("lower", "upper", "count", "density"))
        self.assertEqual(table["density"], ["0.01", "0.01"])
        self.assertNotIn("not in the table", said)
        table, _ = self.table("x.u8", "--bins", 2, "--range", "0:100", "--cumulative",
                              columns=("lower", "upper", "count", "cumulative"))
        self.assertEqual(table["cumulative"], ["50", "100"])

    def test_is_read_by_numpy(self):
        self.write("x.u8", bytes([1, 2, 2]))
        done = self.succeed("histogram", "x.u8", "--edges", "1,1,2,3", "--tsv", "--density")
        table = np.genfromtxt(io.StringIO(done.stdout), names=True)
        self.assertEqual(table["count"].tolist(), [0, 1, 2])
        self.assertEqual(table["density"][1:].tolist(), [1 / 3, 2 / 3])
        self.assertTrue(np.isnan(table["density"][0]))  # 0 / 0, as NumPy has it

    def test_what_is_in_no_bin_is_said(self):
        self.write("x.f32", np.array([-5, 0.5, 9, 9, np.nan], "f4"))
        table, said = self.table("x.f32", "--range", "0:1", "--bins", 1)
        self.assertEqual(table, {"lower": ["0.0"], "upper": ["1.0"], "count": ["1"]})
        self.assertIn("note: not in the table: 1 below, 2 above, 1 nan\n", said)

    def test_of_no_values(self):
        self.write("x.f32", b"")
        self.assertEqual(self.table("x.f32")[0], {"lower": [], "upper": [], "count": []})

    def test_is_all_of_the_answer(self):
        self.write("x.u8", bytes(100))
        for other in (["--json"], ["--explain"], ["--checksum"]):
            self.check_error(2, "histogram", "x.u8", "--tsv", *other)
        self.check_error(2, "histogram", "x.u8", "--tsv", "--shard", "0/2", "-o", "0.part")
        self.check_error(2, "histogram", "x.u8", "--density")
        self.check_error(2, "histogram", "x.u8", "--cumulative", "--json")

    def test_a_part_of_the_data_says_so(self):
        with open(self.path("x.u8"), "wb") as file:
            file.truncate(4 << 40)  # too many bytes to read during a test
        process, _ = self.at_work("histogram", "x.u8", "--tsv", "--bins", "2", "--device", "cpu")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertEqual(len(stdout.splitlines()), 3)
        self.assertIn("warning: PARTIAL: interrupted; covers", stderr)
        self.assertNotIn("\\n", stderr)


if __name__ == "__main__":
    main()
