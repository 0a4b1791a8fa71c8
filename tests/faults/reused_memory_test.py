#!/usr/bin/env python3
"""Checks that reads that hang during a shutdown do not write into memory afterwards."""

import re
import subprocess
import sys
import threading

from faults_support import FIGURES, MOST_SECONDS, FaultTest, main

REUSED_MEMORY = sys.argv.pop(1)
READS = 4 << 20  # bytes that are in flight when each design shuts down


class ReusedMemoryTest(FaultTest):
    def measure(self):
        """Yields, for each design, its name, its outcome as text, the number of bytes that were
        overwritten (None if it was not run), and whether it ended too early."""
        inputs = self.directory / "in"
        inputs.mkdir()
        (inputs / "x.u8").write_bytes(b"\xa3" * (3 * READS))
        faulty = self.fault_fs(inputs, stall_at=1 << 20)
        stall = inputs / ".stall"
        # A process cannot be killed while one of its reads hangs.
        deadline = threading.Timer(6 * MOST_SECONDS, lambda: stall.unlink(missing_ok=True))
        deadline.start()
        self.addCleanup(deadline.cancel)
        done = subprocess.run([REUSED_MEMORY, faulty / "x.u8", stall], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            name, _, outcome = line.partition(": ")
            match = re.fullmatch(r"(\d+) (early|late)", outcome)
            yield name, outcome, match and int(match[1]), match and match[2] == "early"

    def test_nothing_is_overwritten(self):
        skipped = []
        for name, outcome, overwritten, early in self.measure():
            naive = name.startswith("naive")
            if overwritten is None:
                skipped.append(f"{name}: {outcome}")
                continue
            with self.subTest(name):
                if naive:
                    self.assertTrue(early, "the reads did not hang")
                    self.assertEqual(overwritten, READS)
                else:
                    self.assertFalse(early, "it did not wait for its reads")
                    self.assertEqual(overwritten, 0)
            FIGURES["shutdowns amid reads"] += not naive
            FIGURES["bytes overwritten"] += 0 if naive else overwritten
            FIGURES["bytes overwritten by naive designs"] += overwritten if naive else 0
        if skipped:
            self.skipTest("; ".join(skipped))


if __name__ == "__main__":
    main()
