#!/usr/bin/env python3
"""Tests formats whose data lie in one piece behind a small header: results are those of the same
numbers in a .npy file."""

import gzip
import json
import os
import struct
import wave

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(17)
BITPIX = {"u1": 8, "i2": 16, "i4": 32, "i8": 64, "f4": -32, "f8": -64}


def numbers(dtype, *shape):
    """Returns random numbers of all sizes that the type has, without NaN."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return RANDOM.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype.newbyteorder("="),
                           endpoint=True).astype(dtype)


class HeaderTest(CliTest):
    def same(self, name, array, same="same.npy"):
        """Requires the results of an array in a .npy file."""
        np.save(self.path(same), array)
        found, expected = (self.json("reduce", each, "--checksum") for each in (name, same))
        self.assertEqual(found["result"], expected["result"], name)
        self.assertEqual(found["input"]["shape"], expected["input"]["shape"], name)
        self.assertEqual(found["input"]["dtype"], expected["input"]["dtype"], name)


def cards(*pairs):
    """Returns a header of FITS. Values are those of the format's text."""
    text = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in pairs) + "END"
    return text.ljust((len(text) + 2879) // 2880 * 2880).encode()


def unit(array, first=(("SIMPLE", "T"),), *further):
    """Returns a header of FITS and an array behind it."""
    code = array.dtype.str[1:]
    data = array.astype(">" + code).tobytes()
    lengths = [(f"NAXIS{i + 1}", length) for i, length in enumerate(reversed(array.shape))]
    return (cards(*first, ("BITPIX", BITPIX[code]), ("NAXIS", array.ndim), *lengths, *further) +
            data.ljust((len(data) + 2879) // 2880 * 2880, b"\0"))


IMAGE = (("XTENSION", "'IMAGE   '"),)
NO_ARRAY = cards(("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", "T"))


class FitsTest(HeaderTest):
    def test_results_are_those_of_a_npy_file(self):
        for dtype in BITPIX:
            for shape in (7,), (300, 40), (5, 6, 70):
                array = numbers(dtype, *shape)
                self.write("x.fits", unit(array))
                self.same("x.fits", array.astype(array.dtype.newbyteorder(">")))
        self.succeed("convert", "x.fits", "-o", "x.npy", "--to", "f4")
        np.testing.assert_array_equal(np.load(self.path("x.npy")), array.astype("f4"))

    def test_arrays_are_named_by_number_and_name(self):
        arrays = numbers("f4", 20, 30), numbers("i2", 20, 30)
        self.write("x.fits", NO_ARRAY + unit(arrays[0], IMAGE, ("EXTNAME", "'SCI'")) +
                   unit(arrays[1], IMAGE, ("EXTNAME", "'DQ'")) + unit(arrays[1], IMAGE))
        self.same("x.fits::SCI", arrays[0].astype(">f4"))
        self.same("x.fits::1", arrays[0].astype(">f4"))
        self.same("x.fits::DQ", arrays[1].astype(">i2"))
        self.same("x.fits::DQ[3:5]", arrays[1].astype(">i2")[3:5])
        self.same("x.fits::3[:, 4]", arrays[1].astype(">i2")[:, 4])
        document = self.json("info", "x.fits")
        self.assertEqual(document["input"]["format"], "fits")
        self.assertEqual([each["name"] for each in document["result"]["arrays"]],
                         ["SCI", "DQ", "3"])
        self.assertIn("FITS, 3 arrays", self.succeed("info", "x.fits").stdout)
        self.check_error(2, "reduce", "x.fits")
        self.check_error(2, "reduce", "x.fits::SCY")

    def test_what_would_give_other_numbers_is_refused(self):
        array = numbers("i2", 20, 30)
        first = (("SIMPLE", "T"),)
        self.write("x.fits", unit(array, first, ("BSCALE", 2), ("BZERO", 32768)))
        self.check_error(3, "reduce", "x.fits")
        self.assertIn("BSCALE", self.succeed("info", "x.fits").stdout)
        self.write("x.fits", unit(array, first, ("BLANK", -32768)))
        self.check_error(3, "reduce", "x.fits")
        table = cards(("XTENSION", "'BINTABLE'"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 8),
                      ("NAXIS2", 10), ("PCOUNT", 0), ("GCOUNT", 1), ("EXTNAME", "'EVENTS'"))
        self.write("x.fits", unit(array) + table + bytes(2880))
        self.check_error(3, "reduce", "x.fits::EVENTS")
        self.same("x.fits::0", array.astype(">i2"))
        self.check_error(3, "reduce", "x.fits::0", "--dtype", "f4")
        self.write("x.fits", unit(array)[:4000])
        self.check_error(3, "reduce", "x.fits")

    def test_unsigned_integers_are_stored_with_an_offset(self):
        for dtype, stored, offset in (("u2", "i2", 2**15), ("u4", "i4", 2**31), ("u8", "i8", 2**63),
                                      ("i1", "u1", -128)):
            array = numbers(dtype, 700, 1000)
            inverted = (array.view(stored) ^ np.array(1 << 8 * array.itemsize - 1, "u8").astype(
                dtype).view(stored)).astype(stored)
            self.assertEqual([int(each) + offset for each in inverted[0, :9]], list(array[0, :9]))
            self.write("x.fits", unit(inverted, (("SIMPLE", "T"),), ("BSCALE", 1),
                                      ("BZERO", offset)))
            array = array.astype(array.dtype.newbyteorder(">"))
            self.same("x.fits", array)
            self.same("x.fits[100:200]", array[100:200])
            self.same("x.fits[:, 3]", array[:, 3])
        file = (self.directory / "x.fits").read_bytes()
        self.write("x.fits.gz", gzip.compress(file))
        self.check_error(2, "reduce", "x.fits.gz")
        self.assertEqual(self.json("info", "x.fits")["input"]["dtype"], "|i1")

    def test_bytes_are_read_where_they_are_meant(self):
        array = numbers("f4", 720)
        self.write("x.fits", unit(array))
        np.save(self.path("same.npy"), array.astype(">f4"))
        same = self.json("reduce", "same.npy")["result"]
        offset = self.json("reduce", "x.fits", "--offset", 2880, "--dtype", ">f4")
        self.assertEqual(offset["result"]["sum"], same["sum"])
        raw = self.json("reduce", "x.fits", "--input-format", "raw", "--dtype", "u1")
        self.assertEqual(raw["result"]["count"], 5760)

    def test_compressed_files_and_streams(self):
        array = numbers("f4", 300, 40)
        file = unit(array)
        self.write("x.fits.gz", gzip.compress(file))
        self.same("x.fits.gz", array.astype(">f4"))
        with open(self.write("x.fits", file), "rb") as stream:
            found = self.json("reduce", "-", stdin=stream)["result"]
        self.assertEqual(found, self.json("reduce", "same.npy")["result"])
        self.write("x.fits.gz", gzip.compress(file[:4000]))
        self.check_error(3, "reduce", "x.fits.gz")
        self.write("x.fits.gz", gzip.compress(NO_ARRAY + unit(array, IMAGE)))
        self.check_error(2, "reduce", "x.fits.gz")


class VectorsTest(HeaderTest):
    ENDINGS = {"f4": ".fbin", "i4": ".ibin", "u1": ".u8bin", "i1": ".i8bin"}
    ROWS = {"f4": ".fvecs", "i4": ".ivecs", "u1": ".bvecs"}

    @staticmethod
    def counted(array):
        """Returns rows with their number of elements in front."""
        counts = np.full((len(array), 1), array.shape[1], "<u4")
        return np.hstack([counts.view("u1"), array.view("u1")]).tobytes()

    def test_results_are_those_of_a_npy_file(self):
        for dtype, ending in self.ENDINGS.items():
            array = numbers(dtype, 300, 128)
            self.write("x" + ending, struct.pack("<II", *array.shape) + array.tobytes())
            self.same("x" + ending, array)
            self.same(f"x{ending}[10:20]", array[10:20])
        for dtype, ending in self.ROWS.items():
            for shape in (1, 1), (30_000, 96), (1000, 3):
                array = numbers(dtype, *shape)
                self.write("x" + ending, self.counted(array))
                self.same("x" + ending, array)
        self.same("x.bvecs[10:20]", array[10:20])
        self.same("x.bvecs[:, 1]", array[:, 1])
        self.assertIn("vectors, 1 array", self.succeed("info", "x.bvecs").stdout)
        self.succeed("convert", "x.bvecs", "-o", "x.npy", "--to", "f4")
        np.testing.assert_array_equal(np.load(self.path("x.npy")), array.astype("f4"))

    def test_rows_of_other_lengths_are_refused(self):
        rows = self.counted(numbers("u1", 200_000, 12))
        self.write("x.bvecs", rows + rows[:-1])
        self.check_error(3, "reduce", "x.bvecs")
        for row in 1, 100_000, 199_999:
            other = bytearray(rows)
            other[16 * row] = 11
            self.write("x.bvecs", other)
            self.check_error(3, "reduce", "x.bvecs")
            self.check_error(3, "histogram", "x.bvecs", "--range", "0:256")
        self.write("x.u8bin", struct.pack("<II", 2, 3) + b"abcde")
        self.check_error(3, "reduce", "x.u8bin")
        self.write("x.u8bin", struct.pack("<II", 2, 3) + b"abcdefg")
        self.check_error(3, "reduce", "x.u8bin")
        with open(self.write("x.fvecs", self.counted(numbers("f4", 2, 3))), "rb") as stream:
            found = self.json("reduce", "-", "--dtype", "u4", stdin=stream)["result"]
        self.assertEqual(found["count"], 8)
        self.write("x.fvecs.gz", gzip.compress(rows))
        self.check_error(2, "reduce", "x.fvecs.gz")


class NiftiTest(HeaderTest):
    CODES = {"u1": 2, "i2": 4, "i4": 8, "f4": 16, "f8": 64, "i1": 256, "u2": 512, "u4": 768,
             "i8": 1024, "u8": 1280}

    def file(self, array, order="<", slope=0.0, intercept=0.0):
        header = bytearray(352)
        lengths = array.shape[::-1]
        struct.pack_into(order + "i", header, 0, 348)
        struct.pack_into(f"{order}{1 + array.ndim}h", header, 40, array.ndim, *lengths)
        code = array.dtype.str[1:]
        struct.pack_into(order + "hh", header, 70, self.CODES[code], 8 * array.itemsize)
        struct.pack_into(order + "fff", header, 108, 352, slope, intercept)
        header[344:348] = b"n+1\0"
        return bytes(header) + array.astype(order + code).tobytes()

    def test_results_are_those_of_a_npy_file(self):
        for dtype in self.CODES:
            for order in "<>":
                array = numbers(dtype, 5, 60, 70)
                self.write("x.nii", self.file(array, order))
                self.same("x.nii", array.astype(array.dtype.newbyteorder(order)))
        self.write("x.nii.gz", gzip.compress(self.file(array)))
        self.same("x.nii.gz", array)
        self.assertEqual(self.json("info", "x.nii")["input"]["format"], "nifti")

    def test_refusals(self):
        array = numbers("i2", 20, 30)
        self.write("x.nii", self.file(array, slope=0.5))
        self.check_error(3, "reduce", "x.nii")
        self.assertIn("scl_slope", self.succeed("info", "x.nii").stdout)
        self.write("x.nii", self.file(array)[:-1])
        self.check_error(3, "reduce", "x.nii")
        self.write("x.nii.gz", gzip.compress(self.file(array)[:-1]))
        self.check_error(3, "reduce", "x.nii.gz")
        self.write("x.nii", self.file(array) + b"x")
        self.check_error(3, "reduce", "x.nii")


class WavTest(HeaderTest):
    def test_samples_of_the_standard_library(self):
        for dtype, channels in ("u1", 1), ("i2", 2), ("i4", 3):
            array = numbers(dtype, 5000, channels)
            with wave.open(str(self.path("x.wav")), "wb") as file:
                file.setparams((channels, array.itemsize, 48_000, 0, "NONE", ""))
                file.writeframes(array.tobytes())
            self.same("x.wav", array)
        self.assertEqual(self.json("info", "x.wav")["input"]["format"], "wav")
        with open(self.path("x.wav"), "rb") as stream:
            self.assertEqual(self.json("reduce", "-", stdin=stream)["result"],
                             self.json("reduce", "same.npy")["result"])

    def test_refusals(self):
        with wave.open(str(self.path("x.wav")), "wb") as file:
            file.setparams((1, 3, 48_000, 0, "NONE", ""))
            file.writeframes(bytes(300))
        self.check_error(3, "reduce", "x.wav")
        with wave.open(str(self.path("x.wav")), "wb") as file:
            file.setparams((1, 2, 48_000, 0, "NONE", ""))
            file.writeframes(bytes(300))
        whole = (self.directory / "x.wav").read_bytes()
        self.write("x.wav", whole[:-1])
        self.check_error(3, "reduce", "x.wav")
        self.write("x.wav", whole + b"more")
        self.check_error(3, "reduce", "x.wav")


class TextTest(HeaderTest):
    """Tests headers that are texts, with the data behind them or in a file beside."""

    def test_nrrd(self):
        array = numbers("i2", 20, 30)
        header = ("NRRD0004\ntype: short\ndimension: 2\nsizes: 30 20\nencoding: raw\n"
                  "endian: little\n")
        self.write("x.nrrd", (header + "\n").encode() + array.tobytes())
        self.same("x.nrrd", array)
        self.write("x.raw", array.tobytes())
        self.write("x.nhdr", (header + "data file: x.raw\n").encode())
        self.same("x.nhdr", array)
        self.same("x.nhdr[5:7]", array[5:7])
        self.assertEqual(self.json("info", "x.nhdr")["input"]["format"], "nrrd")
        for name in "../x.raw", "/etc/passwd", "no.raw":
            self.write("x.nhdr", (header + f"data file: {name}\n").encode())
            self.check_error(4 if name == "no.raw" else 3, "reduce", "x.nhdr")
        self.write("x.nrrd", (header.replace("raw", "gzip") + "\n").encode())
        self.check_error(3, "reduce", "x.nrrd")

    def test_metaimage(self):
        array = numbers("f4", 4, 5, 6)
        header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                  "BinaryDataByteOrderMSB = False\nCompressedData = False\nDimSize = 6 5 4\n"
                  "ElementType = MET_FLOAT\nElementDataFile = ")
        self.write("x.mha", (header + "LOCAL\n").encode() + array.tobytes())
        self.same("x.mha", array)
        self.write("x.raw", array.tobytes())
        self.write("x.mhd", (header + "x.raw\n").encode())
        self.same("x.mhd", array)

    def test_envi(self):
        array = numbers("u2", 4, 5, 6)
        for interleave, names in (("bsq", ("bands", "lines", "samples")),
                                  ("bil", ("lines", "bands", "samples")),
                                  ("bip", ("lines", "samples", "bands"))):
            lengths = "".join(f"{name} = {length}\n" for name, length in zip(names, array.shape))
            self.write("x.hdr", (f"ENVI\n{lengths}data type = 12\nbyte order = 1\n"
                                 f"interleave = {interleave}\n").encode())
            self.write("x.dat", array.astype(">u2").tobytes())
            self.same("x.hdr", array.astype(">u2"))

    def test_headers_are_no_outputs(self):
        self.write("a.img", np.ones(24, "i2"))
        self.write("a.hdr", b"ENVI\n")
        self.write("x.f32", np.ones(3, "f4"))
        os.symlink("a.hdr", self.path("link.f32"))
        for output in ("a.hdr", "new.sigmf-meta", "link.f32"):
            self.refuse(2, "only raw values and .npy files are written", "convert", "x.f32", "-o",
                        output, "--force")
        self.assertEqual((self.directory / "a.hdr").read_text(), "ENVI\n")

    def test_sigmf(self):
        array = numbers("f4", 500, 2)
        self.write("x.sigmf-data", array.tobytes())
        self.write("x.sigmf-meta", json.dumps(
            {"global": {"core:datatype": "cf32_le", "core:version": "1.0.0"}, "captures": [],
             "annotations": []}).encode())
        self.same("x.sigmf-meta", array)
        self.write("x.sigmf-data", array.tobytes() + b"x")
        self.check_error(3, "reduce", "x.sigmf-meta")


if __name__ == "__main__":
    main()
