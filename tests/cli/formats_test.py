#!/usr/bin/env python3
"""Tests that files of other formats are refused, whatever type is given, and numbers are not."""

import bz2
import gzip
import io
import lzma
import pickle
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

from cli_support import CliTest, main

import numpy as np

VALUES = np.random.default_rng(8).normal(size=1000).astype("f4").tobytes()


def tar():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x.npy"))
    return buffer.getvalue()


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.dat", VALUES)
    return buffer.getvalue()


def compressed(text):
    """Returns text as compress(1) writes it, without repetitions: codes of 9 bits."""
    bits = "".join(format(byte, "09b")[::-1] for byte in text)
    bits += "0" * (-len(bits) % 8)
    return b"\x1f\x9d\x90" + bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))


def tiff():
    entries = struct.pack("<H", 1) + struct.pack("<HHII", 256, 3, 1, 10) + struct.pack("<I", 0)
    return b"II*\0" + struct.pack("<I", 8 + len(VALUES)) + VALUES + entries


def nifti2():
    header = bytearray(544)
    header[0:12] = struct.pack("<i", 540) + b"n+2\0\r\n\x1a\n"
    header[168:176] = struct.pack("<q", 544)
    return bytes(header) + VALUES


def skippable():
    frame = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"
    return b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"meta" + frame + VALUES


def tool(*words):
    """Returns what a program makes of the values, or nothing if it is not installed."""
    if shutil.which(words[0]) is None:
        return None
    return subprocess.run(words, input=VALUES, capture_output=True, check=True).stdout


HDF5 = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0" + VALUES
MATLAB = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512, b" ")

FORMATS = {
    "gzip": gzip.compress(VALUES), "zlib": zlib.compress(VALUES), "xz": lzma.compress(VALUES),
    "lzma": lzma.compress(VALUES, lzma.FORMAT_ALONE), "bzip2": bz2.compress(VALUES),
    "Zstandard": tool("zstd", "-c"), "LZ4": tool("lz4", "-c"),
    "Zstandard or LZ4": skippable(), "zip": zipped(), "tar": tar(),
    "compress": compressed(VALUES[:250]), "7z": b"7z\xbc\xaf\x27\x1c\0\x04" + VALUES,
    "Snappy": b"\xff\x06\0\0sNaPpY" + VALUES,
    "Blosc": struct.pack("<BBBBIII", 2, 1, 1, 4, 8000, 8000, 4016) + VALUES,
    "HDF5": HDF5, "HDF5 ": bytes(range(256)) * 2 + HDF5, "HDF5  ": MATLAB + HDF5,
    "MATLAB 5": b"MATLAB 5.0 MAT-file".ljust(124, b" ") + b"\0\x01IM" + VALUES,
    "NetCDF": b"CDF\x02\0\0\0\0\0\0\0\x0a\0\0\0\x01" + VALUES,
    "TIFF": tiff(), "BigTIFF": b"II+\0\x08\0\0\0" + struct.pack("<Q", 3000) + VALUES,
    "BigTIFF ": b"MM\0+\0\x08\0\0" + struct.pack(">Q", 3000) + VALUES,
    "WAVE audio (W64)": bytes.fromhex("726966662e91cf11a5d628db04c10000") + VALUES,
    "NIfTI": nifti2(),
    "DICOM": bytes(128) + b"DICM\x02\0\0\0UL\x04\0" + VALUES,
    "IDX": b"\0\0\x0d\x02" + struct.pack(">II", 10, 100) + VALUES,
    "a Python pickle": pickle.dumps(np.frombuffer(VALUES, "f4"), 4),
    "a Python pickle ": pickle.dumps(np.frombuffer(VALUES, "f4"), 2),
    "a Python pickle  ": pickle.dumps([1.5] * 500, 3),
    "ROOT": b"root\0\0\xf5\xf5\0\0\0\x64" + VALUES,
    "GRIB": b"GRIB\0\0\0\x02" + struct.pack(">Q", 3000) + VALUES,
    "Avro": b"Obj\x01\x04\x14avro.codec\x08null\x16avro.schema" + VALUES,
    "ORC": b"ORC" + VALUES + b"ORC\x17", "Parquet": b"PAR1\x15\x04\x15\x80" + VALUES + b"PAR1",
    "Parquet ": b"PAR1" + VALUES + b"PAR1", "Arrow": b"ARROW1\0\0" + VALUES,
    "GGUF": b"GGUF\x03\0\0\0" + VALUES, "PNG": b"\x89PNG\r\n\x1a\n" + VALUES,
    "JPEG": b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xdb" + VALUES,
    "ELF": open(sys.executable, "rb").read(8000), "SQLite": None,
    "FITS": b"SIMPLE  =                    F".ljust(2880) + VALUES,
}


class FormatTest(CliTest):
    def setUp(self):
        super().setUp()
        with sqlite3.connect(self.path("db")) as database:
            database.execute("create table t (x real)")
        self.formats = {**FORMATS, "SQLite": (self.directory / "db").read_bytes()}
        self.formats = {name.strip(): data for name, data in self.formats.items() if data}

    def test_refused_whatever_type_is_given(self):
        for name, data in FORMATS.items():
            if data is None:
                continue
            self.write("x.dat", data)
            for words in ((), ("--dtype", "u1"), ("--dtype", "f4")):
                with self.subTest(name, words=words):
                    self.refuse(3, "x.dat: looks like " + re.escape(name.strip()),
                                "reduce", "x.dat", *words,
                                hint="--offset [0-9A-Z]+.* or --input-format raw$")

    def test_streams_refuse_the_same(self):
        for name, data in FORMATS.items():
            # The size of a stream, or its end, would be needed.
            if data is None or name.strip() in ("Blosc", "IDX", "ORC", "Parquet"):
                continue
            with self.subTest(name), open(self.write("x.dat", data), "rb") as file:
                self.refuse(3, "standard input: looks like " + re.escape(name.strip()), "reduce",
                            "-", "--dtype", "u1", stdin=file,
                            hint="--input-format raw$")

    def test_read_where_that_is_meant(self):
        for name, data in FORMATS.items():
            if data is None:
                continue
            self.write("x.dat", data)
            words = ("reduce", "x.dat", "--dtype", "u1")
            with self.subTest(name):
                expected = np.frombuffer(data, "u1").sum(dtype="u8")
                result = self.json(*words, "--input-format", "raw")["result"]
                self.assertEqual((result["count"], result["sum"]), (len(data), expected))
                self.assertEqual(self.json(*words, "--offset", 1)["result"]["count"],
                                 len(data) - 1)

    def test_where_the_numbers_begin(self):
        for name, dtype, offset in (("NIfTI", "f4", 544), ("IDX", "f4", 12)):
            self.write("x.dat", self.formats[name])
            self.check_error(3, "reduce", "x.dat", "--dtype", dtype)
            result = self.json("reduce", "x.dat", "--dtype", dtype, "--offset", offset)["result"]
            self.assertEqual(result["count"], 1000)

    def test_a_format_that_is_said(self):
        np.save(self.path("x.npy"), np.arange(5.0))
        self.write("plain", (self.directory / "x.npy").read_bytes())
        raw = self.json("reduce", "x.npy", "--input-format", "raw", "--dtype", "f8")
        self.assertEqual(raw["result"]["count"], 21)
        self.assertEqual(raw["input"]["format"], "raw")
        for name in ("x.npy", "plain"):
            self.assertEqual(self.json("reduce", name, "--input-format", "npy")["result"]["sum"],
                             10)
        self.write("x.f8", np.arange(5.0))
        self.check_error(3, "reduce", "x.f8", "--input-format", "npy")

    def test_numbers_are_not_refused(self):
        random = np.random.default_rng(5)
        for kind in ("u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"):
            for make in (lambda: random.normal(0, 1e3, 500), lambda: random.integers(0, 120, 500),
                         lambda: np.arange(500), lambda: np.zeros(500)):
                self.write(f"x.{kind}", make().astype(kind))
                self.json("reduce", f"x.{kind}", "--dtype", np.dtype(kind).name)


class TypeOfDataTest(CliTest):
    """Tests that numbers of an unsaid type are not read as bytes, and bytes are."""

    def test_another_type_is_refused_with_a_preview(self):
        self.write("lat.dat", np.linspace(-90, 90, 50_000))
        for command in ("reduce", "histogram"):
            self.check_error(2, command, "lat.dat")
        self.check_error(2, "convert", "lat.dat", "-o", "y.npy")
        self.assertEqual(self.json("reduce", "lat.dat", "--dtype", "f8")["result"]["count"],
                         50_000)
        self.assertEqual(self.json("reduce", "lat.dat", "--dtype", "u1")["result"]["count"],
                         400_000)
        self.assertEqual(self.json("info", "lat.dat")["result"]["guess"]["dtype"], "<f8")
        self.write("head.dat", b"h" * 80 + np.linspace(-90, 90, 50_000).astype(">f4").tobytes())
        self.check_error(2, "reduce", "head.dat", "--offset", 80)

    def test_bytes_are_read(self):
        random = np.random.default_rng(5)
        wave_form = 128 + 60 * np.sin(np.arange(60_000) / 17)
        smooth = (wave_form + random.normal(0, 3, 60_000)).clip(0, 255).astype("u1")
        rgb = smooth.reshape(-1, 3) // np.array([1, 2, 3], "u1")
        alpha = np.full((20_000, 1), 255, "u1")
        for name, data in {"gray": smooth, "rgb": rgb, "rgba": np.hstack([rgb, alpha]),
                           "rgb0": np.hstack([rgb, 0 * alpha]), "argb": np.hstack([alpha, rgb]),
                           "noise": random.integers(0, 256, 60_000, "u1"),
                           "zeros": np.zeros(60_000, "u1"),
                           "mask": random.integers(0, 2, 9999, "u1"),
                           "sparse": (random.random(60_000) < 0.01).astype("u1") * 7,
                           "ramp": np.arange(60_000).astype("u1"),
                           "dna": random.choice(list(b"ACGT"), 60_000).astype("u1")}.items():
            with self.subTest(name):
                self.write(f"{name}.bin", data)
                document = self.json("histogram", f"{name}.bin")
                self.assertEqual(document["result"]["count"], data.size)
                if name != "dna":
                    self.assertEqual(document["warnings"], [])


if __name__ == "__main__":
    main()
