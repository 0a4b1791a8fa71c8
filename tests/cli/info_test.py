#!/usr/bin/env python3
"""Tests that ooc-run info describes files correctly and without reading them."""

import gzip
import os
import struct

from cli_support import CliTest, evict, held_in_page_cache, main

import numpy as np

RANDOM = np.random.default_rng(31)
MIB = 1 << 20


class InfoTest(CliTest):
    def info(self, *words, **options):
        document = self.json("info", *words, **options)
        self.assertIsNone(document["run"])
        return document


class RawTest(InfoTest):
    def test_a_type_from_the_ending(self):
        self.write("x.u8", bytes(10_000))
        document = self.info("x.u8")
        self.assertEqual(document["input"]["dtype"], "|u1")
        self.assertEqual(document["input"]["count"], 10_000)
        self.assertIsNone(document["result"]["guess"])
        self.assertEqual(document["result"]["selectors"], ["offset", "skip", "count", "dtype"])
        text = self.succeed("info", "x.u8").stdout
        self.assertIn("10,000 values of uint8 (from .u8)", text)
        self.assertIn("10.0 KB (9.77 KiB)", text)

    def test_a_part(self):
        self.write("x.dat", bytes(8 * 100 + 6))
        document = self.info("x.dat", "--offset", 6, "--count", 20, "--dtype", ">f8")
        self.assertEqual(document["input"]["count"], 20)
        file = document["result"]["files"][0]
        self.assertEqual((file["bytes"], file["data_offset"], file["data_bytes"]), (806, 6, 160))
        self.assertFalse(file["aligned"])
        self.assertEqual(document["result"]["byte_order"], "big")

    def test_an_empty_file(self):
        self.write("x.f32", b"")
        result = self.info("x.f32")["result"]
        self.assertEqual(result["readings"], [])
        self.assertIsNone(result["page_cache_fraction"])
        self.assertIn("0 values of float32", self.succeed("info", "x.f32").stdout)

    def test_holes(self):
        path = self.write("x.f64", b"")
        os.truncate(path, 1 << 30)
        file = self.info("x.f64")["result"]["files"][0]
        if not file["holes"]:
            self.skipTest("this file system has none")
        self.assertEqual(file["disk_bytes"], os.stat(path).st_blocks * 512)
        self.assertIn("with holes", self.succeed("info", "x.f64").stdout)
        self.write("y.f64", bytes(8192))
        self.assertFalse(self.info("y.f64")["result"]["files"][0]["holes"])


class GuessTest(InfoTest):
    def guess(self, name, *words):
        return self.info(name, *words)["result"]["guess"]

    def test_is_told_and_not_used(self):
        self.write("x.dat", RANDOM.normal(size=100_000).astype("f4"))
        self.assertEqual(self.guess("x.dat")["dtype"], "<f4")
        self.assertIn("probably float32; use --dtype f4 (", self.succeed("info", "x.dat").stdout)
        self.check_error(2, "reduce", "x.dat")
        self.assertEqual(self.info("x.dat")["input"]["dtype"], "|u1")
        self.assertIsNone(self.guess("x.dat", "--dtype", "f8"))

    def test_looks_at_all_files_and_at_odd_places(self):
        data = RANDOM.normal(size=500_000).astype("f8").tobytes()
        self.write("x.dat", b"odd" + data)
        self.assertEqual(self.guess("x.dat", "--offset", 3)["dtype"], "<f8")
        self.write("a.dat", bytes(MIB))
        self.write("b.dat", data)
        self.assertEqual(self.guess("a.dat")["dtype"], None)
        self.assertEqual(self.info("a.dat", "b.dat")["result"]["guess"]["dtype"], "<f8")

    def test_other_formats(self):
        self.write("x.gz", gzip.compress(bytes(100_000)))
        result = self.info("x.gz")["result"]
        self.assertEqual(result["signature"], "gzip")
        self.assertIsNone(result["guess"])
        self.assertIn("begins like gzip: it is one stream, which is read once",
                      self.succeed("info", "x.gz").stdout)

    def test_numbers_behind_a_header(self):
        data = RANDOM.normal(size=9999).astype("f4").tobytes()
        self.write("x.idx", b"\0\0\x0d\x01" + struct.pack(">I", 9999) + data)
        result = self.info("x.idx")["result"]
        self.assertEqual(result["signature"], "IDX")
        self.assertEqual((result["guess"]["dtype"], result["guess"]["offset"]), ("<f4", 8))


class NpyTest(InfoTest):
    def test_what_the_header_says(self):
        np.save(self.path("x.npy"), np.zeros((30, 20), ">i2"))
        document = self.info("x.npy")
        self.assertEqual(document["input"]["shape"], [30, 20])
        self.assertEqual(document["result"]["format_version"], "1.0")
        self.assertEqual(document["result"]["byte_order"], "big")
        self.assertEqual(document["result"]["selectors"], ["skip", "count"])
        self.assertEqual(document["result"]["files"][0]["data_offset"], 128)
        text = self.succeed("info", "x.npy").stdout
        for words in (".npy, version 1.0, row by row", "30 x 20", "2 bytes each, big-endian"):
            self.assertIn(words, text)

    def test_other_versions(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (16,)}\n"
        self.write("x.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header +
                   bytes(64))
        self.assertEqual(self.info("x.npy")["result"]["format_version"], "2.0")
        np.save(self.path("y.npy"), np.zeros(16, "f4"))
        result = self.info("x.npy", "y.npy")["result"]
        self.assertIsNone(result["format_version"])

    def test_beside_raw_files(self):
        np.save(self.path("x.npy"), np.zeros(16, "f4"))
        self.write("y.f32", bytes(64))
        document = self.info("y.f32", "x.npy")
        self.assertEqual(document["input"]["format"], "mixed")
        self.assertEqual([file["data_offset"] for file in document["result"]["files"]], [0, 128])


class PlaceTest(InfoTest):
    def test_the_page_cache_is_told_and_left_alone(self):
        self.write("x.dat", RANDOM.normal(size=4 * MIB).astype("f4"))
        with held_in_page_cache(self.path("x.dat")):
            file = self.info("x.dat")["result"]["files"][0]
        if file["page_cache_fraction"] is None or not file["direct"]:
            self.skipTest("the kernel does not tell, or reads through it only")
        self.assertEqual(file["page_cache_fraction"], 1)
        evict(self.path("x.dat"))
        self.assertLess(self.info("x.dat")["result"]["files"][0]["page_cache_fraction"], 0.1)
        self.assertLess(self.info("x.dat")["result"]["page_cache_fraction"], 0.1)

    def test_as_histogram_and_reduce_then_read(self):
        self.write("x.f32", RANDOM.normal(size=4 * MIB).astype("f4"))
        for words in ((), ("--direct", "no"), ("--engine", "threads", "--chunk", "2M")):
            with self.subTest(words, cold=False), held_in_page_cache(self.path("x.f32")):
                self.check_readings(words)
            with self.subTest(words, cold=True):
                self.check_readings(words, lambda: evict(self.path("x.f32")))

    def check_readings(self, words, prepare=lambda: None):
        prepare()
        readings = self.info("x.f32", *words)["result"]["readings"]
        self.assertEqual([one["command"] for one in readings], ["histogram", "reduce"])
        for reading in readings:
            prepare()
            run = self.json(reading["command"], "x.f32", *words)["run"]
            for key in ("engine", "direct", "chunk_bytes", "chunks", "streams", "passes",
                        "block_bytes"):
                self.assertEqual(run[key], reading[key], (reading["command"], key))

    def test_several_files(self):
        self.write("a.f32", bytes(4096))
        self.write("b.f32", bytes(100))
        result = self.info("a.f32", "b.f32")["result"]
        self.assertEqual([file["data_bytes"] for file in result["files"]], [4096, 100])
        self.assertIn("smaller than a page", result["files"][1]["why_not_direct"])
        self.assertRegex(self.succeed("info", "a.f32", "b.f32").stdout, r"100 bytes .* b\.f32\n")

    def test_lines_fit_a_terminal(self):
        self.write("x.dat", RANDOM.normal(size=100_000).astype("f4"))
        np.save(self.path("x.npy"), np.zeros((30, 20), "f4"))
        for name in ("x.dat", "x.npy"):
            for line in self.succeed("info", name, env={"COLUMNS": "80"}).stdout.splitlines():
                self.assertLessEqual(len(line), 80)


class FortranOrderTest(InfoTest):
    def test_is_described_and_no_more(self):
        values = np.arange(12, dtype="f4").reshape(3, 4)
        for array, order in ((values, False), (values.T, True)):
            np.save(self.path("x.npy"), array)
            document = self.info("x.npy")
            self.assertEqual(document["result"]["fortran_order"], order)
            self.assertEqual(document["input"]["shape"], list(array.shape))
            self.assertEqual(bool(document["result"]["readings"]), not order)
        text = self.succeed("info", "x.npy").stdout
        self.assertIn("column by column (Fortran order)", text)
        self.assertIn("only reduce and histogram read it", text)
        for other in ("histogram", "reduce"):
            self.succeed(other, "x.npy")
        self.check_error(3, "convert", "x.npy", "-o", "y.npy")


class RefusalTest(InfoTest):
    def test_as_other_commands(self):
        self.check_error(4, "info", "missing.f32")
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        for name in ("folder", "/dev/null"):
            self.check_error(3, "info", name)
        self.check_error(2, "info", "fifo")
        self.check_error(3, "info", self.write("x.f32", bytes(10)))
        self.check_error(2, "info")
        path = self.write("y.f32", bytes(16 * MIB))
        self.check_error(7, "info", path, "--memory", "64K", "--device", "cpu")

    def test_a_gpu_that_is_not_there(self):
        path = self.write("x.f32", bytes(64))
        if self.run_program("info", path, "--device", "cuda").returncode == 0:
            self.skipTest("there is a GPU")
        self.refuse(8, "no usable GPU", "info", path, "--device", "cuda")


if __name__ == "__main__":
    main()
