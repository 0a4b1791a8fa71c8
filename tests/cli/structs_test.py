#!/usr/bin/env python3
"""Tests files of structs: their fields are those that NumPy sees, and each refusal has a hint that
works."""

import re
import subprocess
import unittest

import numpy as np
from cli_support import CliTest, main

PACKED = np.dtype([("id", "<u4"), ("x", "<f4"), ("kind", ">i2"), ("v", "<f8", (3,))])
TYPES = [
    PACKED,
    np.dtype(PACKED.descr, align=True),
    PACKED.newbyteorder(),
    np.dtype([("flag", "?"), ("a b", "f2"), ("it's", "u1", (2, 3)), ('"', "i8", (1,))]),
    np.dtype({"names": ["early", "late"], "formats": [">u8", "<f4"], "offsets": [3, 20],
              "itemsize": 31}),
]


def fields_of(code):
    """Returns the offset of each field of "{x:<f4,:V2,v:<f4[3]}", its type and its length, and the
    size of all."""
    fields, offset = {}, 0
    for name, kind, count in re.findall(r"([^,{]*):([^,\[}]+)(?:\[(\d+)\])?", code):
        element = np.dtype(kind)
        if name:
            fields[name] = (offset, element.str, int(count or 1))
        offset += element.itemsize * int(count or 1)
    return fields, offset


def fields_of_numpy(dtype):
    fields = {}
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        element = field.base.str.replace("|b1", "|u1")
        fields[name] = (offset, element, int(np.prod(field.shape, dtype=int)))
    return fields, dtype.itemsize


class StructsTest(CliTest):
    def save(self, dtype, length=100):
        array = np.zeros(length, dtype)
        for name in dtype.names:
            array[name] = (np.arange(length) % 50).reshape(length, *[1] * (array[name].ndim - 1))
        np.save(self.path("x.npy"), array)
        return array

    def test_reads_one_field_by_its_name(self):
        for dtype in TYPES:
            array = self.save(dtype)
            for name in dtype.names:
                if np.prod(dtype[name].shape, dtype=int) != 1:
                    self.check_error(2, "reduce", f"x.npy::{name}")
                    continue
                np.save(self.path("field.npy"), np.ascontiguousarray(array[name]))
                expected = self.json("reduce", "field.npy")["result"]
                self.assertEqual(self.json("reduce", f"x.npy::{name}")["result"], expected)
                self.succeed("reduce", f"x.npy::{name}[5:50:3]", "--verify")
                np.save(self.path("field.npy"), np.ascontiguousarray(array[name][5:50:3]))
                self.assertEqual(self.json("reduce", f"x.npy::{name}[5:50:3]")["result"],
                                 self.json("reduce", "field.npy")["result"])
        self.check_error(3, "reduce", "x.npy::absent")
        array = self.save(PACKED)
        self.write("x.bin", array)
        code = "{id:<u4,x:<f4,kind:>i2,v:<f8[3]}"
        self.assertEqual(self.json("reduce", "x.bin::kind", "--dtype", code)["result"]["sum"],
                         int(array["kind"].sum()))

    def test_fields_are_those_of_numpy(self):
        for dtype in TYPES:
            with self.subTest(dtype):
                self.save(dtype)
                found = self.json("info", "x.npy")
                self.assertEqual(fields_of(found["input"]["dtype"]), fields_of_numpy(dtype))
                self.assertEqual(found["input"]["count"], 100)
                self.assertEqual(found["result"]["element_bytes"], dtype.itemsize)
                self.assertEqual(found["result"]["readings"], [])

    def test_byte_order_of_all_fields(self):
        for codes, order in (("f4 u1", "little"), (">f4 u1 >i2", "big"), ("<f4 >i2", "mixed"),
                             ("u1 i1", "none")):
            with self.subTest(codes):
                self.save(np.dtype([(f"f{i}", code) for i, code in enumerate(codes.split())]))
                self.assertEqual(self.json("info", "x.npy")["result"]["byte_order"], order)

    def test_info_in_words(self):
        self.save(TYPES[1])
        text = " ".join(self.succeed("info", "x.npy").stdout.split())
        self.assertIn("100 structs {id:<u4,x:<f4,kind:>i2,:V6", text)
        self.assertIn("struct of 40 bytes", text)
        self.assertIn("say how to save one field", text)

    def follow(self, hint):
        """Runs the Python of a hint, after the words that say what it does."""
        code = re.sub(r"^[a-z ]+: ", "", hint)
        subprocess.run(["/usr/bin/python3", "-c", "import numpy\n"
                        f"array = numpy.load('x.npy', allow_pickle=True)\n{code}"],
                       cwd=self.directory, check=True)

    def hint_of(self, code, *words):
        run = self.check_error(code, *words)
        return re.search(r"^  hint: (.*)$", run.stderr, re.M)[1]

    def test_commands_refuse_structs_and_their_hint_works(self):
        for dtype in TYPES:
            array = self.save(dtype)
            expected = float(array[dtype.names[0]].sum(dtype=float))
            for command in (["reduce"], ["histogram"], ["convert", "-o", "y.f4", "--to", "f4"],
                            ["reduce", "--explain"]):
                with self.subTest(dtype, command=command):
                    hint = self.hint_of(3, command[0], "x.npy", *command[1:])
            field = hint.removeprefix("read one of its fields: ")
            self.assertEqual(self.json("reduce", field)["result"]["sum"], expected)

    def test_raw_files(self):
        for dtype, code in ((PACKED, "{id:u4,x:f4,kind:>i2,v:f8[3]}"),
                            (TYPES[1], "{id:u4, x:f4, kind:>i2, :V6, v:f8[3]}")):
            array = self.save(dtype)
            self.write("x.bin", b"123" + array.tobytes())
            words = ("x.bin", "--dtype", code, "--offset", 3)
            with self.subTest(code):
                found = self.json("info", *words)
                self.assertEqual(fields_of(found["input"]["dtype"]), fields_of_numpy(dtype))
                self.assertEqual(found["input"]["count"], 100)
                field = self.hint_of(3, "reduce", *words).removeprefix("read one of its fields: ")
                self.assertEqual(self.json("reduce", field, *words[1:])["result"]["sum"],
                                 int(array["id"].sum()))

    def test_fields_that_are_not_read(self):
        nested = np.dtype([("a", "<f4"), ("b", [("c", "<i4"), ("d", "<f8")])], align=True)
        titled = np.dtype([(("a title", "a"), "<i4"), ("b", "<f8")], align=True)
        objects = np.dtype([("a", "O"), ("x", "<f4")])
        for dtype, made in ((nested, "flat.npy"), (titled, "plain.npy"), (objects, "fields.npy")):
            with self.subTest(dtype):
                np.save(self.path("x.npy"), np.zeros(7, dtype), allow_pickle=True)
                self.follow(self.hint_of(3, "info", "x.npy"))
                self.assertEqual(self.json("info", made)["input"]["count"], 7)

    def test_a_type_that_is_not_understood(self):
        for code in ("{x:f4,y:f3}", "{x:f4", "{x:f4,x:f4}"):
            with self.subTest(code):
                self.check_error(2, "info", self.write("x.bin", bytes(8)), "--dtype", code)

    def test_outputs_and_standard_input_take_elements(self):
        self.check_error(2, "gen", "-o", "x.bin", "--dtype", "{x:f4}", "--count", 3)
        self.check_error(2, "convert", self.write("x.f32", bytes(8)), "-o", "y.bin", "--to",
                         "{x:f4}")
        self.check_error(2, "reduce", "-", "--dtype", "{x:f4}", stdin=subprocess.DEVNULL)
        for name in "ab":
            np.save(self.path(f"{name}.npy"), np.zeros((3, 3), [("x", "<f4")]))
        self.check_error(3, "matmul", "a.npy", "b.npy", "-o", "c.npy")


if __name__ == "__main__":
    main()
