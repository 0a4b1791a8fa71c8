#!/usr/bin/env python3
"""Tests that reduce --histogram gives the answers of both commands from one read."""

import json
import os
import re
import signal
from xml.etree import ElementTree

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(3)
HUGE = 4 << 40  # bytes of a sparse file, too many to read during a test
SVG = "{http://www.w3.org/2000/svg}"


class SummaryTest(CliTest):
    def check(self, *words, reduce=(), bins=("--histogram", "40"), passes=1):
        """Checks that both answers equal those of the two commands."""
        with self.subTest(words=words, reduce=reduce, bins=bins):
            document = self.json("reduce", *words, *reduce, *bins)
            result = document["result"]
            alone = ["--bins", *bins[1:]]
            self.assertEqual(result.pop("histogram"),
                             self.json("histogram", *words, *alone)["result"])
            self.assertEqual(result, self.json("reduce", *words, *reduce)["result"])
            self.assertEqual(document["run"]["passes"], passes)

    def test_every_type_in_both_byte_orders(self):
        for code in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "bf16", "f4", "f8"):
            bits = RANDOM.bytes(600_000)  # with random doubles, the range would overflow
            self.write("x.bin", RANDOM.normal(0, 9, 70_000) if code == "f8" else bits)
            passes = 1 if code in ("u1", "i1") else 2
            self.check("x.bin", "--dtype", "<" + code, reduce=["--nan", "omit"], passes=passes)
            self.check("x.bin", "--dtype", ">" + code, reduce=["--exact"],
                       bins=["--histogram", "9", "--range", "-5:500"])

    def test_however_it_is_read(self):
        self.write("x.f32", RANDOM.normal(3, 1, 1_000_001).astype("f4"))
        for words in (["--chunk", "256K", "--streams", "5"], ["--chunk", "1M", "--streams", "1"],
                      ["--engine", "threads", "--direct", "no"],
                      ["--offset", "4", "--count", "70000"]):
            for more in ([], ["--log-bins"]):
                self.check("x.f32", *words, bins=["--histogram", "50", "--range", "0.5:4", *more])
            self.check("x.f32", *words, passes=2)

    def test_no_elements(self):
        self.write("empty.f32", b"")
        self.check("empty.f32", passes=1)

    def test_with_a_checksum_and_verified(self):
        self.write("x.f32", RANDOM.normal(size=100_000).astype("f4"))
        document = self.json("reduce", "x.f32", "--histogram", "16", "--checksum", "--verify")
        self.assertIs(document["result"]["verified"], True)
        self.assertIs(document["result"]["histogram"]["verified"], True)
        alone = self.json("reduce", "x.f32", "--checksum")
        self.assertEqual(document["input"], alone["input"])

    def test_what_people_see(self):
        self.write("x.f32", np.repeat(np.arange(8), 100).astype("f4"))
        words = ["x.f32", "--range", "0:8", "--log-scale"]
        both = self.succeed("reduce", *words, "--histogram", 8, "--checksum", "--verify").stdout
        bars = self.succeed("histogram", *words, "--bins", 8).stdout.splitlines(True)[1:-1]
        table = self.succeed("reduce", "x.f32").stdout.splitlines(True)[:-1]
        self.assertTrue(both.startswith("".join([*table, *bars]) + "  checksum  xxh3-128 "), both)
        self.assertIn("\n  verified  yes: ", both)
        self.assertNotIn("passes", both)
        found = self.succeed("reduce", "x.f32", "--histogram", 8).stdout
        self.assertIn(", 2 passes", found)

    def test_a_picture(self):
        self.write("x.f32", RANDOM.normal(size=10_000).astype("f4"))
        counts = self.json("reduce", "x.f32", "--histogram", 20, "--plot",
                           "p.svg")["result"]["histogram"]["counts"]
        bars = [int(bar.get("data-count"))
                for bar in ElementTree.parse(self.path("p.svg")).iter(SVG + "rect")
                if (bar.get("class") or "").startswith("bar")]
        self.assertEqual(bars, counts)

    def test_interrupted_both_cover_the_same(self):
        for name, words in (("x.u8", []), ("x.f32", ["--range", "-1:1"])):
            with open(self.path(name), "wb") as file:
                file.truncate(HUGE)
            process, line = self.at_work("reduce", name, "--histogram", "4", "--json", "--verify",
                                         *words)
            self.assertIn(", pass 1 of 3, ", line)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, stderr)
            result = self.check_document(stdout)["result"]
            counts = result["histogram"]
            for answer in (result, counts):
                self.assertIs(answer["partial"], True)
                self.assertIsNone(answer["verified"])
                self.assertEqual(answer["covered_bytes"], result["covered_bytes"])
            self.assertGreater(result["count"], 0)
            self.assertEqual(counts["count"], result["count"])
            self.assertEqual(sum(counts["counts"]), result["count"])

    def test_interrupted_before_anything_is_counted(self):
        with open(self.path("x.f32"), "wb") as file:
            file.truncate(HUGE)
        process, _ = self.at_work("reduce", "x.f32", "--histogram", "4", "--json")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertEqual(json.loads(stdout)["result"], {"partial": True, "covered_bytes": 0})
        self.assertIn("interrupted before anything was counted", stderr)

    def test_bad_usage(self):
        self.write("x.f32", b"")
        for number in (0, -1, 1 << 21, "many"):
            self.check_error(2, "reduce", "x.f32", f"--histogram={number}")
        for words in (["--range", "0:1"], ["--log-bins"], ["--log-scale"], ["--plot", "p.svg"]):
            self.check_error(2, "reduce", "x.f32", *words)
        self.check_error(2, "reduce", "x.f32", "--histogram", 4, "--range", "2:1")
        self.check_error(2, "reduce", "x.f32", "--histogram", 4, "--plot", "p.gif")
        self.check_error(3, "reduce", self.write("nan.f32", np.full(9, np.nan, "f4")),
                         "--histogram", 4)
        self.assertEqual(sorted(os.listdir(self.directory)), ["nan.f32", "x.f32"])

    def test_variables_of_other_runs(self):
        """OOC_RANGE and OOC_LOG_SCALE are ignored by a reduce without --histogram."""
        self.write("x.f32", np.arange(5, dtype="f4"))
        variables = {"OOC_RANGE": "0:2", "OOC_LOG_SCALE": "1"}
        self.assertNotIn("histogram", self.json("reduce", "x.f32", env=variables)["result"])
        counted = self.json("reduce", "x.f32", env={**variables, "OOC_HISTOGRAM": "2"})["result"]
        self.assertEqual(counted["histogram"]["counts"], [1, 2])


if __name__ == "__main__":
    main()
