#!/usr/bin/env python3
"""Tests .npy files of bool with other bytes than 0 and 1: each of them is 1, as in NumPy."""

import numpy as np
from cli_support import CliTest, main

# All bytes, in no order, over more than one chunk.
BYTES = np.random.default_rng(3).permutation(np.arange(600_000) % 256).astype("u1")
TRUE = (BYTES != 0).astype("u1")


class BoolsTest(CliTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("x.npy"), BYTES.view(bool))

    def test_statistics(self):
        np.save(self.path("small.npy"), np.uint8([0, 1, 2, 255]).view(bool))
        found = self.json("reduce", "small.npy", "--verify")["result"]
        self.assertEqual([found[key] for key in ("sum", "max", "argmax", "mean")], [3, 1, 1, 0.75])
        found = self.json("reduce", "x.npy", "--verify", "--chunk", "256K")["result"]
        self.assertEqual([found[key] for key in ("sum", "min", "max", "argmin", "argmax")],
                         [TRUE.sum(), 0, 1, TRUE.argmin(), TRUE.argmax()])

    def test_in_fortran_order(self):
        array = np.asfortranarray(BYTES.reshape(600, 1000)).view(bool)
        np.save(self.path("x.npy"), array)
        found = self.json("reduce", "x.npy", "--verify")["result"]
        self.assertEqual((found["sum"], found["argmin"], found["argmax"]),
                         (TRUE.sum(), TRUE.argmin(), TRUE.argmax()))

    def test_counts(self):
        found = self.json("histogram", "x.npy", "--bins", 2, "--range", "0:1", "--verify")["result"]
        self.assertEqual(found["counts"], [(TRUE == 0).sum(), TRUE.sum()])
        found = self.json("reduce", "x.npy", "--histogram", 256, "--verify")["result"]
        self.assertEqual(found["histogram"]["counts"][:3], [(TRUE == 0).sum(), TRUE.sum(), 0])

    def test_conversions(self):
        for code in ("u1", "i8", "f4", ">f8"):
            result = self.json("convert", "x.npy", "-o", "y.npy", "--to", code, "--force")["result"]
            self.assertEqual(result["inexact"], 0)
            np.testing.assert_array_equal(np.load(self.path("y.npy")), TRUE.astype(code))

    def test_they_stay_bools_if_no_type_is_given(self):
        self.succeed("convert", "x.npy", "-o", "y.npy")
        found = np.load(self.path("y.npy"))
        self.assertEqual(found.dtype, bool)
        np.testing.assert_array_equal(found, TRUE.astype(bool))

    def test_the_checksum_is_that_of_the_file(self):
        self.write("x.u8", BYTES)
        found = [self.json("reduce", name, "--checksum")["input"]["checksum_xxh3_128"]
                 for name in ("x.npy", "x.u8")]
        self.assertEqual(found[0], found[1])

    def test_shards(self):
        wanted = self.json("reduce", "x.npy")["result"]
        for i in range(2):
            self.succeed("reduce", "x.npy", "--shard", f"{i}/2", "-o", f"{i}.part")
        self.assertEqual(self.json("merge", "0.part", "1.part")["result"], wanted)

    def test_beside_bytes(self):
        np.save(self.path("bytes.npy"), BYTES)
        self.check_error(3, "reduce", "x.npy", "bytes.npy")
        self.assertEqual(self.json("reduce", "bytes.npy")["result"]["max"], 255)
        self.assertEqual(self.json("reduce", "x.npy", "--dtype", "u1")["result"]["max"], 1)


if __name__ == "__main__":
    main()
