#!/usr/bin/env python3
"""Tests sizes and counts that exceed 32 bits, with sparse files."""

import os
import struct

from cli_support import CliTest, main

TIB = 1 << 40


class LargeTest(CliTest):
    def sparse(self, name, size, pieces):
        """Writes `size` bytes of zeros, except for `pieces` (bytes by offset); returns the path."""
        path = self.path(name)
        with open(path, "wb") as file:
            try:
                file.truncate(size)
            except OSError as error:
                self.skipTest(f"no file of {size} bytes here: {error}")
            for offset, data in pieces.items():
                os.pwrite(file.fileno(), data, offset)
        return path

    def test_the_end_of_8_tib(self):
        size = 8 * TIB
        last = struct.pack("<4d", 1.5, -2.5, 4.0, 0.25)
        path = self.sparse("x.f64", size, {size - 32: last})

        result = self.json("reduce", path, "--offset", size - 800)["result"]
        self.assertEqual((result["count"], result["sum"]), (100, 3.25))
        self.assertEqual((result["min"], result["argmin"]), (-2.5, 97))
        self.assertEqual((result["max"], result["argmax"]), (4.0, 98))

        result = self.json("histogram", path, "--offset", size - 8, "--bins", 1)["result"]
        self.assertEqual((result["count"], result["counts"]), (1, [1]))

        self.succeed("convert", path, "-o", "end.f32", "--offset", size - 24, "--count", 2)
        self.assertEqual(self.directory.joinpath("end.f32").read_bytes(),
                         struct.pack("<2f", -2.5, 4.0))

    def test_more_than_8_tib(self):
        path = self.sparse("x.f64", 8 * TIB, {})
        self.check_error(3, "reduce", path, "--count", TIB + 1)
        self.check_error(3, "reduce", path, path, path, "--count", 3 * TIB + 1)
        self.check_error(3, "reduce", path, "--offset", 8 * TIB + 1)

    def test_an_array_of_8_tib(self):
        """Shapes that fit the file are read, and larger ones are refused."""
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1048576, %d), }"
        for columns, fits in ((1 << 20, True), ((1 << 20) + 1, False), (1 << 44, False)):
            text = (header % columns).ljust(117).encode() + b"\n"
            beginning = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
            beginning += struct.pack("<2d", 3.0, 4.0)
            size = len(beginning) - 16 + 8 * TIB
            path = self.sparse("x.npy", size, {0: beginning})
            if fits:
                document = self.json("reduce", path, "--count", 2)
                self.assertEqual(document["result"]["sum"], 7)
            else:
                self.check_error(3, "reduce", path)

    def test_more_than_2_to_32_elements(self):
        count = (1 << 32) + 3
        low, high = 1 << 31, (1 << 32) + 1
        path = self.sparse("x.i8", count, {low: b"\xfb", high: b"\x07"})

        result = self.json("reduce", path)["result"]
        self.assertEqual((result["count"], result["sum"]), (count, 2))
        self.assertEqual((result["min"], result["argmin"]), (-5, low))
        self.assertEqual((result["max"], result["argmax"]), (7, high))
        self.assertEqual(result["mean"], 2 / count)

        counts = self.json("histogram", path)["result"]["counts"]
        found = {place - 128: number for place, number in enumerate(counts) if number}
        self.assertEqual(found, {-5: 1, 0: count - 2, 7: 1})

    def test_options_beyond_any_machine(self):
        path = self.write("x.u8", bytes(range(256)) * 1024)
        for chunk in ((1 << 64) - 1, (1 << 61) + (1 << 16)):  # times 8 for f8: just above 2^64
            self.assertEqual(self.json("reduce", path, "--chunk", chunk)["result"]["max"], 255)
            self.succeed("convert", path, "-o", "x.f64", "--chunk", chunk, "--force")
            self.assertEqual(self.json("reduce", "x.f64")["result"]["sum"], 1024 * 255 * 128)
        for option in ("--streams", "--threads"):
            self.check_error(2, "reduce", path, option, 1 << 63)


if __name__ == "__main__":
    main()
