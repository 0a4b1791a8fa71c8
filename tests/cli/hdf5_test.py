#!/usr/bin/env python3
"""Tests HDF5 files that h5py wrote: what info lists, and arrays in one piece, in chunks and tiles.
hdf5_helper_test has what helpers may do."""

import ctypes
import os
import struct
import sys
import unittest
from ctypes.util import find_library

import numpy as np
from cli_support import CliTest, main

try:
    import h5py
except ImportError:
    print("h5py is not installed")
    sys.exit(77)

RANDOM = np.random.default_rng(9)
FIELD = np.round(RANDOM.normal(size=(300, 170)).astype("f4"), 2)
COUNTS = RANDOM.integers(0, 9, (6, 40, 30)).astype("u2")
ZSTD, LZ4, BITSHUFFLE = 32015, 32004, 32008


def zstd(data):
    library = ctypes.CDLL(find_library("zstd"))
    library.ZSTD_compress.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), data,
                                 ctypes.c_size_t(len(data)), 3)
    return room.raw[:size]


def lz4_block(data):
    library = ctypes.CDLL(find_library("lz4"))
    room = ctypes.create_string_buffer(len(data) + len(data) // 200 + 64)
    size = library.LZ4_compress_default(data, room, len(data), len(room))
    return room.raw[:size]


def lz4_blocks(data, block=5000):
    """The blocks of filter 32004; those that do not become smaller are stored as they are."""
    pieces = [struct.pack(">QI", len(data), block)]
    for begin in range(0, len(data), block):
        plain = data[begin:begin + block]
        small = lz4_block(plain)
        stored = small if len(small) < len(plain) else plain
        pieces += [struct.pack(">I", len(stored)), stored]
    return b"".join(pieces)


def bitshuffled(data, element_bytes=4, block=1024):
    """The blocks of filter 32008 with LZ4. `block`: elements."""
    pieces = [struct.pack(">QI", len(data), block * element_bytes)]
    elements = len(data) // element_bytes
    begin = 0
    while elements - begin >= 8:
        count = min(block, (elements - begin) // 8 * 8)
        values = np.frombuffer(data, "u1", count * element_bytes, begin * element_bytes)
        bits = np.unpackbits(values.reshape(count, element_bytes), axis=1, bitorder="little")
        stored = lz4_block(np.packbits(bits.T.reshape(-1), bitorder="little").tobytes())
        pieces += [struct.pack(">I", len(stored)), stored]
        begin += count
    return b"".join([*pieces, data[begin * element_bytes:]])


class Hdf5Test(CliTest):
    def file(self, name="x.h5", **options):
        return h5py.File(self.path(name), "w", **options)

    def check_same(self, name, array, *commands):
        """The results are those of the same numbers in a .npy file, to the bit."""
        np.save(self.path("same.npy"), array)
        for command in (("reduce",), *commands):
            found, expected = (self.json(*command, file, "--checksum")
                               for file in (name, "same.npy"))
            self.assertEqual(found["result"], expected["result"], name)
            self.assertEqual(found["input"]["shape"], expected["input"]["shape"])

    def check_all(self, name="x.h5"):
        """Compares all arrays of a file with those that h5py reads."""
        arrays = {}
        with h5py.File(self.path(name)) as file:
            file.visititems(lambda key, value: arrays.update({key: value[()]})
                            if isinstance(value, h5py.Dataset) else None)
        for key, array in arrays.items():
            self.check_same(f"{name}::{key}", np.asarray(array))

    def test_results_are_those_of_a_npy_file(self):
        chunks = [None, (64, 170), (300, 170), (7, 170), (64, 50), (1, 33), (33, 1)]
        for libver in ("earliest", "latest"):
            with self.file(f"{libver}.h5", libver=libver) as file:
                for number, chunk in enumerate(chunks):
                    for encoding, options in {
                            "plain": {}, "gzip": {"compression": "gzip"},
                            "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
                            "checked": {"fletcher32": True}}.items():
                        is_tried = libver == "earliest" or encoding in ("plain", "all")
                        if is_tried and (chunk or not options):
                            file.create_dataset(f"{encoding}{number}", data=FIELD, chunks=chunk,
                                                **options)
                for number, chunk in enumerate([(2, 40, 30), (4, 7, 30), (4, 7, 11), (1, 7, 11)]):
                    file.create_dataset(f"cube{number}", data=COUNTS, chunks=chunk,
                                        compression="gzip")
            self.check_all(f"{libver}.h5")

    def test_all_types(self):
        kinds = [order + kind for order in "<>" for kind in
                 ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")]
        with self.file() as file:
            for kind in kinds:
                values = RANDOM.integers(0, 90, 1000).astype(kind)
                file[f"whole/{kind}"] = values
                file.create_dataset(f"chunks/{kind}", data=values, chunks=(300,), shuffle=True)
            file["bool"] = values > 40
            file["scalar"] = np.float32(5)
            file.create_dataset("level", data=RANDOM.integers(0, 3, 99), dtype=h5py.enum_dtype(
                {"LOW": 0, "HIGH": 1, "NONE": 2}, "i2"))
        arrays = {each["name"]: each for each in self.json("info", "x.h5")["result"]["arrays"]}
        self.assertEqual(len(arrays), 2 * len(kinds) + 3)
        for kind in kinds:
            np.save(self.path("same.npy"), h5py.File(self.path("x.h5"))[f"whole/{kind}"][()])
            expected = self.json("reduce", "same.npy")["result"]
            for place in "whole", "chunks":
                name = f"/{place}/{kind}"
                self.assertEqual(self.json("reduce", f"x.h5::{name}")["result"], expected, name)
        with h5py.File(self.path("x.h5")) as file:
            for name in "bool", "scalar", "level":
                self.check_same(f"x.h5::{name}", np.array(file[name][()], file[name].dtype.str))

    def test_what_is_not_stored_has_the_fill_value(self):
        with self.file() as file:
            for number, (kind, fill) in enumerate([("<f4", np.nan), (">f8", -1.5), ("<f2", np.inf),
                                                   (">i2", -7), ("<u8", 2**64 - 1), ("<i4", None)]):
                for chunk in (100, 30), (8, 7), None:
                    data = file.create_dataset(f"{number}/{chunk and chunk[0]}", (50, 30), kind,
                                               chunks=chunk, maxshape=chunk and (None, None),
                                               fillvalue=fill)
                    if chunk:
                        data[16:24, 7:15] = 3
            file.create_dataset("bool", 1000, "?", fillvalue=True, chunks=(10,))
            file.create_dataset("empty", (0, 5), "f4", chunks=(1, 5), maxshape=(None, 5))
            file.create_dataset("long", 5_000_000, "i8", fillvalue=3)
        self.check_all()

    def test_files_behind_a_user_block(self):
        for block in (512, 4096):
            for libver in ("earliest", "latest"):
                with self.file(userblock_size=block, libver=libver) as file:
                    file["whole"] = FIELD
                    file.create_dataset("tiles", data=FIELD, chunks=(64, 50), compression="gzip")
                self.check_all()
        with self.file(userblock_size=1 << 16) as file:
            file["whole"] = FIELD
        np.save(self.path("same.npy"), FIELD)
        self.assertEqual(self.json("reduce", "x.h5", "--input-format", "hdf5")["result"],
                         self.json("reduce", "same.npy")["result"])

    def test_info_and_names(self):
        with self.file(libver="latest") as file:
            file.create_dataset("group/deep/field", data=FIELD, chunks=(64, 170))
            file["words"] = "hello"
            file["pairs"] = np.zeros(3, [("x", "<f4"), ("y", "<i4")])
            file["group/again"] = file["group"]  # a cycle
            file["soft"] = h5py.SoftLink("/group/deep/field")
            file["nowhere"] = h5py.SoftLink("/group/none")
            file["other"] = h5py.ExternalLink("y.h5", "/data")
            file["hard"] = file["group/deep/field"]
            small = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            small.set_layout(h5py.h5d.COMPACT)
            h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE,
                            h5py.h5s.create_simple((3,)), small)
            layout = h5py.VirtualLayout((300, 170), "f4")
            layout[:] = h5py.VirtualSource("y.h5", "data", (300, 170))
            file.create_virtual_dataset("virtual", layout)
            file.create_dataset("fast", data=FIELD, compression="lzf")
            file.create_dataset("scaled", data=COUNTS, scaleoffset=0)
            file.create_dataset("none", data=h5py.Empty("f4"))
            file.create_dataset("outside", (10,), "f4", external=[(self.path("y.bin"), 0, 40)])
        document = self.json("info", "x.h5")
        self.assertEqual(document["input"]["format"], "hdf5")
        arrays = {each["name"]: each for each in document["result"]["arrays"]}
        self.assertEqual(sorted(arrays), sorted(
            f"/{name}" for name in ("compact", "fast", "group/deep/field", "hard", "none", "other",
                                    "outside", "pairs", "scaled", "soft", "virtual", "words")))
        text = self.succeed("info", "x.h5").stdout
        for words in ("HDF5, 12 arrays", "300 x 170", "strings", "structs", "lzf", "external"):
            self.assertIn(words, text)
        for name in ("/group/deep/field", "group/deep/field", "soft", "hard"):
            self.check_same(f"x.h5::{name}", FIELD)
        rows = self.json("reduce", "x.h5::group/deep/field[100:200]")["result"]
        np.save(self.path("rows.npy"), FIELD[100:200])
        self.assertEqual(rows, self.json("reduce", "rows.npy")["result"])
        for name in ("words", "pairs", "other", "compact", "virtual", "fast", "scaled", "none",
                     "outside"):
            self.check_error(3, "reduce", f"x.h5::{name}")
        self.check_error(2, "reduce", "x.h5::group/deep/fields")
        self.check_error(2, "reduce", "x.h5")

    def test_as_netcdf_stores_its_variables(self):
        with self.file("x.nc") as file:
            for name, size in ("time", 24), ("lat", 90), ("lon", 120):
                file[name] = np.arange(size, dtype="f8")
                file[name].make_scale(name)
            data = RANDOM.normal(280, 9, (24, 90, 120)).astype("f4")
            field = file.create_dataset("temperature", data=data, chunks=(1, 45, 60),
                                        compression="gzip", shuffle=True, fillvalue=-999,
                                        maxshape=(None, 90, 120))
            for number, name in enumerate(("time", "lat", "lon")):
                field.dims[number].attach_scale(file[name])
        self.check_all("x.nc")
        self.check_same("x.nc::temperature", data, ("histogram", "--bins", 9),
                        ("quantile", "--q", "0.1,0.5"))
        self.succeed("convert", "x.nc::temperature", "-o", "y.npy", "--to", "f8")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), data.astype("f8"))

    @unittest.skipUnless(find_library("zstd") and find_library("lz4"), "no libzstd or liblz4")
    def test_codecs_of_other_packages(self):
        encodings = {ZSTD: ((), zstd), LZ4: ((), lz4_blocks),
                     BITSHUFFLE: ((0, 5, 4, 0, 2), bitshuffled)}
        with self.file(libver="latest") as file:
            for number, (options, encode) in encodings.items():
                for chunk in ((64, 170), (64, 50), (13, 11)):
                    data = file.create_dataset(
                        f"{number}/{chunk[1]}", FIELD.shape, "f4", chunks=chunk,
                        compression=number, compression_opts=options, allow_unknown_filter=True)
                    for row in range(0, 300, chunk[0]):
                        for column in range(0, 170, chunk[1]):
                            whole = np.full(chunk, 99, "f4")
                            part = FIELD[row:row + chunk[0], column:column + chunk[1]]
                            whole[:part.shape[0], :part.shape[1]] = part
                            data.id.write_direct_chunk((row, column), encode(whole.tobytes()))
        for number in encodings:
            for width in (170, 50, 11):
                self.check_same(f"x.h5::{number}/{width}", FIELD)

    def test_chunks_that_skip_filters(self):
        values = np.arange(30, dtype="f4")
        with self.file() as file:
            data = file.create_dataset("x", (30,), "f4", chunks=(10,), compression="gzip",
                                       shuffle=True, fletcher32=True)
            bytes_of = file.create_dataset("bytes", data=values.astype("u1"), chunks=(10,),
                                           compression="gzip", shuffle=True)
            data[:] = values
            data.id.write_direct_chunk((10,), values[10:20].tobytes(), filter_mask=7)
            shuffled = values[20:].view("u1").reshape(10, 4).T.tobytes()
            data.id.write_direct_chunk((20,), shuffled, filter_mask=6)
            bytes_of.id.write_direct_chunk((10,), bytes(range(10, 20)), filter_mask=2)
        self.check_all()

    def test_damage(self):
        with self.file() as file:
            file.create_dataset("x", data=FIELD, chunks=(64, 170), fletcher32=True)
            file.create_dataset("gzip", data=FIELD, chunks=(64, 170), compression="gzip")
            places = {name: file[name].id.get_chunk_info(1) for name in ("x", "gzip")}
        whole = (self.directory / "x.h5").read_bytes()
        for name, place in places.items():
            damaged = bytearray(whole)
            damaged[place.byte_offset + place.size // 2] ^= 1
            self.write("bad.h5", bytes(damaged))
            self.refuse(3, "bad.h5: piece 1 is damaged: ", "reduce", f"bad.h5::{name}")
        for size in (100, len(whole) // 2, len(whole) - 1):
            self.write("cut.h5", whole[:size])
            self.refuse(3, "cut.h5: ", "reduce", "cut.h5::x")
        outcomes = set()
        for _ in range(60):  # of the header: an error, or the numbers
            damaged = bytearray(whole)
            for place in RANDOM.integers(8, 4096, 3):
                damaged[place] = RANDOM.integers(256)
            self.write("bad.h5", bytes(damaged))
            outcomes.add(self.run_program("reduce", "bad.h5::x").returncode)
        self.assertLessEqual(outcomes, {0, 2, 3})

    def test_places_that_cannot_be_read(self):
        with self.file() as file:
            file["x"] = FIELD
        with open(self.path("x.h5"), "rb") as stream:
            self.refuse(3, "standard input: looks like HDF5", "reduce", "-", "--dtype", "u1",
                        stdin=stream)
            stream.seek(0)
            self.check_error(2, "reduce", "-", "--input-format", "hdf5", stdin=stream)
        self.check_error(3, "reduce", "x.h5", "--dtype", "f8")
        raw = self.json("reduce", "x.h5", "--input-format", "raw", "--dtype", "u1")
        self.assertEqual(raw["result"]["count"], os.path.getsize(self.path("x.h5")))

    def test_shards_and_several_files(self):
        for name in "a.h5", "b.h5":
            with self.file(name) as file:
                file.create_dataset("x", data=FIELD, chunks=(64, 50), compression="gzip")
        np.save(self.path("same.npy"), np.concatenate([FIELD, FIELD]))
        expected = self.json("reduce", "same.npy", "--exact")["result"]
        self.assertEqual(self.json("reduce", "a.h5", "b.h5", "--exact")["result"], expected)
        for index in range(2):
            self.succeed("reduce", "a.h5::x", "--shard", f"{index}/2", "-o", f"{index}.part")
        self.succeed("merge", "0.part", "1.part")


if __name__ == "__main__":
    main()
