#!/usr/bin/env python3
"""Tests that a system call which fails for ever, as if it should be repeated, ends the run."""

import concurrent.futures
import re
import subprocess
import time

from faults_support import (CHUNK, FIGURES, PROGRAM, FaultTest, clean_environment, main,
                            wait_until)

INPUT, OUTPUT = 4, 6  # exit codes


class EndlessRepeatsTest(FaultTest):
    def test_calls_that_only_repeat(self):
        self.need("strace")
        work = self.work("convert")
        pipe = f"exec 0< <(cat {work.inputs}/x.u16); exec \"$@\""
        endless = [("io_uring_enter", "EAGAIN", OUTPUT, work.words),
                   ("io_uring_enter", "EINTR", OUTPUT, work.words),
                   ("fallocate", "EINTR", OUTPUT, work.words),
                   ("flock", "EINTR", 0, work.words),  # as where there are no locks
                   ("poll", "EINTR", INPUT, ["reduce", "-", "--dtype", "u2"])]

        def run(case):
            name, error, code, words = case
            command = ["bash", "-c", pipe, "_", "strace", "-f", "-o", "/dev/null", "-e",
                       f"trace={name}", "-e", f"inject={name}:error={error}", PROGRAM, *words]
            began = time.monotonic()
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                                  env=clean_environment(), timeout=120, check=False)
            FIGURES["endless repeats"] += 1
            return name, error, code, done, time.monotonic() - began
        with concurrent.futures.ThreadPoolExecutor(len(endless)) as pool:
            for name, error, code, done, seconds in pool.map(run, endless):
                with self.subTest(call=name, error=error):
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertGreater(seconds, 9)
                    if code != 0:
                        self.assertIn(error, done.stderr)

    def test_a_ring_that_fails_while_a_disk_stalls(self):
        """Reads that hang are waited for once by a ring that fails, not again on the way out."""
        self.need("strace")
        # A second wait always lasts ten seconds more; a busy machine delays some runs as much.
        times = []
        while len(times) < 8 and (not times or times[-1] > 19):
            times.append(self.seconds_of_a_failing_ring(self.directory / str(len(times))))
        self.assertLess(min(times), 19, "it repeats for so many seconds")
        self.assertGreater(min(times), 9)
        FIGURES["endless repeats"] += 1

    def seconds_of_a_failing_ring(self, beneath):
        """Returns how long a run repeats calls of a ring that fails while a read hangs."""
        beneath.mkdir()
        (beneath / "x.u8").write_bytes(bytes(64 * CHUNK))
        stall = beneath / ".stall"
        stall.touch()
        faulty = self.fault_fs(beneath, stall_at=CHUNK) / "x.u8"
        log = beneath / "calls"
        process = subprocess.Popen(
            ["strace", "-f", "-ttt", "-o", log, "-e", "trace=io_uring_enter", "-e",
             "inject=io_uring_enter:error=EAGAIN:when=8+", PROGRAM, "reduce", faulty, "--engine",
             "uring", "--chunk", str(CHUNK)],
            stderr=subprocess.PIPE, text=True, env=clean_environment())
        self.assertTrue(wait_until(lambda: log.exists() and "EAGAIN" in log.read_text()))
        self.assertTrue(wait_until(lambda: time.time() - log.stat().st_mtime > 2),
                        "it repeats for ever")
        failures = re.findall(r"^\d+ +(\d+\.\d+) io_uring_enter.*EAGAIN", log.read_text(), re.M)
        self.assertGreater(stall.stat().st_size, 0, "no read hangs")
        stall.unlink()
        _, said = process.communicate(timeout=120)
        self.assertRegex(said, "error: .*io_uring_enter.*EAGAIN")
        return float(failures[-1]) - float(failures[0])


if __name__ == "__main__":
    main()
