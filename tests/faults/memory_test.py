#!/usr/bin/env python3
"""Runs with little address space or stack, and the memory that runs with many bins take."""

import os
import resource
import subprocess
from pathlib import Path

from faults_support import FIGURES, PROGRAM, FaultTest, clean_environment, main
from restrictions import limiting

import numpy as np

MEMORY, DEVICE = 7, 8
KIB, MIB = 1 << 10, 1 << 20
BINS = 1 << 20
LIMITS = int(os.environ.get("OOC_FAULT_LIMITS", "12"))  # of each command


class MemoryTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.write("x.f32", np.random.default_rng(1).normal(0, 1, 1 << 18).astype("f4"))
        self.write("a.f32", np.ones((64, 64), "f4"))

    def run_limited(self, *words, preexec_fn=None):
        FIGURES["runs"] += 1
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, check=False,
                              cwd=self.directory, timeout=120, preexec_fn=preexec_fn,
                              env=clean_environment(XDG_CACHE_HOME=str(self.directory / "cache")))

    def make_parts(self, bins, count):
        """Makes parts of a histogram, of a tile each; returns their names."""
        with open(self.path("tiles.f32"), "wb") as file:
            file.truncate(count * 65536 * 4)
        names = [f"{count}-{index}.part" for index in range(count)]
        for index, name in enumerate(names):
            done = self.run_limited("histogram", "tiles.f32", "--bins", bins, "--range=-4:4",
                                    "--shard", f"{index}/{count}", "-o", name, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
        return names


class LimitSweep(MemoryTest):
    """With each limit in which the program starts at all, a run has its answer or ends with 7."""

    def commands(self):
        parts = self.make_parts(BINS, 2)
        bins = ["histogram", "x.f32", "--bins", "65536"]
        return [["reduce", "x.f32"], ["reduce", "x.f32", "--histogram", "1e5", "--json"],
                ["histogram", "x.f32"], [*bins, "--json"],
                [*bins, "--plot", "x.svg", "--report", "x.html", "--force"],
                [*bins, "--resume", "x.state"], ["merge", *parts, "--json"],
                ["merge", *parts, "-o", "all.part", "--force"],
                ["convert", "x.f32", "-o", "y.f16", "--to", "f2", "--force"], ["info", "x.f32"],
                ["gen", "-o", "z.u8", "--count", "1e6", "--force"],
                ["matmul", "a.f32", "a.f32", "-o", "c.f32", "--shape-a", "64x64", "--shape-b",
                 "64x64", "--force"]]

    def sweep(self, kind, least, most):
        while self.run_limited("--version", preexec_fn=limiting(kind, least)).returncode != 0:
            least += max(least // 64, 4 * KIB)
        if kind == resource.RLIMIT_STACK:
            least += 8 * KIB  # by up to so much, at random, the kernel lowers the top of a stack
        ratio = (most / least) ** (1 / (LIMITS - 1))
        for words in self.commands():
            codes = {0, MEMORY, DEVICE} if words[0] == "matmul" else {0, MEMORY}
            for step in range(LIMITS):
                limit = int(least * ratio ** step)
                with self.subTest(words, limit=limit):
                    done = self.run_limited(*words, preexec_fn=limiting(kind, limit))
                    self.assertIn(done.returncode, codes, done.stderr)
                    if done.returncode != 0:
                        self.assertEqual(done.stdout, b"")
                        self.assertTrue(done.stderr.startswith(b"ooc-run: "), done.stderr)
            self.assertEqual(done.returncode, 0, f"{words} with {most} bytes: {done.stderr}")

    def test_address_space(self):
        self.sweep(resource.RLIMIT_AS, 8 * MIB, 2048 * MIB)

    def test_stack(self):
        self.sweep(resource.RLIMIT_STACK, 16 * KIB, 1 * MIB)


class PeakTest(MemoryTest):
    """README: 100 MB, and for a million bins 25 MB and 4 MB for each thread more."""

    def peak(self, *words):
        """Returns the most memory that a run has had (bytes)."""
        peak = self.directory / "peak"
        script = ("import os, resource, sys; "
                  "code = os.spawnv(os.P_WAIT, sys.argv[2], sys.argv[2:]); "
                  "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss; "
                  "open(sys.argv[1], 'w').write(str(peak)); sys.exit(code)")
        with open(os.devnull, "wb") as null:
            done = subprocess.run(["/usr/bin/python3", "-c", script, peak, PROGRAM,
                                   *map(str, words)], cwd=self.directory, stdout=null,
                                  stderr=subprocess.PIPE, timeout=300, check=False,
                                  env=clean_environment(XDG_CACHE_HOME=str(peak) + ".cache"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(peak.read_text()) * KIB

    def expect_peak(self, most, *words):
        with self.subTest(words[:3], options=words[3:]):
            self.assertLess(self.peak(*words) / 1e6, most)

    def test_a_million_bins_in_every_form(self):
        bins = ["histogram", "x.f32", "--bins", BINS]
        for options in ([], ["--json"], ["--plot", "x.svg"], ["--report", "x.html"],
                        ["--json", "--threads", 8, "--streams", 8], ["--verify", "--threads", 1],
                        ["--resume", "x.state", "--json"]):
            self.expect_peak(150, *bins, *options)
        self.expect_peak(150, "reduce", "x.f32", "--histogram", BINS, "--json")
        edges = ",".join(map(str, range(20000)))
        self.expect_peak(100, "histogram", "x.f32", f"--edges={edges}", "--json")

    def test_many_parts(self):
        more = self.make_parts(BINS, 200 if LIMITS >= 200 else 24)
        for options in (["--json"], ["--plot", "x.svg"], ["-o", "all.part"]):
            self.expect_peak(200, "merge", *more, *options)

    def test_limits_count_the_bins(self):
        done = self.run_limited("histogram", "x.f32", "--bins", BINS, "--memory", "16M")
        self.assertEqual(done.returncode, MEMORY, done.stderr)
        self.assertRegex(done.stderr.decode(), "hint: use --memory [0-9]+[KM] at least")
        enough = done.stderr.decode().split("--memory ")[1].split()[0]
        done = self.run_limited("histogram", "x.f32", "--bins", BINS, "--memory", enough)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_in_a_small_control_group(self):
        if os.geteuid() != 0:
            self.skipTest("control groups take root")
        root = Path("/sys/fs/cgroup")
        old = root / "memory"
        group = (old if old.is_dir() else root) / f"ooc-memory-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no control group: {error}")
        self.addCleanup(group.rmdir)
        limit = group / ("memory.limit_in_bytes" if old.is_dir() else "memory.max")
        if not limit.exists():
            self.skipTest("no memory controller")
        limit.write_text(str(96 * MIB))

        def join():
            (group / "cgroup.procs").write_text(str(os.getpid()))

        for options in ([], ["--json"], ["--memory", "16M"], ["--memory", "48M", "--json"]):
            with self.subTest(options):
                done = self.run_limited("histogram", "x.f32", "--bins", BINS, *options,
                                        preexec_fn=join)
                self.assertIn(done.returncode, {0, MEMORY}, done.stderr)


if __name__ == "__main__":
    main()
