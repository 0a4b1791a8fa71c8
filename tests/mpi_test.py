#!/usr/bin/env python3
"""Tests of ooc-run-mpi: mpi_test.py processes|machines OOC-RUN OOC-RUN-MPI.

processes: ranks of this machine. machines: ranks in network namespaces, between which links fail;
takes root's rights, and exits with 77 without them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import jsonschema
import numpy as np

SKIPPED = 77
SCHEMA = json.loads((Path(__file__).resolve().parents[1] /
                     "apps/ooc-run/result/result.schema.json").read_text())
PROGRAM, MPI_PROGRAM = (Path(path).resolve() for path in sys.argv[2:4])
# Many ranks on few cores, also as root.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}
MPIRUN = ["timeout", "-k", "10", "120", "mpirun"]


def mpirun(*words, ranks=3, before=(), **more):
    return subprocess.run([*before, *MPIRUN, "-n", str(ranks), MPI_PROGRAM, *words],
                          capture_output=True, text=True, env={**ENVIRONMENT, **more})


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

    def start(self, *words, ranks=3, before=(), files=200, **more):
        """Starts a long run: the data many times over. Returns it when it is at work."""
        files = ["wide.f32"] * files
        process = subprocess.Popen(
            [*before, *MPIRUN, "-n", str(ranks), MPI_PROGRAM, *words, *files],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**ENVIRONMENT, **more}, start_new_session=True)
        self.addCleanup(process.wait)
        while len(ranks_of(self.directory)) < ranks:
            self.assertIsNone(process.poll(), "ended too early")
            time.sleep(0.01)
        time.sleep(0.7)  # until all take part
        return process

    def end_of(self, process):
        """Waits for the end. Returns the exit code and the errors."""
        _, text = process.communicate(timeout=100)
        for _ in range(500):
            if not ranks_of(self.directory):
                break
            time.sleep(0.01)
        self.assertEqual(ranks_of(self.directory), [], "ranks are left")
        return process.returncode, errors_in(text)


class Answers(MpiTest):
    JOBS = [["reduce", "wide.f32"], ["reduce", "--exact", "--histogram", "100", "wide.f32"],
            ["reduce", "--nan", "omit", "nan.f32"], ["histogram", "bytes.u8"],
            ["histogram", "--bins", "1000", "wide.f32"],
            ["histogram", "--count", "5", "wide.f32"], ["histogram", "--count", "0", "wide.f32"],
            ["reduce", "bytes.u8", "bytes.u8"]]

    def test_are_those_of_one_process(self):
        for words in self.JOBS:
            expected = self.answer(*words)
            for ranks in 1, 2, 3, 8:
                with self.subTest(words=words, ranks=ranks):
                    run = mpirun(*words, "--json", "--chunk", "1M", ranks=ranks)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    document = json.loads(run.stdout)  # one document
                    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
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

    def test_rank_0_writes_the_files_beside_the_result(self):
        run = mpirun("reduce", "wide.f32", "--verify", "--trace", "run.pftrace", "--report",
                     "run.html", "--histogram", "9", "--plot", "run.svg", "--progress", "plain")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("verified", run.stdout)
        for name in "run.pftrace", "run.html", "run.svg":
            self.assertEqual(run.stderr.count(f"wrote {name}"), 1, run.stderr)


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
        self.expect(2, refused, "matmul", "wide.f32", "wide.f32", "-o", "c.npy")
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


class Failures(MpiTest):
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
        text, errors = process.communicate(timeout=100)
        self.assertIn(process.returncode, (130, 143), errors)
        document = json.loads(text)
        self.assertTrue(document["result"]["partial"])
        self.assertEqual(document["result"]["covered_bytes"],
                         4 * document["result"]["count"])

    def test_a_killed_job_goes_on_with_other_ranks(self):
        words = ["reduce", "--exact", "--resume", "saved", "--checkpoint-every", "0.2s"]
        for ranks in 3, 2, 4:
            process = self.start(*words, ranks=ranks)
            os.kill(ranks_of(self.directory)[-1], signal.SIGKILL)
            self.end_of(process)
            self.assertTrue(list(Path("saved").glob("rank-*.part")))
        files = ["wide.f32"] * 200
        run = mpirun(*words, *files, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        self.assertGreater(document["run"]["checkpoint"]["resumed_bytes"], 0)
        self.assertEqual(document["result"], self.answer("reduce", "--exact", *files))
        self.assertFalse(Path("saved").exists())

    def test_a_killed_convert_goes_on(self):
        words = ["convert", "-o", "big.f16", "--resume", "saved", "--checkpoint-every", "0.2s"]
        process = self.start(*words, files=50)
        os.kill(ranks_of(self.directory)[0], signal.SIGKILL)
        self.end_of(process)
        self.assertFalse(Path("big.f16").exists())
        files = ["wide.f32"] * 50
        run = mpirun(*words, *files, ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.answer("convert", "wide.f32", "-o", "small.f16")
        small = Path("small.f16").read_bytes()
        with open("big.f16", "rb") as big:
            for _ in range(50):
                self.assertEqual(big.read(len(small)), small)
            self.assertEqual(big.read(), b"")
        self.assertEqual([each for each in self.directory.glob(".*big*")], [])
        Path("big.f16").unlink()


class Machines:
    """Network namespaces, each with a name of its own, on one bridge."""

    made = 0

    def __init__(self, count):
        Machines.made += 1
        self.name = f"ooc{os.getpid()}{'abcdefgh'[Machines.made]}"
        self.hosts = [f"10.77.{os.getpid() % 200}.{i + 1}" for i in range(count)]

    def run(self, *words):
        subprocess.run(words, check=True, capture_output=True)

    def space(self, host):
        return f"{self.name}-{self.hosts.index(host)}"

    def __enter__(self):
        self.run("ip", "link", "add", self.name, "type", "bridge")
        self.run("ip", "link", "set", self.name, "up")
        for index, host in enumerate(self.hosts):
            space, end = self.space(host), f"{self.name}v{index}"
            self.run("ip", "netns", "add", space)
            self.run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns",
                     space)
            self.run("ip", "link", "set", end, "master", self.name, "up")
            for words in (["addr", "add", f"{host}/24", "dev", "eth0"],
                          ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]):
                self.run("ip", "-n", space, *words)
        return self

    def halt(self):
        """Ends all their processes: daemons of MPI may stay."""
        for host in self.hosts:
            pids = subprocess.run(["ip", "netns", "pids", self.space(host)], capture_output=True,
                                  text=True).stdout
            for pid in pids.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def __exit__(self, *_):
        self.halt()
        for host in self.hosts:
            end = f"{self.name}v{self.hosts.index(host)}"
            subprocess.run(["ip", "link", "del", end], capture_output=True)
            subprocess.run(["ip", "netns", "del", self.space(host)], capture_output=True)
        subprocess.run(["ip", "link", "del", self.name], capture_output=True)

    def cut(self, host):
        self.run("ip", "link", "set", f"{self.name}v{self.hosts.index(host)}", "down")

    def agent(self, path):
        """Writes a program that runs a command on one of the machines, as ssh does."""
        path.write_text("#!/bin/bash\nhost=$1; shift\nn=${host##*.}\n"
                        f"exec ip netns exec {self.name}-$((n - 1)) unshare --uts bash -c "
                        '"hostname machine$n; $*"\n')
        path.chmod(0o755)
        return path

    def options(self, agent):
        network = self.hosts[0].rsplit(".", 1)[0] + ".0/24"
        return {"OMPI_MCA_plm_rsh_agent": str(agent), "OMPI_MCA_btl": "tcp,self",
                "OMPI_MCA_btl_tcp_if_include": network, "OMPI_MCA_oob_tcp_if_include": network,
                "OMPI_MCA_plm": "rsh", "OMPI_MCA_orte_keep_fqdn_hostnames": "1",
                "OMPI_MCA_orte_default_hostfile": str(agent.parent / "hosts"),
                "OMPI_MCA_pml": "ob1"}


class AcrossMachines(MpiTest):
    def setUp(self):
        self.machines = self.enterContext(Machines(3))
        agent = self.machines.agent(self.directory / "agent")
        (self.directory / "hosts").write_text(
            "".join(f"{host} slots=2\n" for host in self.machines.hosts))
        self.more = self.machines.options(agent)
        self.before = ["ip", "netns", "exec", self.machines.space(self.machines.hosts[0])]

    if not hasattr(unittest.TestCase, "enterContext"):
        def enterContext(self, context):
            entered = context.__enter__()
            self.addCleanup(context.__exit__, None, None, None)
            return entered

    def test_answers_are_those_of_one_process(self):
        for words in Answers.JOBS[:3]:
            run = mpirun(*words, "--json", "--chunk", "1M", ranks=6, before=self.before,
                         **self.more)
            self.assertEqual(run.returncode, 0, run.stderr)
            document = json.loads(run.stdout)
            self.assertEqual(document["result"], self.answer(*words))
            hosts = {each["host"] for each in document["run"]["ranks"]}
            self.assertEqual(len(hosts), 3, hosts)

    def test_a_machine_that_vanishes_ends_all_ranks(self):
        process = self.start("reduce", "--exact", "--rank-timeout", "3", ranks=3,
                             before=self.before, **self.more)
        self.machines.cut(self.machines.hosts[2])
        for _ in range(3000):
            if not ranks_of(self.directory):
                break
            time.sleep(0.01)
        self.assertEqual(ranks_of(self.directory), [])
        self.machines.halt()  # mpirun may stay
        process.communicate(timeout=60)


def main():
    if sys.argv[1] == "machines":
        if os.geteuid() != 0 or any(shutil.which(each) is None for each in ("ip", "unshare")):
            return SKIPPED
        suites = [AcrossMachines]
    else:
        suites = [Answers, Errors, Failures]
    loader = unittest.defaultTestLoader
    tests = unittest.TestSuite(loader.loadTestsFromTestCase(each) for each in suites)
    return 0 if unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
