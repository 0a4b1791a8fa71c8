#!/usr/bin/env python3
"""Tests Zarr stores: what info lists, and arrays whose chunks are slabs, tiles or in shards."""

import itertools
import json
import os
import struct
import subprocess
import unittest
import zlib
from ctypes.util import find_library

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(8)
BYTES = [{"name": "bytes", "configuration": {"endian": "little"}}]
NAMES = {"f2": "float16", "f4": "float32", "f8": "float64", "b1": "bool"} | {
    kind + str(size): word + str(size * 8)
    for kind, word in (("i", "int"), ("u", "uint")) for size in (1, 2, 4, 8)}
GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {}}
FIELD = np.round(RANDOM.normal(size=(300, 170)).astype("f4"), 2)
COUNTS = RANDOM.integers(0, 9, (6, 40, 30)).astype("u2")


def gzip(data):
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    return engine.compress(data) + engine.flush()


class ZarrTest(CliTest):
    def store(self, name, array, chunk, encode=bytes, missing=(), **members):
        """Writes an array: a directory with a header and a file for each chunk."""
        place = self.directory / name
        place.mkdir(parents=True)
        header = {"zarr_format": 3, "node_type": "array", "shape": array.shape,
                  "data_type": NAMES[array.dtype.str[1:]], "fill_value": 0, "codecs": BYTES,
                  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
                  "chunk_key_encoding": {"name": "default"}} | members
        (place / "zarr.json").write_text(json.dumps(header))
        for indices in itertools.product(*(range(-(-n // c))
                                           for n, c in zip(array.shape, chunk))):
            if indices in missing:
                continue
            part = array[tuple(slice(i * c, (i + 1) * c) for i, c in zip(indices, chunk))]
            whole = np.full(chunk, 99, array.dtype)
            whole[tuple(slice(n) for n in part.shape)] = part
            path = place.joinpath("c", *map(str, indices))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode(whole.tobytes()))

    def store2(self, name, array, chunk, encode=bytes, missing=(), **members):
        """Writes an array of version 2: the chunks of store(), under other names."""
        self.store(name, array, chunk, encode, missing)
        place = self.directory / name
        (place / "zarr.json").unlink()
        separator = members.get("dimension_separator", ".")
        for path in [path for path in (place / "c").rglob("*") if path.is_file()]:
            new = place / separator.join(path.relative_to(place / "c").parts)
            new.parent.mkdir(parents=True, exist_ok=True)
            path.rename(new)
        header = {"zarr_format": 2, "shape": array.shape, "chunks": chunk, "order": "C",
                  "dtype": array.dtype.str, "fill_value": 0, "filters": None, "compressor": None}
        (place / ".zarray").write_text(json.dumps(header | members))

    def group(self, name):
        (self.directory / name).mkdir(parents=True, exist_ok=True)
        (self.directory / name / "zarr.json").write_text(json.dumps(GROUP))

    def check_same(self, name, array):
        """The results are those of the same numbers in a .npy file, to the bit."""
        np.save(self.path("same.npy"), array)
        for command in (("reduce",), ("histogram", "--bins", 9)):
            found, expected = (self.json(*command, file, "--checksum")
                               for file in (name, "same.npy"))
            self.assertEqual(found["result"], expected["result"])
            self.assertEqual(found["input"]["shape"], list(array.shape))

    def test_results_are_those_of_a_npy_file(self):
        for number, chunk in enumerate([(64, 170), (300, 170), (7, 200), (64, 50), (1, 33)]):
            self.store(f"{number}.zarr", FIELD, chunk)
            self.check_same(f"{number}.zarr", FIELD)
        for number, chunk in enumerate([(1, 8, 30), (1, 1, 7), (4, 40, 30), (4, 9, 30), (3, 9, 7)]):
            self.store(f"counts{number}.zarr", COUNTS, chunk)
            self.check_same(f"counts{number}.zarr", COUNTS)

    def test_missing_chunks_are_the_fill_value(self):
        self.store("m.zarr", FIELD, (100, 60), missing=[(0, 1), (2, 0), (2, 1), (2, 2)],
                   fill_value="0x40e00000")
        expected = FIELD.copy()
        expected[:100, 60:120] = expected[200:] = 7
        self.check_same("m.zarr", expected)

    def test_version_2(self):
        self.store2("a.zarr", FIELD, (64, 170))
        self.store2("b.zarr", FIELD, (64, 50), dimension_separator="/")
        for name in ("a.zarr", "b.zarr", "b.zarr/.zarray"):
            self.check_same(name, FIELD)
        self.store2("m.zarr", FIELD, (100, 60), missing=[(1, 1)], fill_value="-Infinity")
        expected = FIELD.copy()
        expected[100:200, 60:120] = -np.inf
        self.check_same("m.zarr", expected)
        for code in NAMES:
            array = COUNTS.astype(">" + code)
            self.store2(f"{code}.zarr", array, (4, 9, 30), fill_value=False if code == "b1" else 0)
            np.save(self.path("same.npy"), array)
            self.assertEqual(self.json("reduce", f"{code}.zarr")["result"],
                             self.json("reduce", "same.npy")["result"], code)

    def test_blosc(self):
        def frame(data):  # copied, as blosc does with bytes that it cannot compress
            return struct.pack("<4B3I", 2, 1, 2, 4, len(data), len(data), len(data) + 16) + data

        def shuffled(data):  # one block of one stream, which is as it was
            data = np.frombuffer(data, "u1").reshape(-1, 4).T.tobytes()
            return struct.pack("<4B5I", 2, 1, 0x31, 4, len(data), len(data), len(data) + 24, 20,
                               len(data)) + data

        for name, encode in (("copied", frame), ("shuffled", shuffled)):
            if name == "shuffled" and not find_library("lz4"):
                continue
            self.store(f"{name}3.zarr", FIELD, (64, 50), encode, codecs=[*BYTES, {"name": "blosc"}])
            self.store2(f"{name}2.zarr", FIELD, (64, 50), encode, compressor={"id": "blosc"})
            self.check_same(f"{name}3.zarr", FIELD)
            self.check_same(f"{name}2.zarr", FIELD)
        self.store2("short.zarr", FIELD, (300, 170), lambda data: frame(data)[:-1],
                    compressor={"id": "blosc"})
        self.check_error(3, "reduce", "short.zarr")

    def test_other_types_and_orders_of_bytes(self):
        for code in NAMES:
            array = COUNTS.astype(code)
            big = {"name": "bytes", "configuration": {"endian": "big"}}
            self.store(f"{code}.zarr", array.astype(">" + code), (4, 9, 30), codecs=[big],
                       fill_value=False if code == "b1" else 0)
            found = self.json("reduce", f"{code}.zarr")["result"]
            np.save(self.path("same.npy"), array)
            self.assertEqual(found, self.json("reduce", "same.npy")["result"], code)

    @unittest.skipUnless(find_library("deflate"), "libdeflate is not here")
    def test_gzip(self):
        self.store("z.zarr", FIELD, (64, 50), gzip, codecs=[*BYTES, {"name": "gzip"}])
        self.check_same("z.zarr", FIELD)

    def test_all_commands_take_an_array(self):
        self.group("s.zarr")
        self.store("s.zarr/field", FIELD, (64, 50))
        self.succeed("convert", "s.zarr::field", "-o", "f.npy", "--to", "f8")
        self.assertTrue(np.array_equal(np.load(self.path("f.npy")), FIELD.astype("f8")))
        np.save(self.path("b.npy"), np.ones((170, 2), "f4"))
        self.succeed("matmul", "s.zarr::field", "b.npy", "-o", "c.npy")
        self.assertTrue(np.allclose(np.load(self.path("c.npy"))[:, 0], FIELD.sum(axis=1),
                                    atol=1e-3))
        for shard in ("0/2", "1/2"):
            self.succeed("reduce", "s.zarr::field", "--shard", shard, "-o", shard[0] + ".part")
        merged = self.json("merge", "0.part", "1.part")["result"]
        self.assertEqual(merged, self.json("reduce", "s.zarr::field")["result"])
        self.check_error(2, "convert", "s.zarr::field", "-o", "s.zarr/field/c/0/0", "--to", "f8",
                         "--force")

    def test_info_lists_the_arrays(self):
        self.group("s.zarr")
        self.group("s.zarr/sub")
        self.store("s.zarr/sub/field", FIELD, (64, 50))
        self.store("s.zarr/lzma", FIELD, (300, 170), codecs=[*BYTES, {"name": "numcodecs.lzma"}])
        document = self.json("info", "s.zarr")
        self.assertEqual(document["input"]["format"], "zarr")
        arrays = {array["name"]: array for array in document["result"]["arrays"]}
        self.assertEqual(list(arrays), ["lzma", "sub/field"])
        self.assertEqual(arrays["sub/field"]["shape"], [300, 170])
        self.assertEqual(arrays["sub/field"]["bytes"], FIELD.nbytes)
        self.assertEqual(arrays["lzma"]["why_not"], "holds chunks encoded by 'numcodecs.lzma'")
        text = self.succeed("info", "s.zarr").stdout
        for words in ("Zarr, 2 arrays", "FILE::NAME", "300 x 170",
                      "lzma: not read, chunks encoded by 'numcodecs.lzma'"):
            self.assertIn(words, text)
        self.assertEqual(self.json("info", "s.zarr::sub/field")["input"]["array"], "sub/field")

    def test_which_array(self):
        self.group("s.zarr")
        self.store("s.zarr/field", FIELD, (64, 50))
        self.store2("s.zarr/delta", FIELD, (300, 170), filters=[{"id": "delta"}])
        self.check_error(2, "reduce", "s.zarr")
        self.check_error(2, "reduce", "s.zarr::fiel")
        self.check_error(2, "reduce", "s.zarr::../s.zarr/field")
        self.check_error(3, "reduce", "s.zarr::delta")
        self.check_error(3, "reduce", "s.zarr::field", "--dtype", "f8")
        self.check_error(2, "reduce", "s.zarr::field", "--offset", 8)

    def test_damaged_stores(self):
        self.store("a.zarr", FIELD, (64, 50))
        chunk = self.directory / "a.zarr/c/1/2"
        good = chunk.read_bytes()
        chunk.write_bytes(good[1:])
        self.check_error(3, "reduce", "a.zarr")
        chunk.write_bytes(b"")
        self.check_error(3, "reduce", "a.zarr")
        chunk.unlink()
        os.symlink("../0/0", chunk)
        self.check_error(3, "reduce", "a.zarr")
        self.store("crc.zarr", FIELD, (300, 170), lambda data: data + b"sum?",
                   codecs=[*BYTES, {"name": "crc32c"}])
        self.check_error(3, "reduce", "crc.zarr")
        self.store("header.zarr", FIELD, (300, 170), shape=[300, -1])
        self.check_error(3, "reduce", "header.zarr")
        (self.directory / "empty.zarr").mkdir()
        self.check_error(3, "reduce", "empty.zarr")
        (self.directory / "empty.zarr/.zgroup").write_text('{"zarr_format": 2}')
        self.check_error(3, "reduce", "empty.zarr")
        (self.directory / "empty.zarr/.zarray").write_text('{"zarr_format": 2}')
        self.check_error(3, "reduce", "empty.zarr")

    def test_a_stream_is_no_store(self):
        self.check_error(2, "reduce", "-", "--input-format", "zarr", stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
