#!/usr/bin/env python3
"""Signals at any time: the output is the complete old or new one, and no other file stays.

OOC_FAULT_KILLS=1000 kills 1000 runs of each kind instead of 60.
"""

import fcntl
import os
import random
import re
import signal
import time

from faults_support import (CHUNK, FIGURES, MOST_SECONDS, OLD, SANITIZED, FaultTest, main,
                            wait_until)

COMMANDS = ("convert", "matmul")
KILLS = int(os.environ.get("OOC_FAULT_KILLS", 10 if SANITIZED else 60))
TEMPORARY = re.compile(r"\.[yc]\.f32\.[a-z0-9]{8}\.ooc-tmp")


def is_let_go(path):
    """True if no process holds this temporary, so that the next run may remove it."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


class KillTest(FaultTest):
    def usual_seconds(self, work):
        began = time.monotonic()
        self.expect(work, {0})
        return time.monotonic() - began

    def kill_at_any_time(self, work):
        chance = random.Random(1)
        longest = 1.1 * self.usual_seconds(work)
        for _ in range(KILLS // len(COMMANDS)):
            process = self.start(*work.words)
            time.sleep(chance.uniform(0, longest))
            process.kill()
            process.communicate()
            FIGURES["kills"] += process.returncode == -signal.SIGKILL
            found = work.output.read_bytes()
            whole = found in (OLD, work.right)
            FIGURES["torn outputs"] += not whole
            self.assertTrue(whole, f"{len(found)} bytes")
            for name in work.strays():  # the next run removes it
                self.assertRegex(name, TEMPORARY)
                FIGURES["temporaries of killed runs"] += 1
            work.output.write_bytes(OLD)
        # The kernel ends requests of io_uring some milliseconds after their process was killed.
        self.assertTrue(wait_until(
            lambda: all(is_let_go(work.outputs / name) for name in work.strays())), work.strays())
        self.expect(work, {0})  # fails if a temporary is left

    def test_killed(self):
        FIGURES["torn outputs"] += 0
        for command in COMMANDS:
            with self.subTest(command):
                self.kill_at_any_time(self.work(command, count=40 * CHUNK))

    def test_killed_where_temporaries_have_names(self):
        for command in COMMANDS:
            with self.subTest(command):
                work = self.work(command, count=40 * CHUNK)
                self.kill_at_any_time(work.elsewhere(self.fault_fs(work.outputs)))


class EndingSignalTest(FaultTest):
    def test_at_any_time(self):
        chance = random.Random(2)
        for command in COMMANDS:
            work = self.work(command, count=40 * CHUNK)
            for number in (signal.SIGINT, signal.SIGTERM):
                for _ in range(KILLS // 6):
                    process = self.start(*work.words)
                    # During its start the program would not handle the signal yet.
                    time.sleep(chance.uniform(0.02, 0.05))
                    process.send_signal(number)
                    stdout, stderr = process.communicate(timeout=MOST_SECONDS)
                    with self.subTest(command, signal=number):
                        self.check(work, number, process.returncode, stdout, stderr)

    def check(self, work, number, returncode, stdout, stderr):
        FIGURES["ending signals"] += 1
        self.assertIn(returncode, {0, 128 + number, -number}, stderr)
        self.assertEqual(work.strays(), [])
        if returncode == 0:
            self.assertTrue(work.is_right(stdout))
            work.restore()
        elif work.output.read_bytes() == work.right:
            work.restore()  # the signal came after the work was done
        else:
            self.assertEqual(work.output.read_bytes(), OLD)
            self.assertEqual(stdout, "")

    def test_while_the_disk_stalls(self):
        """The program ends although its reads of a stalled disk do not return."""
        inputs = self.directory / "in"
        inputs.mkdir()
        with open(inputs / "disk", "wb") as file:
            file.truncate(8 << 20)
        for signals in (1, 2):
            faulty = self.fault_fs(inputs, stall_at=4 << 20)
            device = self.loop_device(faulty / "disk", "--read-only")
            stall = inputs / ".stall"
            stall.write_bytes(b"")  # discards the count of the previous round
            process = self.start("reduce", device, "--dtype", "u1", "--engine", "uring",
                                 "--direct", "yes", "--chunk", CHUNK, "--json")
            self.addCleanup(stall.unlink, missing_ok=True)  # before the cleanup of the process
            self.assertTrue(wait_until(lambda: stall.stat().st_size > 0), "no read is held up")
            began = time.monotonic()
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
                time.sleep(0.05)
            stdout, stderr = process.communicate(timeout=MOST_SECONDS)
            FIGURES[f"ms from {signals} SIGINT to the end"] = round(
                1000 * (time.monotonic() - began))
            self.assertEqual(process.returncode, 130, stderr)
            self.assertEqual(self.check_document(stdout)["result"],
                             {"partial": True, "covered_bytes": 0})
            self.assertEqual(stderr.count("ooc-run: error: interrupted"), 1, stderr)


class HarmlessSignalTest(FaultTest):
    def test_stopped_and_continued(self):
        for command in (*COMMANDS, "reduce", "histogram"):
            with self.subTest(command):
                work = self.work(command, count=200 * CHUNK)
                process = self.start(*work.words, "--chunk", CHUNK)
                while process.poll() is None:
                    process.send_signal(signal.SIGSTOP)
                    time.sleep(0.002)
                    process.send_signal(signal.SIGCONT)
                    time.sleep(0.001)
                    FIGURES["stops"] += 1
                stdout, stderr = process.communicate()
                self.assertEqual(process.returncode, 0, stderr)
                self.assertTrue(work.is_right(stdout))

    def test_nobody_reads_what_it_reports(self):
        work = self.work("convert", count=40 * CHUNK)
        process = self.start(*work.words, "--progress", "plain")
        process.stderr.close()
        process.stderr = None
        process.communicate(timeout=MOST_SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(work.is_right(""))
        self.assertEqual(work.strays(), [])


if __name__ == "__main__":
    main()
