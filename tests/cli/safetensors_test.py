#!/usr/bin/env python3
"""Tests safetensors files: what info lists, and arrays that are selected by their names."""

import json
import os
import struct

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(7)
CODES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
         "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1"}
DTYPES = {code: name for name, code in CODES.items()}


def file_of(arrays, metadata=None):
    """Returns a safetensors file. `arrays`: pairs of a type and bytes, or NumPy's arrays."""
    header, data = {} if metadata is None else {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        code, shape, content = array if isinstance(array, tuple) else (
            DTYPES[array.dtype.str], list(array.shape), array.tobytes())
        header[name] = {"dtype": code, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


WEIGHT = RANDOM.normal(size=(512, 96)).astype("f4")
BIAS = np.arange(-5, 5, dtype="i8")
MODEL = {"layer.0/weight": WEIGHT, "bias": BIAS, "scale": ("F8_E4M3", [2, 3], bytes(6)),
         "mask": ("BOOL", [4], bytes([0, 1, 1, 0])), "none": np.zeros((0, 4), "u2"),
         "half": ("BF16", [2], bytes([0x80, 0x3f, 0, 0x40]))}


class SafetensorsTest(CliTest):
    def test_info_lists_the_arrays(self):
        self.write("m.safetensors", file_of(MODEL, {"format": "np"}))
        document = self.json("info", "m.safetensors")
        self.assertEqual(document["input"]["format"], "safetensors")
        self.assertEqual(document["result"]["readings"], [])
        arrays = {array["name"]: array for array in document["result"]["arrays"]}
        self.assertEqual(list(arrays), list(MODEL))
        self.assertEqual(arrays["layer.0/weight"]["dtype"], "<f4")
        self.assertEqual(arrays["layer.0/weight"]["shape"], [512, 96])
        self.assertEqual(arrays["bias"]["bytes"], 80)
        self.assertEqual(arrays["bias"]["offset"] - arrays["layer.0/weight"]["offset"],
                         WEIGHT.nbytes)
        self.assertEqual(arrays["scale"]["dtype"], None)
        self.assertEqual(arrays["scale"]["why_not"], "holds F8_E4M3 numbers")
        text = self.succeed("info", "m.safetensors").stdout
        for words in ("safetensors, 6 arrays", "FILE::NAME", "512 x 96", "layer.0/weight",
                      "scale: not read, F8_E4M3 numbers", "bool"):
            self.assertIn(words, text)

    def test_no_output_replaces_the_file(self):
        self.write("m.safetensors", file_of(MODEL))
        before = (self.directory / "m.safetensors").read_bytes()
        for words in (["--trace", "m.safetensors"], ["--shard", "0/2", "-o", "m.safetensors"]):
            self.check_error(2, "reduce", "m.safetensors::bias", *words, "--force")
        self.check_error(2, "convert", "m.safetensors::bias", "-o", "m.safetensors", "--to", "f8",
                         "--force")
        self.assertEqual((self.directory / "m.safetensors").read_bytes(), before)

    def test_names_may_have_colons(self):
        self.write("m.safetensors", file_of({"a::b": BIAS, "c": BIAS + 1}))
        self.write("n::c.i64", BIAS)
        self.assertEqual(self.json("reduce", "m.safetensors::a::b")["result"]["sum"],
                         int(BIAS.sum()))
        self.assertEqual(self.json("reduce", "n::c.i64")["result"]["sum"], int(BIAS.sum()))
        self.check_error(4, "reduce", "n::c.i64::")
        self.check_error(2, "reduce", "m.safetensors::c", "--offset", "8")

    def test_other_files_that_begin_like_it(self):
        text = b'{"x": 1}'
        self.write("log.bin", (struct.pack("<Q", len(text)) + text) * 100)
        self.check_error(3, "reduce", "log.bin", "--dtype", "u1")
        self.succeed("reduce", "log.bin", "--dtype", "u1", "--input-format", "raw")
        self.write("none.safetensors", file_of({}))
        self.check_error(3, "reduce", "none.safetensors")

    def test_shards_are_of_one_array(self):
        pair = {"a": RANDOM.normal(size=200_000).astype("f4"), "b": np.ones(200_000, "f4")}
        self.write("m.safetensors", file_of(pair))
        for name, index in (("a", 0), ("a", 1), ("b", 1)):
            self.succeed("reduce", f"m.safetensors::{name}", "--shard", f"{index}/2", "-o",
                         f"{name}{index}.part")
        merged = self.json("merge", "a0.part", "a1.part")["result"]
        self.assertEqual(merged, self.json("reduce", "m.safetensors::a")["result"])
        self.check_error(2, "merge", "a0.part", "b1.part")
        np.save(self.path("first.npy"), pair["a"])
        for name, index in (("a", 0), ("b", 1)):
            self.succeed("reduce", "first.npy", f"m.safetensors::{name}", "--shard", f"{index}/2",
                         "-o", f"m{name}.part")
        self.check_error(2, "merge", "ma.part", "mb.part")

    def test_an_array_is_read_like_that_of_a_npy_file(self):
        self.write("m.safetensors", file_of(MODEL))
        np.save(self.path("w.npy"), WEIGHT)
        for command in (("reduce",), ("histogram", "--bins", 9)):
            found, expected = (self.json(*command, name) for name in
                               ("m.safetensors::layer.0/weight", "w.npy"))
            self.assertEqual(found["result"], expected["result"])
            self.assertEqual(found["input"]["shape"], [512, 96])
            self.assertEqual(found["input"]["array"], "layer.0/weight")
            self.assertNotIn("array", expected["input"])
        info = self.json("info", "m.safetensors::layer.0/weight")
        self.assertEqual(info["input"]["dtype"], "<f4")
        self.assertEqual(len(info["result"]["readings"]), 2)
        self.assertEqual(len(info["result"]["arrays"]), 6)

    def test_all_commands_take_a_selector(self):
        self.write("m.safetensors", file_of(MODEL))
        for name, total in (("bias", -5), ("mask", 2), ("half", 3), ("none", 0)):
            self.assertEqual(self.json("reduce", f"m.safetensors::{name}")["result"]["sum"], total)
        self.succeed("convert", "m.safetensors::layer.0/weight", "-o", "w.npy", "--to", "f8")
        self.assertTrue(np.array_equal(np.load(self.path("w.npy")), WEIGHT.astype("f8")))
        np.save(self.path("b.npy"), np.ones((96, 2), "f4"))
        self.succeed("matmul", "m.safetensors::layer.0/weight", "b.npy", "-o", "c.npy")
        self.assertTrue(np.allclose(np.load(self.path("c.npy")), WEIGHT @ np.ones((96, 2), "f4"),
                                    atol=1e-3))
        twice = self.json("reduce", "m.safetensors::bias", "m.safetensors::bias", "--skip", 10)
        self.assertEqual(twice["result"]["sum"], -5)
        for shard in ("0/2", "1/2"):
            self.succeed("reduce", "m.safetensors::layer.0/weight", "--shard", shard,
                         "-o", shard[0] + ".part")
        self.assertEqual(self.json("merge", "0.part", "1.part")["result"]["count"], WEIGHT.size)

    def test_which_array(self):
        self.write("m.safetensors", file_of(MODEL))
        self.check_error(2, "reduce", "m.safetensors")
        self.check_error(2, "reduce", "m.safetensors::weight")
        self.check_error(2, "reduce", "m.safetensors::layer0/weight")
        self.check_error(3, "reduce", "m.safetensors::scale")
        self.check_error(3, "reduce", "m.safetensors::bias", "--dtype", "f4")
        self.check_error(4, "reduce", "absent.safetensors::bias")
        self.write("plain.f4", WEIGHT)
        self.check_error(2, "reduce", "plain.f4::bias")

    def test_the_only_array(self):
        self.write("one.safetensors", file_of({"x": BIAS}))
        self.assertEqual(self.json("reduce", "one.safetensors")["result"]["sum"], -5)
        with open(self.path("one.safetensors"), "rb") as file:
            result = self.succeed("reduce", "-", "--json", stdin=file)
        self.assertEqual(json.loads(result.stdout)["result"]["sum"], -5)
        os.rename(self.path("one.safetensors"), self.path("one::x"))
        self.assertEqual(self.json("reduce", "one::x")["result"]["sum"], -5)
        raw = self.json("reduce", "one::x", "--input-format", "raw", "--dtype", "u1")
        self.assertEqual(raw["input"]["format"], "raw")
        self.assertEqual(self.json("reduce", "one::x", "--input-format", "safetensors")["result"]
                         ["count"], 10)

    def test_names_cannot_move_the_cursor(self):
        self.write("m.safetensors", file_of({"a\x1b[2J\n": BIAS, "b": BIAS}))
        self.assertIn("a\\x1b[2J\\n", self.succeed("info", "m.safetensors").stdout)
        self.assertIn("a\\x1b[2J\\n", self.run_program("reduce", "m.safetensors").stderr)

    def test_damaged_files(self):
        whole = file_of({"x": BIAS, "y": BIAS})
        for what, data in (("cut", whole[:-1]), ("long", whole + b"x"), ("header", whole[:50]),
                           ("overlap", whole.replace(b"[80, 160]", b"[79, 159]")),
                           ("text", whole.replace(b'"shape"', b'"Shape"')),
                           ("empty", b"")):
            with self.subTest(what):
                self.write(f"{what}.safetensors", data)
                self.check_error(3, "reduce", f"{what}.safetensors")


if __name__ == "__main__":
    main()
