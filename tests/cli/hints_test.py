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
        for line, (code, what, hint) in mistakes.items():
            with self.subTest(line):
                self.refuse(code, what, *line.split(), hint=hint)
                self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_words(self):
        self.check({
            "reduec a.f32": (2, "unknown command 'reduec'", "did you mean 'reduce'"),
            "a.f32": (2, "unknown command 'a.f32'", "a command .* first: ooc-run histogram a.f32"),
            "--verison": (2, "unknown option '--verison'", "did you mean --version"),
            "--device cpu reduce a.f32": (2, "unknown option '--device' before a command",
                                          "options follow the command"),
            "reduce a.f32 --dytpe f4": (2, "unknown option '--dytpe'", "did you mean --dtype"),
            "reduce a.f32 --plot x.svg": (2, "--plot needs --histogram", ""),
            "convert a.f32 -o y.f8": (2, "y.f8: .f8 is no ending that names a type",
                                      "--to f8 writes float64"),
            "convert a.f32 -o y.csv": (2, r"y\.csv: only raw values and \.npy files are written",
                                       r"y\.npy, which NumPy"),
            "gen -o y.npz --count 8 --dtype f4": (2, r"y\.npz: only raw values", r"y\.npy"),
            "gen -o y.f8 --count 8": (2, "y.f8: .f8 is no ending that names a type", "--dtype f8"),
            "convert a.f32 --plot x.svg": (2, "unknown option '--plot'",
                                           "'ooc-run merge' and 'ooc-run bench'"),
            "reduce": (2, "no file given", "usage: ooc-run reduce FILE"),
            "reduce --nan a.f32": (2, "no file given", "reduce --nan POLICY a.f32$"),
            "histogram --bins a.f32": (2, "no file given", "ooc-run histogram --bins N a.f32$"),
            "stat a.f32": (2, "unknown command 'stat'", ""),
            "describe a.f32": (2, "unknown command 'describe'", "reduce FILE .*ooc-run info FILE"),
            "cat a.f32": (2, "unknown command 'cat'", "reduce FILE .*ooc-run info FILE"),
            "reduce a.f32 --trace x.json": (2, "a timeline is protobuf, not JSON",
                                            r"--trace x\.pftrace, which"),
            "gen x.f32 --size 8": (2, "unexpected argument 'x.f32'", "-o x.f32"),
            "doctor . .": (2, "unexpected argument '.'", "usage: ooc-run doctor"),
            "histogram a.f32 --range 5:1": (2, "lower end is above", "did you mean --range 1:5"),
            "histogram a.f32 --plot x.pdf": (2, "only SVG and PNG", "--plot x.svg"),
            "reduce a.f32 --bins 3": (2, "unknown option '--bins'", "'ooc-run histogram'"),
        })

    def test_values_of_a_few(self):
        self.check({
            "reduce a.f32 --dtype flaot32": (2, "dtype 'flaot32'", "did you mean 'float32'"),
            "reduce a.f32 --input-format npz": (2, "--input-format npz: ", "did you mean npy"),
            "convert a.f32 -o b.npy --to fp16": (2, "unknown dtype 'fp16'", "did you mean 'f2'"),
            "reduce a.f32 --nan omitt": (2, "--nan omitt: ", "did you mean omit"),
            "reduce a.f32 --device gpu": (2, "--device gpu: ", "did you mean cuda"),
            "reduce a.f32 --engine uirng": (2, "--engine uirng: ", "did you mean uring"),
            "reduce a.f32 --direct on": (2, "--direct on: ", "did you mean no|one of auto, yes"),
            "reduce a.f32 --progress plian": (2, "--progress plian: ", "did you mean plain"),
            "gen -o x.f32 --size 8 --pattern norml": (2, "norml: ", "did you mean normal"),
            "matmul square.npy square.npy -o c.npy --compute tf23": (2, "--compute tf23: ",
                                                                     "did you mean tf32"),
        })

    def test_what_took_the_file(self):
        done = self.refuse(2, "no file given", "reduce", "--nan", "a.f32")
        self.assertIn("  why:  'a.f32' was taken for the value of --nan: treatment of NaN: "
                      "propagate, omit", done.stderr)

    def test_files(self):
        self.check({
            "reduce mising.f32": (4, r"mising.f32: .*\(ENOENT\)", "check the name"),
            "reduce folder": (3, "folder: is a directory", "name the files in it"),
            "reduce odd.f32": (3, "odd.f32: 10 bytes are not a whole number of float32",
                               "use --count 2 .leaves the rest out., --offset BYTES or --dtype D$"),
            "reduce tiny.f32": (3, "tiny.f32: 3 bytes", "use --offset BYTES or --dtype D$"),
            "reduce a.f32 --count 2000": (3, "only 1000 elements",
                                          "lower --count, or leave out --count$"),
            "reduce a.f32 --offset 5000": (3, "fewer than the 5000", "lower --offset$"),
            "reduce a.f32 plain.dat": (2, "plain.dat: looks like float32",
                                       "use --dtype f4 .reads 1,000 values"),
            "reduce a.f32 taken.f16": (3, "taken.f16: holds",
                                       "use --dtype D, or convert it: .* --to '<f4'$"),
            "reduce square.npy --dtype i4": (3, "holds <f4, not the <i4", "leave out --dtype$"),
            "convert columns.npy -o rows.npy": (3, "Fortran order", r'numpy.load\("columns.npy", '
                                                          r'mmap_mode="r"\)'),
            "reduce objects.npy": (3, "Python objects", "save an array of numbers"),
            "reduce text.npy": (3, "strings", "numpy.uint32"),
            "reduce complex.npy": (3, "complex numbers", "array.real.dtype"),
            "reduce -": (2, "the type of standard input", "--dtype D"),
            "convert - -o y.f32 --to f4": (2, "cannot read standard input", "save it to a file"),
        })

    def test_no_permission(self):
        os.chmod(self.path("a.f32"), 0)
        self.refuse(4, r"a.f32: .*Permission denied \(EACCES\)", "reduce", "a.f32",
                    hint="`namei -l a.f32`", preexec_fn=without_privileges)
        os.chmod(self.path("folder"), 0o555)
        self.refuse(6, r"folder/x.f32: .*Permission denied \(EACCES\)", "gen", "-o", "folder/x.f32",
                    "--size", "8", hint="a directory you may write to",
                    preexec_fn=without_privileges)

    def test_outputs(self):
        self.check({
            "convert a.f32 -o taken.f16": (6, "taken.f16: exists already",
                                           "use --force .replaces it.$"),
            "convert a.f32 -o new/x.f16": (6, "new/x.f16: .*ENOENT", "mkdir -p new$"),
            "convert a.f32 -o folder": (6, "folder: is a directory", "name a file in it"),
            "convert a.f32": (2, "no output file given", "-o OUT"),
            "convert square.npy new.npy": (2, "no output file given",
                                           "-o new.npy, if that is the output"),
            "convert a.f32 -o a.f32": (2, "is the input", "a name of its own"),
            "convert a.f32 -o x.npy --shape 3x3": (
                2, "does not fit: 3 x 3 = 9, the input has 1,000", "product"),
            "gen -o x.f32": (2, "how much", "--size 1G"),
            "gen -o x.f32 --size 10": (2, "not a whole number of elements", "--count"),
            "gen -o x.f32 --size 100000T": (6, "ENOSPC|EFBIG", "make room|another disk"),
            "matmul square.npy square.npy -o c.f16": (2, "names float16", "c.bin names no type"),
        })

    def test_products(self):
        self.check({
            "matmul square.npy -o c.npy": (2, "two factors, not 1", "ooc-run matmul A B -o C"),
            "matmul square.npy square.npy": (2, "no output file", "ooc-run matmul A B -o C"),
            "matmul a.f32 taken.f16 -o c.f32": (
                2, r"a\.f32 and taken\.f16: raw files do not know their shapes",
                "--shape-a ROWSxCOLUMNS --shape-b ROWSxCOLUMNS"),
            "matmul a.f32 square.npy -o c.f32": (2, "a.f32: a raw file does not know its shape",
                                                 "--shape-a ROWSxCOLUMNS"),
            "matmul square.npy a.f32 -o c.f32": (2, "a.f32: a raw file does not know its shape",
                                                 "--shape-b ROWSxCOLUMNS"),
            "matmul square.npy square.npy c.npy": (2, "no output file",
                                                   "-o c.npy, if that is the output"),
            "matmul square.npy wide.npy -o c.npy": (3, "4 x 4 cannot be multiplied by one of 2 x 4",
                                                    "transpose .*array.T.copy"),
            "matmul square.npy f8.npy -o c.npy": (3, "holds <f4, f8.npy holds <f8",
                                                  "ooc-run convert f8.npy -o OUT --to '<f4'"),
            "matmul i2.npy i2.npy -o c.npy": (3, "i2.npy: holds int16",
                                              "ooc-run convert i2.npy -o OUT --to f4"),
            "matmul square.npy square.npy -o c.npy --compute tf32 --device cpu": (
                2, "tf32 needs a GPU", "use --compute f32 or --device cuda$"),
        })

    def test_limits(self):
        self.check({"reduce a.f32 --device cpu --memory 1K": (7, "8192 bytes, the limit is 1024",
                                                              "use --memory 8K at least$")})
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
        self.refuse(2, "io_uring is not available", "reduce", "a.f32", "--engine", "uring",
                    hint="leave out --engine, or use --engine threads .reads the same bytes.$",
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
