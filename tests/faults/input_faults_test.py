#!/usr/bin/env python3
"""Inputs that change while they are read, that are special files, or that are outputs too.

OOC_FAULT_CHANGES=100 changes 100 inputs in each way instead of 4.
"""

import json
import os
import random
import re
import socket

from faults_support import FIGURES, MOST_SECONDS, OLD, FaultTest, main, wait_until

import numpy as np

HUGE = 4 << 40  # bytes of a sparse file, too large to be read during a test
CHANGES = int(os.environ.get("OOC_FAULT_CHANGES", 4))
BAD_INPUT, INPUT, CHANGED, OUTPUT, USAGE, WRONG = 3, 4, 5, 6, 2, 10


class ChangedInputTest(FaultTest):
    def test_cut_off(self):
        chance = random.Random(4)
        ways = (["--direct", "yes"], ["--direct", "no"], ["--engine", "threads", "--direct", "yes"])
        for command in ("reduce", "histogram"):
            for way in ways:
                for end in (0, chance.randrange(1 << 30)):
                    with self.subTest(command, way=way, end=end):
                        with open(self.path("x.f32"), "wb") as file:
                            file.truncate(HUGE)
                        process = self.started(command, self.path("x.f32"), *way)
                        os.truncate(self.path("x.f32"), end)
                        stdout, stderr = process.communicate(timeout=MOST_SECONDS)
                        FIGURES["inputs cut off"] += 1
                        self.assertEqual((process.returncode, stdout), (CHANGED, ""), stderr)
                        self.assertRegex(
                            stderr, rf"x.f32: shrank while it was read, from {HUGE} to {end} bytes")


class FlippedBitTest(FaultTest):
    """A flipped bit without an I/O error. Only --checksum and --verify can detect it."""

    def setUp(self):
        super().setUp()
        data = np.random.default_rng(3).normal(size=500_000).astype("f4")
        beneath = self.directory / "beneath"
        beneath.mkdir()
        data.tofile(beneath / "x.f32")
        self.faulty = self.fault_fs(beneath, flip_at=4 * 333_333) / "x.f32"

    def test_between_two_passes(self):
        FIGURES["flipped bits"] += 1
        done = self.refuse(CHANGED, "x.f32|the input changed", "histogram", self.faulty,
                           "--checksum", hint="xxh128sum")
        self.assertEqual(len(set(re.findall("[0-9a-f]{32}", done.stderr))), 2, done.stderr)

    def test_between_two_runs(self):
        FIGURES["flipped bits"] += 1
        runs = [self.json("reduce", self.faulty, "--checksum")["input"]["checksum_xxh3_128"]
                for _ in range(3)]
        self.assertNotEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    def test_between_a_run_and_its_check(self):
        for options in ([], ["--exact"]):
            FIGURES["flipped bits"] += 1
            self.refuse(WRONG, "x.f32: sum is .*, but .* when it is computed another way", "reduce",
                        self.faulty, "--verify", *options, hint="run it again")


def grow(path, chance):
    with open(path, "ab") as file:
        file.write(bytes(chance.randrange(1, 5000)))


def overwrite(path, chance):
    with open(path, "r+b") as file:
        file.seek(chance.randrange(path.stat().st_size))
        file.write(b"x")


def cut_off(path, chance):
    os.truncate(path, chance.randrange(path.stat().st_size))


def replace(path, chance):
    other = path.with_name("other")
    if chance.randrange(2):
        other.write_bytes(bytes(4))
        other.rename(path)
    else:
        path.rename(other)


class ChangeAmidReadsTest(FaultTest):
    """Changes one of two inputs while a read of the other hangs, so in the middle of the pass."""

    def setUp(self):
        super().setUp()
        self.place = self.directory / "place"
        self.place.mkdir()
        self.faulty = self.fault_fs(self.place, stall_at=1 << 20)
        self.data = np.arange(1 << 20, dtype="f4") % 1000
        self.data.tofile(self.place / "hangs.f32")
        self.chance = random.Random(5)

    def change(self, act):
        """Runs `reduce` and calls `act` on an input in the middle of the pass.

        Returns the exit code, stdout, stderr, and the sum of the unchanged data.
        """
        path, stall = self.directory / "x.f32", self.place / ".stall"
        (self.data[:self.chance.randrange(1, len(self.data))]).tofile(path)
        stall.touch()
        inputs = [path, self.faulty / "hangs.f32"]
        self.chance.shuffle(inputs)
        way = self.chance.choice([["--direct", "yes"], ["--direct", "no"],
                                  ["--engine", "threads"]])
        right = self.data.sum(dtype="f8") + np.fromfile(path, "f4").sum(dtype="f8")
        process = self.start("reduce", *inputs, *way, "--json", "--chunk", 65536)
        self.assertTrue(wait_until(lambda: stall.stat().st_size != 0 or process.poll()))
        act(path, self.chance)
        stall.unlink()
        stdout, stderr = process.communicate(timeout=MOST_SECONDS)
        return process.returncode, stdout, stderr, right

    def test_contents(self):
        for act, name in ((grow, "grown"), (overwrite, "overwritten"), (cut_off, "cut short")):
            for number in range(CHANGES):
                with self.subTest(name, number=number):
                    code, stdout, stderr, _ = self.change(act)
                    FIGURES[f"inputs {name}"] += 1
                    FIGURES[f"inputs {name} that were noticed"] += code == CHANGED
                    self.assertEqual((code, stdout), (CHANGED, ""), stderr)
                    self.assertIn("x.f32: ", stderr)

    def test_name(self):
        """The run reads the file that it opened, whatever has its name now, and says so."""
        for number in range(CHANGES):
            with self.subTest(number=number):
                code, stdout, stderr, right = self.change(replace)
                self.assertEqual(code, 0, stderr)
                said = "x.f32: renamed, replaced or given other attributes" in stdout + stderr
                FIGURES["inputs renamed or replaced"] += 1
                FIGURES["inputs renamed or replaced that were noticed"] += said
                self.assertTrue(said, stdout + stderr)
                self.assertEqual(json.loads(stdout)["result"]["sum"], right)


class SpecialFileTest(FaultTest):
    def test_what_is_no_file(self):
        os.mkdir(self.path("folder"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("socket"))
            for name in ("folder", "socket", "/dev/zero", "/dev/tty",
                         "/proc/self/status", "/proc/version", "/sys/kernel/mm/ksm/run"):
                if not os.path.lexists(os.path.join(self.directory, name)):
                    continue
                for words in (["reduce", name], ["histogram", name, "--json"],
                              ["convert", name, "-o", "y.f32"],
                              ["matmul", name, name, "-o", "y.f32", "--dtype", "f4",
                               "--shape-a", "1x1", "--shape-b", "1x1"]):
                    with self.subTest(words):
                        FIGURES["special files"] += 1
                        self.refuse(BAD_INPUT, os.path.basename(name), *words)
        self.assertNotIn("y.f32", os.listdir(self.directory))

    def test_pipes(self):
        """Commands that do not read from beginning to end refuse a pipe before its writer comes."""
        os.mkfifo(self.path("fifo"))
        os.symlink("fifo", self.path("link.f32"))
        for name in ("fifo", "link.f32"):
            for words in (["convert", name, "-o", "y.f32"], ["info", name],
                          ["matmul", name, name, "-o", "y.f32", "--dtype", "f4",
                           "--shape-a", "1x1", "--shape-b", "1x1"]):
                with self.subTest(words):
                    FIGURES["special files"] += 1
                    self.refuse(2, name + ": this command cannot read a pipe", *words)
        self.assertNotIn("y.f32", os.listdir(self.directory))

    def test_links(self):
        os.symlink("loop", self.path("loop"))
        self.refuse(INPUT, r"loop: .*\(ELOOP\)", "reduce", "loop")
        self.write("x.u8", bytes(range(100)))
        os.symlink("x.u8", self.path("link.u8"))
        self.assertEqual(self.json("reduce", "link.u8")["result"]["sum"], 4950)

    def test_a_block_device(self):
        data = os.urandom(3 << 20)
        device = self.loop_device(self.write("disk", data))
        for direct in ("yes", "no"):
            document = self.json("reduce", device, "--dtype", "u1", "--direct", direct)
            self.assertEqual(document["result"]["sum"], sum(data))
        document = self.json("reduce", device, "--dtype", "u1", "--offset", 1001, "--count", 70000)
        self.assertEqual(document["result"]["sum"], sum(data[1001:71001]))


class OutputIsInputTest(FaultTest):
    """An output that is an input, under any name, is refused, and the input is unchanged."""

    def names_of(self, path):
        place = path.parent
        os.link(path, place / "hard")
        os.symlink(path.name, place / "soft")
        (self.directory / "elsewhere").symlink_to(place)
        yield from (path, place / "hard", place / "soft", self.directory / "elsewhere" / path.name,
                    place / ".." / place.name / path.name)

    def test_refused(self):
        for command in ("convert", "matmul"):
            work = self.work(command)
            for victim in (word for word in work.words[1:3] if word != "-o"):
                before = victim.read_bytes()
                for name in self.names_of(victim):
                    with self.subTest(command, name=name.name):
                        words = [name if word == work.output else word for word in work.words]
                        words += ["--to", "u2"] if command == "convert" else []
                        FIGURES["outputs that are inputs"] += 1
                        self.refuse(USAGE, "is the input", *words)
                        self.assertEqual(victim.read_bytes(), before)
                for name in ("hard", "soft"):
                    (work.inputs / name).unlink()
                (self.directory / "elsewhere").unlink()

    def test_a_file_system_that_is_only_read(self):
        disk = self.mount("tmpfs", "none", "size=16M")
        work = self.work("convert", outputs=disk)
        self.command("mount", "-o", "remount,ro", disk)
        self.refuse(OUTPUT, r"y.f32: create failed: .*\(EROFS\)", *work.words, hint="directory")
        self.assertEqual(work.output.read_bytes(), OLD)


if __name__ == "__main__":
    main()
