#!/usr/bin/env python3
"""Tests ooc-run-mpi with ranks of this machine: mpi_test.py OOC-RUN OOC-RUN-MPI
SLOW-READS."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from mpi_support import (ENVIRONMENT, JOBS, MPI_PROGRAM, MPIRUN, PROGRAM, VALIDATOR, MpiTest,
                         errors_in, mpirun, run_tests)


class Answers(MpiTest):
    def test_are_those_of_one_process(self):
        for words in JOBS:
            expected = self.answer(*words)
            for ranks in 1, 2, 3, 8:
                with self.subTest(words=words, ranks=ranks):
                    run = mpirun(*words, "--json", "--chunk", "1M", ranks=ranks)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    document = json.loads(run.stdout)  # one document
                    VALIDATOR.validate(document)
                    self.assertEqual(document["result"], expected)
                    shares = document["run"]["ranks"] or []
                    if ranks > 1 and expected["count"] != 0:
                        self.assertEqual([each["rank"] for each in shares], list(range(ranks)))
                        passes = document["run"]["passes"]
                        self.assertEqual(sum(each["bytes"] for each in shares),
                                         passes * document["input"]["bytes"])

    def test_do_not_depend_on_the_processor(self):
        words = ["reduce", "--histogram", "64", "--range", "-1:1", "wide.f32", "--json"]
        mixed = ["-n", "2", "-x", "OOC_SIMD=sse2", MPI_PROGRAM, *words, ":", "-n", "2", "-x",
                 "OOC_SIMD=avx2", MPI_PROGRAM, *words, ":", "-n", "2", MPI_PROGRAM, *words]
        run = subprocess.run([*MPIRUN, *mixed], capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["result"], self.answer(*words[:-1]))

    def test_convert_writes_one_file(self):
        for name in "one.f16", "one.npy":
            self.answer("convert", "wide.f32", "-o", name, "--to", "f2")
            for ranks in 2, 5:
                many = name.replace("one", f"many{ranks}")
                run = mpirun("convert", "wide.f32", "-o", many, "--to", "f2", "--chunk", "1M",
                             ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stdout.count("wrote"), 1)
                self.assertEqual(Path(name).read_bytes(), Path(many).read_bytes())
        self.assertEqual(list(self.directory.glob(".*")), [])

    def make_matrices(self, rows, inner, columns):
        """Integers, whose sums are exact. Returns their product."""
        random = np.random.default_rng(5)
        a = random.integers(-7, 8, (rows, inner)).astype("f4")
        b = random.integers(-7, 8, (inner, columns)).astype("f4")
        np.save("a.npy", a)
        np.save("b.npy", b)
        return a @ b

    def test_matmul_writes_one_file(self):
        for rows, inner, columns in (2000, 300, 2048), (5000, 100, 1001), (3, 4, 5):
            product = self.make_matrices(rows, inner, columns)
            for ranks in 1, 3, 4:
                run = mpirun("matmul", "a.npy", "b.npy", "-o", "c.npy", "--force", "--verify",
                             "--json", "--memory", "20M", ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                document = json.loads(run.stdout)
                VALIDATOR.validate(document)
                np.testing.assert_array_equal(np.load("c.npy"), product)
                result = document["result"]
                self.assertTrue(result["verified"])
                self.assertEqual(result["bytes_written"], product.nbytes)
                self.assertEqual([result["rows"], result["columns"]], [rows, columns])
                blocks = result["plan"]["row_blocks"] * result["plan"]["column_blocks"]
                self.assertEqual(blocks, ranks if rows > 3 else 1)
                if ranks > 1:
                    written = [each["bytes_written"] for each in document["run"]["ranks"]]
                    self.assertEqual(sum(written), product.nbytes)
                    self.assertEqual(sum(each > 0 for each in written), blocks)
        self.assertEqual(list(self.directory.glob(".*")), [])

    def test_matmul_is_explained(self):
        self.make_matrices(2000, 30, 2048)
        run = mpirun("matmul", "a.npy", "b.npy", "--explain", ranks=4)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("in 2 x 2 blocks", run.stdout)
        self.assertIn("not known, of several ranks", run.stdout)
        self.assertEqual(run.stdout.count("Nothing was read"), 1)

    def test_rank_0_writes_the_files_beside_the_result(self):
        run = mpirun("reduce", "wide.f32", "--verify", "--trace", "run.pftrace", "--report",
                     "run.html", "--histogram", "9", "--plot", "run.svg", "--progress", "plain")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("verified", run.stdout)
        for name in "run.pftrace", "run.html", "run.svg":
            self.assertEqual(run.stderr.count(f"wrote {name}"), 1, run.stderr)

    def test_find_the_percentiles_of_a_picture(self):
        words = ["quantile", "wide.f32", "--plot"]
        run = mpirun(*words, "ranks.svg", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["result"], self.answer(*words, "one.svg"))
        self.assertEqual(Path("ranks.svg").read_text(), Path("one.svg").read_text())


class Errors(MpiTest):
    def expect(self, code, text, *words, **more):
        run = mpirun(*words, **more)
        self.assertEqual(run.returncode, code, run.stderr)
        found = errors_in(run.stderr)
        self.assertEqual(len(found), 1, run.stderr)
        self.assertIn(text, found[0])
        self.assertEqual(run.stdout, "")
        return run

    def test_are_printed_once(self):
        self.expect(2, "--bogus", "reduce", "--bogus", "wide.f32")
        self.expect(4, "nothere", "reduce", "nothere.f32")
        Path("there.f16").write_bytes(b"precious")
        self.expect(6, "there.f16: exists", "convert", "wide.f32", "-o", "there.f16")
        self.assertEqual(Path("there.f16").read_bytes(), b"precious")
        self.expect(6, "nowhere", "convert", "wide.f32", "-o", "nowhere/x.f16")
        self.expect(3, "would change", "convert", "wide.f32", "-o", "x.f16", "--strict")
        self.assertFalse(Path("x.f16").exists())

    def test_what_is_not_shared_is_refused(self):
        refused = "does not run on several ranks"
        self.expect(2, refused, "info", "wide.f32")
        self.expect(2, refused, "gen", "-o", "more.f32", "--size", "1M")
        self.expect(2, "--checksum is not for several ranks", "reduce", "--checksum", "wide.f32")
        self.expect(2, "--shard is not for several", "reduce", "--shard", "0/2", "-o", "0.part",
                    "wide.f32")

    def test_processes_that_do_not_know_of_each_other_are_refused(self):
        for variable in "SLURM_STEP_NUM_TASKS", "PMI_SIZE":
            run = subprocess.run([MPI_PROGRAM, "reduce", "wide.f32"], capture_output=True,
                                 text=True, env={**ENVIRONMENT, variable: "4"})
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("one of 4, and MPI knows of one", run.stderr)

    def test_a_rank_timeout_is_for_ranks(self):
        run = subprocess.run([PROGRAM, "reduce", "wide.f32", "--rank-timeout", "5"],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("ooc-run-mpi", run.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(Answers, Errors))
