#!/usr/bin/env python3
"""Tests .npy files in Fortran order: reduce and histogram give what NumPy gives, which counts
places in row-major order."""

import numpy as np
from cli_support import CliTest, main

RANDOM = np.random.default_rng(47)
PLACES = ("argmin", "argmax")
SHAPES = [(3, 5), (2, 70_000), (70_000, 2), (300, 7, 101), (2, 3, 5, 7), (1, 5, 1, 9)]


def values(shape, code):
    """Returns an array in Fortran order, in which many elements are equal."""
    return np.asfortranarray(RANDOM.integers(0, 50, shape).astype(code))


class FortranOrderTest(CliTest):
    def save(self, array, name="x.npy"):
        np.save(self.path(name), array)
        return name

    def expect(self, found, array):
        self.assertEqual([found[key] for key in ("count", "min", "max", "sum", *PLACES)],
                         [array.size, array.min(), array.max(), array.sum(dtype="i8"),
                          array.argmin(), array.argmax()])

    def test_statistics_are_those_of_numpy(self):
        for shape in SHAPES:
            for code in ("u1", ">i2", "i8", "f2", "<f4", ">f8"):
                with self.subTest(shape=shape, code=code):
                    array = values(shape, code)
                    self.save(array)
                    found = self.json("reduce", "x.npy", "--verify")
                    self.assertEqual(found["input"]["shape"], list(shape))
                    self.assertIs(found["result"]["verified"], True)
                    self.expect(found["result"], array)

    def test_extremes_that_are_equal(self):
        """The first one by rows is not the first one in the file."""
        array = np.zeros((1000, 1000), "f4", order="F")
        array[3, 900] = array[700, 2] = 5
        array[10, 10] = -0.0
        array[1, 998] = array[999, 0] = -5
        self.save(array)
        self.expect(self.json("reduce", "x.npy")["result"], array)
        array[5, 999] = array[600, 0] = np.nan
        self.save(array)
        found = self.json("reduce", "x.npy")["result"]
        self.assertEqual([found[key] for key in PLACES], [5999, 5999])
        found = self.json("reduce", "x.npy", "--nan", "omit")["result"]
        self.assertEqual([found[key] for key in PLACES], [1998, 3900])

    def test_files_one_after_another(self):
        arrays = [values((300, 500), "i2"), np.arange(7, dtype="i2"), values((40, 5, 6), "i2"),
                  values((9, 9), "i2").copy(order="C")]
        names = [self.save(array, f"{i}.npy") for i, array in enumerate(arrays)]
        whole = np.concatenate([array.ravel() for array in arrays])
        self.expect(self.json("reduce", *names, "--verify")["result"], whole)

    def test_the_same_however_it_runs(self):
        array = values((999, 1001), "f4")
        self.save(array)
        wanted = self.json("reduce", "x.npy")["result"]
        self.expect(wanted, array)
        for words in (["--chunk", "256K"], ["--streams", "1"], ["--streams", "5", "--threads", "3"],
                      ["--device", "cpu"], ["--resume", self.path("job.ckpt")]):
            self.assertEqual(self.json("reduce", "x.npy", *words)["result"], wanted, words)
        for i in range(3):
            self.succeed("reduce", "x.npy", "--shard", f"{i}/3", "-o", f"{i}.part")
        self.assertEqual(self.json("merge", "2.part", "0.part", "1.part")["result"], wanted)

    def test_counts_are_those_of_numpy(self):
        array = values((300, 7, 101), "f8")
        self.save(array)
        counts, edges = np.histogram(array, 20)
        found = self.json("histogram", "x.npy", "--bins", 20, "--verify")["result"]
        self.assertEqual((found["counts"], found["edges"]), (counts.tolist(), edges.tolist()))
        both = self.json("reduce", "x.npy", "--histogram", 20, "--verify")["result"]
        self.assertEqual(both["histogram"]["counts"], counts.tolist())
        self.expect(both, array)

    def test_without_an_order(self):
        """Arrays of at most one length above 1, and none at all, are as others."""
        for array in (np.array(7.5), np.arange(5.0), np.ones((1, 9, 1)), np.ones((3, 0, 5))):
            self.save(np.asfortranarray(array))
            self.assertEqual(self.json("reduce", "x.npy")["result"]["count"], array.size)

    def test_a_part_is_refused(self):
        """The first elements of the file are not the first ones of the array."""
        self.save(values((30, 40), "f4"))
        for command in ("reduce", "histogram"):
            self.check_error(2, command, "x.npy", "--count", 10)
            self.check_error(2, command, "x.npy", "--skip", 1)
            self.json(command, "x.npy", "--count", 1200)

    def test_other_commands_refuse_it(self):
        self.save(values((30, 40), "f4"))
        self.check_error(3, "convert", "x.npy", "-o", "y.npy")
        self.check_error(3, "matmul", "x.npy", "x.npy", "-o", "y.npy")


if __name__ == "__main__":
    main()
