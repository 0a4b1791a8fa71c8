#!/usr/bin/env python3
"""Tests slices behind the names of files and arrays."""

import numpy as np
from cli_support import CliTest, main

MATRIX = np.random.default_rng(12).normal(size=(1000, 30)).astype("f4")
COLUMNS = ("[:, 3]", "[..., -1]", "[5:900, 0]", "[::2, 7]", "[:, 29:30]", "[3, ::4]")
SLICES = ("[2:5]", "[:]", "[-3:]", "[7]", "[-1, 3:9]", "[10:11, 3:9]", "[5:5]", "[900:2000, :]")


class SlicesTest(CliTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("m.npy"), MATRIX)

    def check_slice(self, name, part):
        np.save(self.path("part.npy"), part)
        self.assertEqual(self.json("reduce", name)["result"],
                         self.json("reduce", "part.npy")["result"], name)
        self.assertEqual(self.json("info", name)["input"]["shape"], list(part.shape), name)

    def test_slices_are_those_of_numpy(self):
        for text in SLICES:
            part = np.ascontiguousarray(eval(f"MATRIX{text}"))
            self.check_slice("m.npy" + text, part)
            self.check_slice("m.npy::" + text, part)
        for text in COLUMNS:
            self.check_slice("m.npy" + text, np.ascontiguousarray(eval(f"MATRIX{text}")))
        np.savez(self.path("m.npz"), MATRIX=MATRIX)
        self.check_slice("m.npz::MATRIX[:, 4]", MATRIX[:, 4].copy())
        self.check_slice("m.npz::MATRIX[3:99]", MATRIX[3:99])

    def test_slices_of_raw_files(self):
        MATRIX.tofile(self.path("m.f32"))
        flat = MATRIX.ravel()
        self.check_slice("m.f32[100:-100]", flat[100:-100])
        document = self.json("reduce", "m.f32[100:]", "m.f32[:50]", "m.f32", "--skip", 3,
                             "--count", 40_000)
        parts = np.concatenate([flat[100:], flat[:50], flat])[3:40_003]
        self.assertEqual(document["result"]["count"], 40_000)
        self.assertEqual(document["result"]["max"], float(parts.max()))
        self.assertEqual(document["result"]["argmax"], int(parts.argmax()))

    def test_columns_of_many_types(self):
        for code in (">f8", "u1", "i2", "f2", "?"):
            cube = (MATRIX[:900] * 20).reshape(30, 30, 30).astype(code)
            np.save(self.path("x.npy"), cube)
            self.check_slice("x.npy[..., 2]", cube[..., 2].copy())
            self.succeed("reduce", "x.npy[:, 5, 1]", "--verify")
            found = self.json("reduce", "x.npy[..., 2]", "--axis", "0")["result"]["columns"]
            wide = cube[..., 2].astype("f8")
            self.assertEqual([column["max"] for column in found], wide.max(axis=0).tolist())
        self.succeed("convert", "x.npy[:, 3, 1]", "-o", "c.npy", "--to", "u1")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), cube[:, 3, 1].astype("u1"))

    def test_commands_take_slices(self):
        self.succeed("convert", "m.npy[10:20]", "-o", "c.npy", "--to", "f8")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), MATRIX[10:20].astype("f8"))
        self.succeed("matmul", "m.npy[0:30]", "m.npy[30:60]", "-o", "p.npy", "--verify")
        np.testing.assert_allclose(np.load(self.path("p.npy")), MATRIX[:30] @ MATRIX[30:60],
                                   rtol=1e-4, atol=1e-4)
        counts = self.json("histogram", "m.npy[:500]", "--range", "-4:4")["result"]["counts"]
        self.assertEqual(counts, np.histogram(MATRIX[:500].astype("f8"), 256, (-4, 4))[0].tolist())
        self.check_error(2, "convert", "m.npy[1:2]", "-o", "m.npy", "--to", "f8", "--force")

    def test_parts_of_different_slices_do_not_merge(self):
        big = np.arange(300_000, dtype="i4")
        np.save(self.path("big.npy"), big)
        for index, text in ((0, "[0:200000]"), (1, "[0:200000]"), (2, "[1:200001]")):
            self.succeed("reduce", "big.npy" + text, "--shard",
                         f"{min(index, 1)}/2", "-o", f"{index}.part")
        self.assertEqual(self.json("merge", "0.part", "1.part")["result"]["sum"],
                         int(big[:200_000].sum()))
        self.check_error(2, "merge", "0.part", "2.part")

    def test_refusals(self):
        for text in ("[:, 1:3]", "[::-1]", "[", "[x]", "[]", "[1000]", "[0, 0, 0]"):
            self.check_error(4 if text == "[" else 3 if text in ("[1000]", "[0, 0, 0]") else 2,
                             "reduce", "m.npy" + text)
        self.check_error(4, "reduce", "absent.npy[1:2]")
        np.save(self.path("f.npy"), np.asfortranarray(MATRIX))
        self.check_error(2, "reduce", "f.npy[1:2]")


if __name__ == "__main__":
    main()
