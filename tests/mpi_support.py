"""Runs of ooc-run-mpi, for its tests. The arguments of these are OOC-RUN OOC-RUN-MPI SLOW-READS."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import jsonschema
import numpy as np

VALIDATOR = jsonschema.Draft202012Validator(json.loads(
    (Path(__file__).resolve().parents[1] / "apps/ooc-run/result/result.schema.json").read_text()))
PROGRAM, MPI_PROGRAM, SLOW_READS = (Path(path).resolve() for path in sys.argv[1:4])
# Many ranks on few cores, also as root.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}
MPIRUN = ["timeout", "-k", "10", "120", "mpirun"]


def mpirun(*words, ranks=3, before=(), **more):
    return subprocess.run([*before, *MPIRUN, "-n", str(ranks), MPI_PROGRAM, *words],
                          capture_output=True, text=True, env={**ENVIRONMENT, **more})


def saved_records(directory):
    """The number of records of which the files of a checkpoint say that they are done."""
    records = 0
    for path in Path(directory).glob("rank-*.part"):
        with contextlib.suppress(FileNotFoundError):  # files of an earlier run are removed
            data = path.read_bytes()
            header = json.loads(data[16:16 + int.from_bytes(data[8:16], "little")])
            records += sum(int(end) - int(first) for first, end in header["covers"])
    return records


def errors_in(text):
    """The lines of ooc-run: mpirun adds its own."""
    return [line for line in text.splitlines() if line.startswith("ooc-run: error:")]


def ranks_of(directory):
    """The processes of ooc-run-mpi that work in a directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (os.readlink(process / "exe") == str(MPI_PROGRAM) and
                    os.readlink(process / "cwd") == str(directory)):
                found.append(int(process.name))
    return sorted(found)


# Folds, as the words of a command.
JOBS = [["reduce", "wide.f32"], ["reduce", "--exact", "--histogram", "100", "wide.f32"],
        ["reduce", "--nan", "omit", "nan.f32"], ["histogram", "bytes.u8"],
        ["histogram", "--bins", "1000", "wide.f32"], ["histogram", "--bins", "scott", "wide.f32"],
        ["histogram", "--count", "5", "wide.f32"], ["histogram", "--count", "0", "wide.f32"],
        ["reduce", "bytes.u8", "bytes.u8"]]


class MpiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.temporary.name).resolve()
        os.chdir(cls.directory)
        random = np.random.default_rng(23)
        values = (random.normal(size=20_000_003) * 10.0 ** random.integers(-20, 20, 20_000_003))
        values = values.astype("f4")
        values.tofile("wide.f32")
        values[::1001] = np.nan
        values.tofile("nan.f32")
        random.integers(0, 256, 9_000_001, dtype="u1").tofile("bytes.u8")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.temporary.cleanup()

    def answer(self, *words):
        run = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["result"]

    def start(self, *words, ranks=3, before=(), files=40, **more):
        """Starts a run that lasts for 10 s on the fastest machine, since its ranks read slowly.
        Returns it when all of them read."""
        reading = self.hurry()
        reading.mkdir()
        process = subprocess.Popen(
            [*before, *MPIRUN, "-n", str(ranks), "-x", f"LD_PRELOAD={SLOW_READS}", "-x",
             f"SLOW_READS={reading}", "-x", "OOC_ENGINE=threads", "-x", "OOC_CHUNK=1M",
             MPI_PROGRAM, *words, *["wide.f32"] * files],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**ENVIRONMENT, **more}, start_new_session=True)
        self.addCleanup(process.wait)
        self.wait_until(process, lambda: len(os.listdir(reading)) == ranks)
        return process

    def hurry(self):
        """Lets the ranks read on at full speed."""
        reading = self.directory / "reading"
        while reading.exists():  # a file may come meanwhile
            shutil.rmtree(reading, ignore_errors=True)
        return reading

    def wait_until(self, process, condition):
        while not condition():
            if process.poll() is not None:
                self.fail(f"ended too early: {process.returncode}, {process.communicate()}")
            time.sleep(0.01)

    def end_of(self, process):
        """Waits for the end. Returns the exit code and the errors."""
        _, text = process.communicate(timeout=100)
        for _ in range(500):
            if not ranks_of(self.directory):
                break
            time.sleep(0.01)
        self.assertEqual(ranks_of(self.directory), [], "ranks are left")
        return process.returncode, errors_in(text)


def run_tests(*suites):
    loader = unittest.defaultTestLoader
    tests = unittest.TestSuite(loader.loadTestsFromTestCase(each) for each in suites)
    return 0 if unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful() else 1
