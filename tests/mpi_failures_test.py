#!/usr/bin/env python3
"""Tests ranks of ooc-run-mpi that fail, stop or are killed: mpi_failures_test.py OOC-RUN
OOC-RUN-MPI SLOW-READS."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from mpi_support import (ENVIRONMENT, MPI_PROGRAM, MPIRUN, VALIDATOR, MpiTest, mpirun, ranks_of,
                         run_tests, saved_records)


class Failures(MpiTest):
    def test_ranks_that_stop_before_they_meet_end_the_job(self):
        """MPI itself waits for ever for a process that has stopped while it started."""
        process = subprocess.Popen(
            [*MPIRUN, "-n", "3", MPI_PROGRAM, "reduce", "wide.f32", "--rank-timeout", "3"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(process.wait)
        self.wait_until(process, lambda: ranks_of(self.directory))
        os.kill(ranks_of(self.directory)[0], signal.SIGSTOP)
        code, errors = self.end_of(process)
        self.assertEqual(code, 9)
        # A launcher that is slow to end the others lets them report the same.
        self.assertEqual(set(errors), {"ooc-run: error: the ranks have not met within 15 s"})

    def test_a_rank_that_is_killed_ends_the_job(self):
        process = self.start("reduce", "--exact")
        os.kill(ranks_of(self.directory)[-1], signal.SIGKILL)
        code, _ = self.end_of(process)
        self.assertEqual(code, 128 + signal.SIGKILL)

    def test_a_rank_that_is_stopped_ends_the_job(self):
        for which in 0, 1:
            process = self.start("reduce", "--exact", "--rank-timeout", "2")
            os.kill(ranks_of(self.directory)[which], signal.SIGSTOP)
            code, errors = self.end_of(process)
            self.assertEqual(code, 9)
            self.assertTrue(any("has heard nothing of rank" in each for each in errors), errors)

    def test_an_interrupt_ends_with_what_was_found(self):
        process = self.start("reduce", "--exact", "--json")
        os.kill(ranks_of(self.directory)[1], signal.SIGTERM)
        self.hurry()
        text, errors = process.communicate(timeout=100)
        self.assertIn(process.returncode, (130, 143), errors)
        document = json.loads(text)  # one document
        VALIDATOR.validate(document)
        self.assertTrue(document["result"]["partial"])
        count = document["result"].get("count", 0)  # it is a document of nothing if that takes long
        self.assertEqual(document["result"]["covered_bytes"], 4 * count)

    def test_a_killed_job_goes_on_with_other_ranks(self):
        words = ["reduce", "--exact", "--resume", "saved", "--checkpoint-every", "0.2s"]
        for ranks in 3, 2, 4:
            before = saved_records("saved")
            process = self.start(*words, ranks=ranks)
            self.wait_until(process, lambda: saved_records("saved") > before)
            os.kill(ranks_of(self.directory)[-1], signal.SIGKILL)
            self.end_of(process)
            self.assertTrue(list(Path("saved").glob("rank-*.part")))
        files = ["wide.f32"] * 40
        run = mpirun(*words, *files, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        self.assertGreater(document["run"]["checkpoint"]["resumed_bytes"], 0)
        self.assertEqual(document["result"], self.answer("reduce", "--exact", *files))
        self.assertFalse(Path("saved").exists())

    def test_a_killed_convert_goes_on(self):
        words = ["convert", "-o", "big.f16", "--resume", "saved", "--checkpoint-every", "0.2s"]
        process = self.start(*words)
        self.wait_until(process, lambda: saved_records("saved") > 0)
        os.kill(ranks_of(self.directory)[0], signal.SIGKILL)
        self.end_of(process)
        self.assertFalse(Path("big.f16").exists())
        files = ["wide.f32"] * 40
        run = mpirun(*words, *files, ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.answer("convert", "wide.f32", "-o", "small.f16")
        small = Path("small.f16").read_bytes()
        with open("big.f16", "rb") as big:
            for _ in files:
                self.assertEqual(big.read(len(small)), small)
            self.assertEqual(big.read(), b"")
        self.assertEqual([each for each in self.directory.glob(".*big*")], [])
        Path("big.f16").unlink()

    def test_a_killed_product_goes_on_with_other_ranks(self):
        random = np.random.default_rng(6)
        a = random.integers(-7, 8, (4096, 4096)).astype("f4")
        np.save("square.npy", a)
        words = ["matmul", "square.npy", "square.npy", "-o", "square_c.npy", "--memory", "24M",
                 "--resume", "saved", "--checkpoint-every", "0"]
        for ranks in 3, 2:
            for _ in range(5):  # it may end before the signal comes, on a busy machine
                before = saved_records("saved")
                process = self.start(*words, ranks=ranks, files=0)
                # It may have been killed before when all was saved, and then saves nothing more.
                self.wait_until(process, lambda: saved_records("saved") > before or
                                process.poll() is not None)
                for rank in ranks_of(self.directory)[-1:]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(rank, signal.SIGKILL)
                self.end_of(process)
                if not Path("square_c.npy").exists():
                    break
                # The signal may have come when the file was there and the state not yet gone.
                Path("square_c.npy").unlink()
                shutil.rmtree("saved", ignore_errors=True)
            else:
                self.fail("it has ended before the signal each time")
        run = mpirun(*words, "--json", ranks=4)
        self.assertEqual(run.returncode, 0, run.stderr)
        np.testing.assert_array_equal(np.load("square_c.npy"), a @ a)
        self.assertLess(json.loads(run.stdout)["result"]["bytes_written"], a.nbytes)
        self.assertFalse(Path("saved").exists())
        self.assertEqual(list(self.directory.glob(".square_c*")), [])


if __name__ == "__main__":
    sys.exit(run_tests(Failures))
