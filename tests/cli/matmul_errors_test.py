#!/usr/bin/env python3
"""Matrix products that are refused, interrupted, or fail while they run."""

import os
import signal
import time

from cli_support import CliTest, main

import numpy as np

HUGE = 4 << 40  # bytes of a sparse file
MILLION_SQUARE = "1048576x1048576"  # of f4, has this many bytes


def matrix(rows, columns, code="f4"):
    return np.arange(rows * columns).reshape(rows, columns).astype(code)


class RefusalTest(CliTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("a.npy"), matrix(4, 3))
        np.save(self.path("b.npy"), matrix(3, 5))
        os.link(self.write("a.f32", matrix(4, 3)), self.path("a.raw"))
        self.files = sorted(os.listdir(self.directory))

    def refuse_and_keep(self, code, *words, **options):
        self.check_error(code, "matmul", *words, **options)
        self.assertEqual(sorted(os.listdir(self.directory)), self.files)

    def keep(self, name, data):
        np.save(self.path(name), data)
        self.files = sorted({*self.files, name})

    def test_usage(self):
        self.refuse_and_keep(2, "-o", "c.npy")
        self.refuse_and_keep(2, "a.npy", "b.npy")
        for files in (["a.npy"], ["a.npy", "b.npy", "b.npy"]):
            self.refuse_and_keep(2, *files, "-o", "c.npy")
        for option, value in [("--shape-a", "12"), ("--shape-a", "2x2x3"), ("--shape-b", "3xK"),
                              ("--compute", "f16")]:
            self.refuse_and_keep(2, "a.f32", "b.npy", "-o", "c.npy",
                                 "--shape-a=4x3" if option != "--shape-a" else "--quiet", option,
                                 value)
        self.refuse_and_keep(2, "a.npy", "b.npy", "--count", "3")

    def test_shapes_that_do_not_fit(self):
        self.refuse_and_keep(3, "a.npy", "a.npy", "-o", "c.npy")
        self.refuse_and_keep(3, "a.npy", "b.npy", "-o", "c.npy", "--shape-a", "3x4")
        for name, data in (("v.npy", np.zeros(3, "f4")), ("cube.npy", np.zeros((3, 2, 2), "f4"))):
            self.keep(name, data)
            self.refuse_and_keep(3, "a.npy", name, "-o", "c.npy")

    def test_raw_files_of_the_wrong_size(self):
        self.refuse_and_keep(2, "a.f32", "b.npy", "-o", "c.npy")
        for shape in ("4x4", "2x3", "0x3", f"{2**33}x{2**33}"):
            self.refuse_and_keep(3, "a.f32", "b.npy", "-o", "c.npy", "--shape-a", shape)
        self.refuse_and_keep(3, "a.raw", "a.raw", "-o", "c.npy", "--dtype", "f8", "--shape-a",
                             "4x3", "--shape-b", "3x4")

    def test_types(self):
        self.keep("wide.npy", matrix(3, 5, "f8"))
        self.refuse_and_keep(3, "a.npy", "wide.npy", "-o", "c.npy")
        self.keep("whole.npy", matrix(3, 5, "i4"))
        self.refuse_and_keep(3, "a.npy", "whole.npy", "-o", "c.npy")
        self.refuse_and_keep(2, "a.npy", "b.npy", "-o", "c.f64")

    def test_files_that_are_cut_off(self):
        with open(self.path("a.npy"), "rb+") as file:
            file.truncate(os.path.getsize(self.path("a.npy")) - 4)
        self.refuse_and_keep(3, "a.npy", "b.npy", "-o", "c.npy")
        self.refuse_and_keep(4, "missing.npy", "b.npy", "-o", "c.npy")

    def test_too_little_memory(self):
        self.refuse_and_keep(7, "a.npy", "b.npy", "-o", "c.npy", "--device", "cpu", "--memory",
                             "8K")
        pools = 4 * 3 * 4096  # two slots of three pages in each of two pools
        self.refuse_and_keep(7, "a.npy", "b.npy", "-o", "c.npy", "--device", "cpu", "--memory",
                             pools)

    def test_outputs(self):
        self.write("c.npy", b"precious")
        self.files = sorted({*self.files, "c.npy"})
        self.refuse_and_keep(6, "a.npy", "b.npy", "-o", "c.npy")
        self.refuse_and_keep(2, "a.npy", "b.npy", "-o", "b.npy", "--force")
        self.refuse_and_keep(6, "a.npy", "b.npy", "-o", "missing/c.npy")
        self.refuse_and_keep(6, "a.npy", "b.npy", "-o", ".", "--force")
        with open(self.path("c.npy"), "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def test_no_room(self):
        with open(self.path("huge.f32"), "wb") as file:
            file.truncate(HUGE)
        self.files = sorted({*self.files, "huge.f32"})
        self.refuse(6, r"c.f32: .*\((ENOSPC|EFBIG)\)", "matmul", "huge.f32", "huge.f32", "-o",
                    "c.f32", "--shape-a", MILLION_SQUARE, "--shape-b", MILLION_SQUARE)
        self.assertEqual(sorted(os.listdir(self.directory)), self.files)


class StoppedTest(CliTest):
    """Products that would take minutes, but are interrupted or lose their input."""

    def setUp(self):
        super().setUp()
        for name in ("a.f32", "b.f32"):
            with open(self.path(name), "wb") as file:
                file.truncate(4 << 30)
        self.write("c.npy", b"precious")

    def multiply_for_minutes(self):
        process, _ = self.at_work("matmul", "a.f32", "b.f32", "-o", "c.npy", "--force", "--shape-a",
                                  "16384x65536", "--shape-b", "65536x16384", "--memory", "256M",
                                  "--device", "cpu")
        return process

    def check_that_all_is_as_it_was(self):
        with open(self.path("c.npy"), "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertEqual(sorted(os.listdir(self.directory)), ["a.f32", "b.f32", "c.npy"])

    def test_interrupted(self):
        process = self.multiply_for_minutes()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual((process.returncode, stdout), (130, ""), stderr)
        self.assertIn("ooc-run: error: interrupted; ", stderr)
        self.check_that_all_is_as_it_was()

    def test_a_matrix_that_is_cut_off_while_it_is_read(self):
        process = self.multiply_for_minutes()
        for name in ("a.f32", "b.f32"):
            os.truncate(self.path(name), 1 << 20)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual((process.returncode, stdout), (5, ""), stderr)
        self.assertRegex(stderr, r"ooc-run: error: [ab]\.f32: ")
        self.check_that_all_is_as_it_was()


if __name__ == "__main__":
    main()
