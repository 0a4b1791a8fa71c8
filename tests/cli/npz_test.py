#!/usr/bin/env python3
"""Tests .npz files that NumPy wrote: what info lists, and arrays that are selected by their
names."""

import io
import os
import zipfile

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(11)
ARRAYS = {"weights": RANDOM.normal(size=(300, 40)).astype("f4"),
          "big endian": RANDOM.integers(-9, 9, 1000).astype(">i2"),
          "half": RANDOM.normal(size=77).astype("f2"), "none": np.zeros((0, 3)),
          "one": np.array(5, "u8"), "mask": np.array([True, False, True]),
          "columns": np.asfortranarray(RANDOM.normal(size=(30, 20)))}


class NpzTest(CliTest):
    def save(self, name="a.npz", **arrays):
        np.savez(self.path(name), **(arrays or ARRAYS))

    def test_info_lists_the_arrays(self):
        self.save()
        document = self.json("info", "a.npz")
        self.assertEqual(document["input"]["format"], "npz")
        self.assertEqual([(each["name"], each["shape"]) for each in document["result"]["arrays"]],
                         [(name, list(array.shape)) for name, array in ARRAYS.items()])
        text = self.succeed("info", "a.npz").stdout
        for words in (".npz, 7 arrays", "300 x 40", "big endian"):
            self.assertIn(words, text)
        np.savez_compressed(self.path("z.npz"), **ARRAYS)
        self.assertIn("compressed numbers", self.succeed("info", "z.npz").stdout)

    def test_results_are_those_of_a_npy_file(self):
        self.save()
        for name, array in ARRAYS.items():
            np.save(self.path("same.npy"), array)
            selected = self.json("reduce", f"a.npz::{name}", "--checksum")
            same = self.json("reduce", "same.npy", "--checksum")
            self.assertEqual(selected["result"], same["result"], name)
        self.save(x=ARRAYS["weights"])
        self.assertEqual(self.json("info", "a.npz")["input"]["shape"], [300, 40])
        self.succeed("convert", "a.npz", "-o", "x.npy", "--to", "f8")
        np.testing.assert_array_equal(np.load(self.path("x.npy")), ARRAYS["weights"].astype("f8"))

    def test_archives_of_other_programs(self):
        content = io.BytesIO()
        np.save(content, ARRAYS["half"])
        with zipfile.ZipFile(self.path("stream.npz"), "w") as archive:
            archive.comment = b"made by another program"
            archive.writestr("folder/half.npy", content.getvalue())
            archive.writestr("notes.txt", "hello", zipfile.ZIP_DEFLATED)
        np.save(self.path("same.npy"), ARRAYS["half"])
        self.assertEqual(self.json("reduce", "stream.npz::folder/half")["result"],
                         self.json("reduce", "same.npy")["result"])
        with open(self.path("pipe.npz"), "wb") as file:  # sizes are behind the members
            with zipfile.ZipFile(Unseekable(file), "w") as archive:
                archive.writestr("half.npy", content.getvalue())
        self.assertEqual(self.json("reduce", "pipe.npz")["result"],
                         self.json("reduce", "same.npy")["result"])

    def test_refusals(self):
        self.save()
        np.savez_compressed(self.path("z.npz"), x=ARRAYS["half"])
        self.check_error(2, "reduce", "a.npz")
        self.check_error(2, "reduce", "a.npz::weight")
        self.check_error(3, "reduce", "z.npz")
        self.check_error(3, "histogram", "a.npz::half", "--dtype", "f4")
        self.check_error(3, "convert", "a.npz::columns", "-o", "x.npy", "--to", "f4")
        self.check_error(2, "convert", "a.npz::half", "-o", "a.npz", "--to", "f8", "--force")
        with open(self.path("a.npz"), "rb") as file:
            self.check_error(2, "reduce", "-", stdin=file)
            file.seek(0)
            archive = file.read()
        self.write("cut.npz", archive[:-1])
        self.check_error(3, "reduce", "cut.npz::half")
        structs = np.zeros(3, [("x", "<f4"), ("y", "<i4")])
        self.save("s.npz", structs=structs)
        self.check_error(3, "reduce", "s.npz")

    def test_shards_of_different_arrays_do_not_merge(self):
        self.save(a=np.arange(100_000, dtype="i4"), b=np.arange(100_000, dtype="i4"))
        for index, name in enumerate("ab"):
            self.succeed("reduce", f"a.npz::{name}", "--shard", f"{index}/2", "-o", f"{index}.part")
        self.check_error(2, "merge", "0.part", "1.part")


class Unseekable:
    """A file that can only be written to from beginning to end, as a pipe."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


if __name__ == "__main__":
    main()
