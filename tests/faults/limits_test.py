#!/usr/bin/env python3
"""Runs with little memory, few threads or descriptors, or forbidden system calls."""

import errno
import json
import os
import resource
import subprocess
from pathlib import Path

from faults_support import CHUNK, FIGURES, PROGRAM, FaultTest, main
from restrictions import limiting, refusing

COMMANDS = ("reduce", "histogram", "convert", "matmul")
INPUT, OUTPUT, MEMORY, DEVICE = 4, 6, 7, 8
MIB = 1 << 20


class ForbiddenCallTest(FaultTest):
    """The run gives the same answer in another way, and reports which way and why."""

    def setUp(self):
        super().setUp()
        if os.uname().machine != "x86_64":
            self.skipTest("numbers of system calls are those of x86-64")

    def reasons(self, *options, prefix=(), preexec_fn=None):
        work = self.work("reduce")
        work.evict()
        done = self.expect(work, {0}, "--chunk", 4 * CHUNK, "--threads", 4, *options,
                           prefix=prefix, preexec_fn=preexec_fn)
        run = json.loads(done.stdout)["run"]
        return run, "\n".join(run["reasons"])

    def test_io_uring(self):
        for error in ("EPERM", "ENOSYS", "ENOMEM", "EMFILE"):
            run, reasons = self.reasons(
                preexec_fn=refusing("io_uring_setup", getattr(errno, error)))
            self.assertEqual(run["engine"], "threads")
            self.assertRegex(reasons, rf"io_uring is not available: .*\({error}\)")
            self.expect(self.work("convert"), {0}, preexec_fn=refusing(
                "io_uring_setup", getattr(errno, error)))
            self.work("reduce").evict()
            plan = subprocess.run(
                [PROGRAM, "reduce", self.path("in/x.f32"), "--threads", "4", "--explain", "--json"],
                capture_output=True, text=True, check=True,
                preexec_fn=refusing("io_uring_setup", getattr(errno, error)))
            self.assertRegex("\n".join(json.loads(plan.stdout)["result"]["plan"]["reasons"]),
                             rf"io_uring is not available: .*\({error}\)")
            self.refuse(2, rf"io_uring is not available: .*\({error}\)", "reduce",
                        self.path("in/x.f32"), "--engine", "uring",
                        preexec_fn=refusing("io_uring_setup", getattr(errno, error)))

    def test_registering_with_io_uring(self):
        run, reasons = self.reasons(preexec_fn=refusing("io_uring_register", errno.EPERM))
        self.assertEqual(run["engine"], "uring")
        self.assertRegex(reasons, r"io_uring works without registered buffers: .*\(EPERM\)")

    def test_locking_memory(self):
        self.need("capsh")
        if os.geteuid() != 0:
            self.skipTest("dropping a capability takes root")
        run, reasons = self.reasons(
            preexec_fn=limiting(resource.RLIMIT_MEMLOCK, CHUNK),
            prefix=["capsh", "--drop=cap_ipc_lock", "--", "-c", 'exec "$0" "$@"'])
        self.assertEqual(run["engine"], "uring")
        self.assertRegex(reasons, r"without registered buffers: .*\(ENOMEM\).*ulimit -l")

    def test_what_only_some_kernels_have(self):
        for name, error in (("statx", "ENOSYS"), ("cachestat", "ENOSYS"), ("clone3", "ENOSYS"),
                            ("fallocate", "EOPNOTSUPP"), ("renameat2", "EINVAL")):
            for command in COMMANDS:
                with self.subTest(name, command=command):
                    self.expect(self.work(command), {0},
                                preexec_fn=refusing(name, getattr(errno, error)))


class WalkingTest(FaultTest):
    def walk(self, unit, limits, codes, limiter, figure=int, **work_options):
        """Tries the limits in rising order. With the last one the run must succeed."""
        hangs = FIGURES["hangs"]
        for command in COMMANDS:
            work = self.work(command, **work_options)
            # If OpenBLAS is what does not fit, this is an error of the device.
            allowed = codes | {DEVICE} if command == "matmul" else codes
            enough = None
            for limit in limits:
                self.assertLess(FIGURES["hangs"], hangs + 2, "each costs time")
                with self.subTest(command, limit=figure(limit)):
                    FIGURES["limits tried"] += 1
                    done = self.expect(work, allowed, preexec_fn=limiter(limit))
                    if done.returncode == 0:
                        enough = enough or figure(limit)
                    else:
                        enough = None
            self.assertIsNotNone(enough, f"{command} with {figure(limits[-1])} {unit}")
            FIGURES[f"{unit} are enough for {command}"] = enough


class LimitTest(WalkingTest):
    def test_address_space(self):
        """Tries limits from one in which the program just starts to one that suffices."""
        def limiter(limit):
            return limiting(resource.RLIMIT_AS, limit)

        limits = [int(8 * MIB * 1.12 ** step) for step in range(60)]
        while subprocess.run([PROGRAM, "--version"], capture_output=True, check=False,
                             preexec_fn=limiter(limits[0])).returncode != 0:
            limits.pop(0)
        self.walk("MiB of address space", limits, {0, MEMORY}, limiter, lambda limit: limit // MIB)

    def test_descriptors(self):
        self.walk("descriptors", range(4, 20), {0, INPUT, OUTPUT, MEMORY},
                  lambda limit: limiting(resource.RLIMIT_NOFILE, limit))


class ControlGroupTest(WalkingTest):
    """Control groups of version 1 and 2."""

    def group(self, controller, setting_v1, setting_v2):
        """Creates a control group. Returns a function that sets its limit and returns a function
        by which a process joins it."""
        if os.geteuid() != 0:
            self.skipTest("control groups take root")
        root = Path("/sys/fs/cgroup")
        old, setting = root / controller, setting_v1
        if not old.is_dir():
            old, setting = root, setting_v2
        place = old / f"ooc-faults-{os.getpid()}"
        try:
            place.mkdir()
        except OSError as error:
            self.skipTest(f"no control group: {error}")
        self.addCleanup(place.rmdir)
        if not (place / setting).exists():
            self.skipTest(f"{old} has no {controller} controller")

        def limiter(limit):
            (place / setting).write_text(str(limit))
            return lambda: (place / "cgroup.procs").write_text(str(os.getpid()))
        return limiter

    def test_processes(self):
        limiter = self.group("pids", "pids.max", "pids.max")
        # The threads of io_uring count, too. The last limit has room for all of them.
        self.walk("threads", [*range(1, 12), 40], {0, MEMORY}, limiter)

    def test_time_of_cores(self):
        limiter = self.group("cpu", "cpu.cfs_quota_us", "cpu.max")
        work = self.work("reduce")
        done = self.expect(work, {0}, "--direct", "no", preexec_fn=limiter("100000"))
        self.assertEqual(json.loads(done.stdout)["run"]["streams"], 1)

    def test_memory(self):
        limiter = self.group("memory", "memory.limit_in_bytes", "memory.max")
        # OpenBLAS alone takes the better part of 16 MiB.
        self.walk("MiB of memory", [MIB << power for power in range(4, 9)], {0, MEMORY}, limiter,
                  lambda limit: limit // MIB, count=8 * MIB)


if __name__ == "__main__":
    main()
