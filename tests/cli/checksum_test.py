#!/usr/bin/env python3
"""Compares --checksum with xxhsum."""

import subprocess

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(128)
OF_NOTHING = "99aa06d3014798d86001c324468d497f"


class ChecksumTest(CliTest):
    def xxhsum(self, data):
        path = self.write("whole", data)
        done = subprocess.run(["xxhsum", "-H2", path], capture_output=True, text=True, check=True)
        return done.stdout.split()[0]

    def checksum(self, *words):
        return self.json(*words, "--checksum")["input"]["checksum_xxh3_128"]

    def test_raw_files(self):
        data = RANDOM.bytes(3_000_001)
        self.write("x.u8", data)
        for words in ([], ["--chunk", "64K", "--streams", "5"], ["--direct", "no"],
                      ["--engine", "threads", "--streams", "1"]):
            self.assertEqual(self.checksum("reduce", "x.u8", *words), self.xxhsum(data))
        self.assertEqual(self.checksum("reduce", "x.u8", "--offset", 13, "--count", 70_000),
                         self.xxhsum(data[13:70_013]))

    def test_passes_of_a_histogram_agree(self):
        data = RANDOM.normal(size=300_000).astype(">f4")
        self.write("x.bin", data)
        document = self.json("histogram", "x.bin", "--dtype", ">f4", "--checksum")
        self.assertEqual(document["run"]["passes"], 2)
        self.assertEqual(document["input"]["checksum_xxh3_128"], self.xxhsum(data))

    def test_several_files(self):
        data = RANDOM.bytes(1_000_000)
        for name, part in (("b.u8", data[:400_001]), ("a.u8", data[400_001:]), ("c.u8", b"")):
            self.write(name, part)
        self.assertEqual(self.checksum("histogram", "b.u8", "c.u8", "a.u8"), self.xxhsum(data))

    def test_npy_without_its_header(self):
        data = RANDOM.normal(size=(300, 400)).astype("<f8")
        np.save(self.path("x.npy"), data)
        self.assertEqual(self.checksum("reduce", "x.npy"), self.xxhsum(data))

    def test_no_bytes(self):
        self.write("empty.f32", b"")
        for command in ("histogram", "reduce"):
            self.assertEqual(self.checksum(command, "empty.f32"), OF_NOTHING)

    def test_a_flipped_bit(self):
        data = bytearray(RANDOM.bytes(1_000_000))
        self.write("x.u8", data)
        before = self.checksum("reduce", "x.u8")
        data[777_777] ^= 1
        self.write("x.u8", data)
        self.assertNotEqual(self.checksum("reduce", "x.u8"), before)

    def test_what_people_see(self):
        self.write("x.u8", b"abc")
        line = f"\n\n  checksum  xxh3-128 {self.xxhsum(b'abc')}\n\n3 bytes in "
        for command in ("histogram", "reduce"):
            self.assertIn(line, self.succeed(command, "x.u8", "--checksum").stdout)
            self.assertIn(line, self.succeed(command, "x.u8", env={"OOC_CHECKSUM": "1"}).stdout)
            self.assertNotIn("checksum", self.succeed(command, "x.u8").stdout)
            self.assertNotIn("checksum", str(self.json(command, "x.u8")["input"]))

    def test_only_where_data_is_read_once_and_in_order(self):
        self.check_error(2, "convert", "x.u8", "-o", "y.u16", "--checksum")
        self.check_error(2, "matmul", "a.f32", "b.f32", "-o", "c.f32", "--checksum")


if __name__ == "__main__":
    main()
