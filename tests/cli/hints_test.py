#!/usr/bin/env python3
"""Tests that common mistakes get a message of one line and a hint that fixes them."""

import errno
import os

from cli_support import CliTest, main
from restrictions import LIBC, refusing

import numpy as np


def without_privileges():
    """Makes permission bits apply to root too; has no effect for other users."""
    drop_from_bounding_set, override, read_search = 24, 1, 2
    for capability in (override, read_search):
        LIBC.prctl(drop_from_bounding_set, capability, 0, 0, 0)


class HintsTest(CliTest):
    def setUp(self):
        super().setUp()
        values = np.arange(1000, dtype="f4")
        for name in ("a.f32", "taken.f16", "x.csv", "plain.dat"):
            self.write(name, values)
        self.write("odd.f32", bytes(10))
        self.write("tiny.f32", bytes(3))
        os.mkdir(self.path("folder"))
        square = np.arange(16, dtype="f4").reshape(4, 4)
        for name, array in {"square.npy": square, "wide.npy": square[:2], "columns.npy": square.T,
                            "i2.npy": square.astype("i2"), "f8.npy": square.astype("f8"),
                            "flags.npy": square > 3, "text.npy": np.array(["a", "b"]),
                            "complex.npy": square.astype("c8")}.items():
            np.save(self.path(name), array)
        np.save(self.path("objects.npy"), np.array([{}, 1], dtype=object), allow_pickle=True)

    def check(self, mistakes):
        before = sorted(os.listdir(self.directory))
        for line, code in mistakes.items():
            with self.subTest(line):
                self.check_error(code, *line.split())
                self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_words(self):
        self.check({
            "reduec a.f32": 2, "a.f32": 2, "--verison": 2, "--device cpu reduce a.f32": 2,
            "reduce a.f32 --dytpe f4": 2, "reduce a.f32 --plot x.svg": 2,
            "convert a.f32 -o y.f8": 2, "convert a.f32 -o y.csv": 2,
            "gen -o y.npz --count 8 --dtype f4": 2, "gen -o y.f8 --count 8": 2,
            "convert a.f32 --plot x.svg": 2, "reduce": 2, "reduce --nan a.f32": 2,
            "histogram --bins a.f32": 2, "stat a.f32": 2, "describe a.f32": 2, "cat a.f32": 2,
            "reduce a.f32 --trace x.json": 2, "gen x.f32 --size 8": 2, "doctor . .": 2,
            "histogram a.f32 --range 5:1": 2, "histogram a.f32 --plot x.pdf": 2,
            "reduce a.f32 --bins 3": 2, "reduce a.f32 --rows 3": 2, "info a.f32 --rows 3": 2,
            "convert a.f32 -o y.npy --rows 3": 2, "matmul a.f32 a.f32 --rows 3 -o y.npy": 2,
            "doctor --rows 3": 2, "reduce a.f32 --gpu": 2, "histogram a.f32 --limit 3": 2,
        })

    def test_values_of_a_few(self):
        self.check({
            "reduce a.f32 --dtype flaot32": 2, "reduce a.f32 --input-format npx": 2,
            "convert a.f32 -o b.npy --to fp16": 2, "reduce a.f32 --nan omitt": 2,
            "reduce a.f32 --device gpu": 2, "reduce a.f32 --engine uirng": 2,
            "reduce a.f32 --direct on": 2, "reduce a.f32 --progress plian": 2,
            "gen -o x.f32 --size 8 --pattern norml": 2,
            "matmul square.npy square.npy -o c.npy --compute tf23": 2,
        })

    def test_what_took_the_file(self):
        self.check_error(2, "reduce", "--nan", "a.f32")

    def test_files(self):
        self.check({
            "reduce mising.f32": 4, "reduce folder": 3, "reduce odd.f32": 3, "reduce tiny.f32": 3,
            "reduce a.f32 --count 2000": 3, "reduce a.f32 --offset 5000": 3,
            "reduce a.f32 plain.dat": 2, "reduce a.f32 taken.f16": 3,
            "reduce square.npy --dtype i4": 3, "convert columns.npy -o rows.npy": 3,
            "reduce objects.npy": 3, "reduce text.npy": 3, "reduce complex.npy": 3, "reduce -": 2,
            "convert - -o y.f32 --to f4": 2,
        })

    def test_no_permission(self):
        os.chmod(self.path("a.f32"), 0)
        self.check_error(4, "reduce", "a.f32", preexec_fn=without_privileges)
        os.chmod(self.path("folder"), 0o555)
        self.check_error(6, "gen", "-o", "folder/x.f32", "--size", "8",
                         preexec_fn=without_privileges)

    def test_outputs(self):
        self.check({
            "convert a.f32 -o taken.f16": 6, "convert a.f32 -o new/x.f16": 6,
            "convert a.f32 -o folder": 6, "convert a.f32": 2, "convert square.npy new.npy": 2,
            "convert a.f32 -o a.f32": 2, "convert a.f32 -o x.npy --shape 3x3": 2,
            "gen -o x.f32": 2, "gen -o x.f32 --size 10": 2,
            "matmul square.npy square.npy -o c.f16": 2,
        })
        self.refuse(6, "ENOSPC|EFBIG", "gen", "-o", "x.f32", "--size", "100000T",
                    hint="make room|another disk")

    def test_products(self):
        self.check({
            "matmul square.npy -o c.npy": 2, "matmul square.npy square.npy": 2,
            "matmul a.f32 taken.f16 -o c.f32": 2, "matmul a.f32 square.npy -o c.f32": 2,
            "matmul square.npy a.f32 -o c.f32": 2, "matmul square.npy square.npy c.npy": 2,
            "matmul square.npy wide.npy -o c.npy": 3, "matmul square.npy f8.npy -o c.npy": 3,
            "matmul i2.npy i2.npy -o c.npy": 3,
            "matmul square.npy square.npy -o c.npy --compute tf32 --device cpu": 2,
        })

    def test_limits(self):
        self.check({"reduce a.f32 --device cpu --memory 1K": 7})
        np.save(self.path("tall.npy"), np.ones((4000, 1), dtype="f4"))
        np.save(self.path("row.npy"), np.ones((1, 3), dtype="f4"))
        for command in ("reduce a.f32 --device cpu", "matmul square.npy square.npy -o c.npy",
                        "histogram a.f32 --bins 1e6 --device cpu",
                        "matmul tall.npy row.npy -o v.npy --force --verify"):
            limits = ["1K"]
            while (done := self.run_program(*command.split(), "--memory", limits[-1])).returncode:
                self.assertEqual(done.returncode, 7, done.stderr)
                limits.append(done.stderr.split("use --memory ")[1].split(" at least")[0])
            self.assertEqual(len(limits), 2 + command.endswith("--verify"), limits)
        self.check_error(2, "reduce", "a.f32", "--engine", "uring",
                         preexec_fn=refusing("io_uring_setup", errno.EPERM))

    def test_files_that_are_moved_over_an_empty_one(self):
        """Where the kernel neither links nor renames without replacing, a note says so."""
        for command in ("convert a.f32 --to f8 -o {}.f64", "gen --size 1K -o {}.bin",
                        "reduce a.f32 --trace {}.pftrace", "reduce a.f32 --report {}.html",
                        "histogram a.f32 --plot {}.svg", "reduce a.f32 --shard 0/1 -o {}.part",
                        "merge whole.part -o all-{}.part"):
            if command.startswith("merge"):
                self.succeed("reduce", "a.f32", "--shard", "0/1", "-o", "whole.part")
            with self.subTest(command):
                done = self.succeed(*command.format("usual").split())
                self.assertNotIn("only over an empty file", done.stderr)
                refused = [refusing(name, errno.EPERM) for name in ("linkat", "link", "renameat2")]
                done = self.succeed(*command.format("moved").split(),
                                    preexec_fn=lambda: [each() for each in refused])
                self.assertEqual(done.stderr.count("only over an empty file"), 1, done.stderr)


if __name__ == "__main__":
    main()
