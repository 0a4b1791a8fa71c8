#!/usr/bin/env python3
"""Tests files that are compressed as a whole: in frames, which are read in any order, and as one
stream, which is read once."""

import ctypes
import gzip
import io
import struct
import unittest
import zlib
from ctypes.util import find_library

import numpy as np
from cli_support import CliTest, main

FIELD = np.round(np.random.default_rng(13).normal(size=(30_000, 40)).astype("f4"), 2)
RAW = FIELD.tobytes()


def library(name):
    found = find_library(name)
    return None if found is None else ctypes.CDLL(found)


ZSTD, LZ4 = library("zstd"), library("lz4")


def zstd(data):
    """Returns a frame that says how long it is."""
    ZSTD.ZSTD_compressBound.restype = ZSTD.ZSTD_compress.restype = ctypes.c_size_t
    size = ZSTD.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    room = ctypes.create_string_buffer(size)
    used = ZSTD.ZSTD_compress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)), 3)
    return room.raw[:used]


def without_size(frame):
    """Returns a zstd frame that does not say how long it is, with a window of 128 MiB."""
    flags = frame[4]
    start = 5 + (0 if flags & 0x20 else 1) + (0, 2, 4, 8)[flags >> 6]
    start += 1 if flags >> 6 == 0 and flags & 0x20 else 0
    return frame[:4] + bytes([flags & 4, 17 << 3]) + frame[start:]


def lz4(data):
    LZ4.LZ4F_compressFrameBound.restype = LZ4.LZ4F_compressFrame.restype = ctypes.c_size_t
    size = LZ4.LZ4F_compressFrameBound(ctypes.c_size_t(len(data)), None)
    room = ctypes.create_string_buffer(size)
    used = LZ4.LZ4F_compressFrame(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)),
                                  None)
    return room.raw[:used]


def bgzip(data, block=65_280):
    """Returns members of gzip that say how long they are, as bgzip writes them."""
    members = b""
    for begin in range(0, len(data) + block, block):
        part = data[begin:begin + block]
        engine = zlib.compressobj(6, zlib.DEFLATED, -15)
        body = engine.compress(part) + engine.flush()
        members += (b"\x1f\x8b\x08\x04" + bytes(6) +
                    struct.pack("<H2sHH", 6, b"BC", 2, len(body) + 25) + body +
                    struct.pack("<LL", zlib.crc32(part), len(part)))
    return members


def frames(compress, data, size):
    return b"".join(compress(data[i:i + size]) for i in range(0, len(data), size))


class CompressedTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x.f32", RAW)
        self.plain = self.json("reduce", "x.f32", "--checksum")

    def check_same(self, name, *words):
        document = self.json("reduce", name, "--checksum", *words)
        verified = {"verified": True if "--verify" in words else None}
        self.assertEqual(document["result"], self.plain["result"] | verified, name)

    def check_all_commands(self, name):
        """Checks a file that is read in any order."""
        self.check_same(name, "--verify")
        info = self.json("info", name)["input"]
        self.assertEqual((info["count"], info["dtype"]), (FIELD.size, "<f4"))
        counts = self.json("histogram", name)["result"]
        self.assertEqual(counts, self.json("histogram", "x.f32")["result"])
        for index in (0, 1):
            self.succeed("reduce", name, "--shard", f"{index}/2", "-o", f"{index}.part", "--force")
        self.assertEqual(self.json("merge", "0.part", "1.part")["result"], self.plain["result"])
        both = self.json("reduce", "x.f32", name)["result"]
        self.assertEqual(both["count"], 2 * FIELD.size)
        self.succeed("convert", name + "[40:80]", "-o", "c.npy", "--to", "f8", "--force")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), FIELD.ravel()[40:80])

    @unittest.skipUnless(ZSTD, "no libzstd")
    def test_frames_of_zstd_are_read_in_any_order(self):
        skippable = b"\x5e\x2a\x4d\x18" + struct.pack("<L", 9) + bytes(9)
        for name, data in {"whole": zstd(RAW), "large": frames(zstd, RAW, 1_500_000),
                           "small": frames(zstd, RAW, 70_001),
                           "empty": skippable + zstd(b"") + frames(zstd, RAW, 2_000_000) +
                                    zstd(b"") + skippable,
                           "mixed": zstd(RAW[:100]) + zstd(RAW[100:3_000_000]) +
                                    frames(zstd, RAW[3_000_000:], 999)}.items():
            with self.subTest(name):
                self.check_all_commands(self.write(f"{name}.f32.zst", data))

    def test_blocks_of_bgzip_are_read_in_any_order(self):
        self.check_all_commands(self.write("x.f32.gz", bgzip(RAW)))
        self.check_all_commands(self.write("x.f32.bgz", bgzip(RAW, 1000)))

    def test_a_stream_is_read_once(self):
        streams = {"gz": gzip.compress(RAW[:100_000]) + gzip.compress(RAW[100_000:])}
        if ZSTD:
            streams["zst"] = without_size(zstd(RAW[:999_996])) + zstd(RAW[999_996:])
        if LZ4:
            streams["lz4"] = lz4(RAW[:99_996]) + lz4(RAW[99_996:])
        for ending, data in streams.items():
            with self.subTest(ending):
                name = f"x.f32.{ending}"
                self.write(name, data)
                self.check_same(name)
                self.succeed("histogram", name, "--range", "-4:4")
                self.check_error(2, "histogram", name)
                self.check_error(2, "reduce", name, "--verify")
                self.check_error(2, "reduce", name, "--explain")
                self.check_error(3, "reduce", "x.f32", name)
                self.check_error(3, "reduce", name + "[1:2]")
                self.check_error(3, "matmul", name, "x.f32", "--shape-b", "40x30000", "-o", "c.npy")
                for at in (len(data) - 1, len(data) // 2):
                    self.write(f"cut.f32.{ending}", data[:at])
                    self.check_error(3, "reduce", f"cut.f32.{ending}")
                self.write("x.bin." + ending, data)
                self.check_error(2, "reduce", "x.bin." + ending)
                part = self.json("reduce", "x.bin." + ending, "--dtype", "f4", "--skip", 10,
                                 "--count", 1000)["result"]
                self.assertEqual(part["max"], float(FIELD.ravel()[10:1010].max()))

    def test_formats_may_be_compressed(self):
        content = io.BytesIO()
        np.save(content, FIELD)
        for name, data in (("x.npy.gz", gzip.compress(content.getvalue())),
                           ("y.npy.gz", bgzip(content.getvalue()))):
            self.write(name, data)
            self.assertEqual(self.json("reduce", name)["result"], self.plain["result"])
        self.assertEqual(self.json("info", "y.npy.gz")["input"]["shape"], list(FIELD.shape))
        content = io.BytesIO()
        np.savez(content, x=FIELD, y=FIELD[:5])
        self.write("x.npz.gz", bgzip(content.getvalue()))
        self.assertEqual(self.json("reduce", "x.npz.gz::x")["result"], self.plain["result"])

    def test_shapes_are_kept(self):
        content = io.BytesIO()
        np.save(content, FIELD)
        self.write("x.npy.gz", gzip.compress(content.getvalue()))
        self.succeed("convert", "x.npy.gz", "-o", "x.npy", "--to", "f8")
        np.testing.assert_array_equal(np.load(self.path("x.npy")), FIELD.astype("f8"))
        self.write("y.npy.gz", bgzip(content.getvalue()))
        np.save(self.path("b.npy"), np.ascontiguousarray(FIELD[:30].T))
        self.succeed("matmul", "y.npy.gz[:50]", "b.npy", "-o", "c.npy", "--verify")
        np.testing.assert_allclose(np.load(self.path("c.npy")), FIELD[:50] @ FIELD[:30].T,
                                   rtol=1e-4, atol=1e-4)

    def test_damage_is_found(self):
        data = bytearray(bgzip(RAW))
        data[len(data) // 2] ^= 1
        self.write("x.f32.gz", bytes(data))
        self.refuse(3, "gzip", "reduce", "x.f32.gz")
        data = bytearray(gzip.compress(RAW))
        data[len(data) // 2] ^= 1
        self.write("y.f32.gz", bytes(data))
        self.refuse(3, "cannot be decoded", "reduce", "y.f32.gz")

    def test_other_bytes_are_not_decoded(self):
        self.write("x.f32.gz", RAW)  # a server may have decompressed it
        self.check_error(3, "reduce", "x.f32.gz")
        self.check_same("x.f32.gz", "--input-format", "raw")
        self.write("t.f32.gz", gzip.compress(b"1.5 2.5\n" * 1000))
        self.refuse(3, "looks like text", "reduce", "t.f32.gz")
        self.write("y.f32.gz", bgzip(RAW)[:4096])
        self.succeed("reduce", "y.f32.gz", "--input-format", "raw")
        self.check_error(2, "convert", "x.f32", "-o", "c.f32.gz", "--to", "f4")

    def test_info_of_a_stream(self):
        self.write("x.f32.gz", gzip.compress(RAW))
        text = self.succeed("info", "x.f32.gz").stdout
        for words in ("begins like gzip: it is one stream, which is read once",
                      "values of uint8 (its bytes, as they are stored)"):
            self.assertIn(words, text)
        self.assertEqual(self.json("info", "x.f32.gz")["result"]["signature"], "gzip")


if __name__ == "__main__":
    main()
