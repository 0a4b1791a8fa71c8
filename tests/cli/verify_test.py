#!/usr/bin/env python3
"""Tests that --verify of histogram and reduce accepts right answers and rejects wrong ones."""

import os
import signal
import stat
import time

from cli_support import CliTest, main, messages_of

import numpy as np

RANDOM = np.random.default_rng(8)
COMMANDS = ("histogram", "reduce")
SIZE = 1 << 26  # bytes; the check takes some tenths of a second on one thread
HUGE = 4 << 40  # bytes of a sparse file, too many to read during a test


class VerifiedTest(CliTest):
    def check(self, *words):
        """Checks that the answer is verified and equals the one without --verify."""
        for command in COMMANDS:
            with self.subTest(command, words=words):
                result = self.json(command, *words, "--verify")["result"]
                self.assertIs(result.pop("verified"), True)
                plain = self.json(command, *words)["result"]
                self.assertIsNone(plain.pop("verified"))
                self.assertEqual(result, plain)

    def test_every_type_in_both_byte_orders(self):
        for code in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "bf16", "f4", "f8"):
            bits = RANDOM.bytes(100_000)
            self.write("x.bin", np.abs(RANDOM.normal(0, 9, 12_500)) if code == "f8" else bits)
            for order, more in (("<", ["--nan", "omit"]), (">", ["--exact"])):
                for words in (["reduce", *more], ["histogram", "--range", "-5:500"]):
                    document = self.json(*words, "x.bin", "--dtype", order + code, "--verify")
                    self.assertIs(document["result"]["verified"], True)

    def test_ranges_from_the_data(self):
        self.write("x.f32", RANDOM.normal(5, 1, 70_001).astype("f4"))
        self.check("x.f32")
        result = self.json("histogram", "x.f32", "--log-bins", "--count", 9, "--verify")["result"]
        self.assertIs(result["verified"], True)

    def test_parts_and_several_files(self):
        data = RANDOM.normal(size=70_001).astype("f4")
        for name, part in zip(("a.f32", "b.f32", "c.f32"), np.split(data, [5, 5])):
            self.write(name, b"xyz" + part.tobytes())
        files = ["a.f32", "b.f32", "c.f32"]
        self.check(*files, "--offset", 3)
        self.check(*files, "--offset", 3, "--count", 66_000)

    def test_npy(self):
        np.save(self.path("x.npy"), RANDOM.integers(-9, 9, (100, 30)).astype(">i2"))
        self.check("x.npy")

    def test_no_elements(self):
        self.write("empty.f32", b"")
        self.check("empty.f32")

    def test_what_people_see(self):
        self.write("x.u8", b"abc")
        for command in COMMANDS:
            text = self.succeed(command, "x.u8", "--verify", "--checksum").stdout
            self.assertRegex(text, r"\n  checksum  xxh3-128 .*\n\n"
                                   r"  verified  yes: each value by itself, on the CPU, .*s\n\n")
            self.assertNotIn("verified", self.succeed(command, "x.u8").stdout)

    def test_it_is_not_for_files_that_are_written(self):
        self.check_error(2, "convert", "x.u8", "-o", "y.u16", "--verify")

    def test_rows_of_a_product_that_cannot_be_checked(self):
        """Rows of a product that are NaN are counted as unchecked."""
        a = np.ones((6, 6), "f4")
        for rows, verified in ((2, True), (6, None)):
            a[:rows] = np.nan
            np.save(self.path("a.npy"), a)
            np.save(self.path("b.npy"), np.eye(6, dtype="f4"))
            words = ("matmul", "a.npy", "b.npy", "-o", "c.npy", "--verify", "--force")
            result = self.json(*words)["result"]
            self.assertEqual((result["verified"], result["unchecked_rows"]), (verified, rows))
        self.assertIn("  verified  no row could be: ", self.succeed(*words).stdout)


class NotVerifiedTest(CliTest):
    """Tests signals and changes of the file during the check of the answer."""

    WAY = ("--device", "cpu", "--direct", "no", "--engine", "threads", "--streams", "1")

    def bytes_read(self, process):
        try:
            with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
                return int(file.readline().split()[1])
        except OSError:  # the process has ended
            return 0

    def run_and_in_the_check(self, act, code, *words):
        """Calls `act` with the process and the file at the beginning of the check. If the process
        ended before, tries again."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            path = self.write("x.u8", b"")
            os.truncate(path, SIZE)
            process = self.start(*words, "x.u8", "--verify", "--json", *self.WAY)
            while process.poll() is None and self.bytes_read(process) < SIZE + (1 << 20):
                pass
            self.stop(process)
            act(process, path)
            process.send_signal(signal.SIGCONT)
            stdout, stderr = process.communicate(timeout=200)
            if process.returncode == code:
                break
        self.assertEqual(process.returncode, code, stderr)
        return process, stdout, stderr

    def overwrite(self, path):
        with open(path, "r+b") as file:
            file.seek(SIZE - 1)
            file.write(b"\x07")

    def overwrite_unnoticed(self, _, path):
        """Changes the file, restores its mtime, and changes its mode to explain the new ctime."""
        status = os.stat(path)
        self.overwrite(path)
        os.chmod(path, status.st_mode ^ stat.S_IXUSR)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def test_another_answer(self):
        """An answer that differs from that of the check is rejected with exit code 10."""
        for command in ("reduce", "histogram"):
            process, stdout, stderr = self.run_and_in_the_check(self.overwrite_unnoticed, 10,
                                                                command)
            self.assertEqual(stdout, "")
            self.check_message(process, messages_of(stderr))

    def test_a_file_that_changed_is_no_wrong_answer(self):
        for command in COMMANDS:
            _, stdout, stderr = self.run_and_in_the_check(lambda _, path: self.overwrite(path), 5,
                                                          command)
            self.assertEqual(stdout, "")
            self.assertIn("x.u8: changed while it was read", stderr)

    def test_interrupted_in_the_check(self):
        """An interrupted check still prints the complete answer, as not verified."""
        def interrupt(process, _):
            process.send_signal(signal.SIGINT)

        process, stdout, stderr = self.run_and_in_the_check(interrupt, 130, "reduce")
        result = self.check_document(stdout)["result"]
        self.assertIsNone(result["verified"])
        self.assertNotIn("partial", result)
        self.assertEqual(result["count"], SIZE)
        self.check_message(process, messages_of(stderr))

    def test_interrupted_before_the_check(self):
        with open(self.path("huge.f32"), "wb") as file:
            file.truncate(HUGE)
        process, line = self.at_work("reduce", "huge.f32", "--verify", "--json")
        self.assertIn(", pass 1 of 2, ", line)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        result = self.check_document(stdout)["result"]
        self.assertIsNone(result["verified"])
        self.assertIs(result["partial"], True)


if __name__ == "__main__":
    main()
