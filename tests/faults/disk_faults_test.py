#!/usr/bin/env python3
"""Inputs on disks that fail, in the block layer and in file systems."""

import fcntl
import os
import re
import struct
import subprocess
import threading
import time

from faults_support import (CHUNK, FIGURES, MOST_SECONDS, OLD, SANITIZED, FaultTest, evict,
                            main, wait_until)

import numpy as np

SHUT_DOWN = 0x8004587d  # XFS_IOC_GOINGDOWN, which ext4 has too: all later I/O fails
WITHOUT_FLUSH = 2
HUGE = 4 << 40  # bytes of a sparse file, too large to be read during a test


def offset_in(message):
    return int(re.search(r" at byte (\d+): ", message).group(1))


class ReadErrorTest(FaultTest):
    def test_a_disk_that_ends_early(self):
        """Reads of a loop device fail with EIO beyond the end of its truncated file."""
        size = 16 * CHUNK + 4096
        image = self.directory / "disk"
        image.write_bytes(np.random.default_rng(1).bytes(size))
        device = self.loop_device(image)
        for bad in (16 * CHUNK, 15 * CHUNK + 4096, 8 * CHUNK, 8 * CHUNK - 4096, 4096, 0):
            os.truncate(image, bad)
            for way in (["uring", "yes"], ["threads", "yes"], ["uring", "no"], ["threads", "no"]):
                with self.subTest(bad=bad, way=way):
                    evict(device)
                    done = self.refuse(4, r"/dev/loop\d+: read failed at byte \d+: .*\(EIO\)",
                                       "reduce", device, "--dtype", "u1", "--chunk", CHUNK,
                                       "--engine", way[0], "--direct", way[1])
                    FIGURES["read errors"] += 1
                    if way[1] == "yes":  # the page cache reads in units of its own
                        self.assertGreaterEqual(offset_in(done.stderr), bad // CHUNK * CHUNK)

    def test_a_bad_place_in_a_file(self):
        for command in ("reduce", "histogram", "convert", "matmul"):
            work = self.work(command)
            size = work.words[1].stat().st_size
            for bad in (0, 5, size // 2, size - 1):
                faulty = work.reading(self.fault_fs(work.inputs, read_error_at=bad))
                for options in (["--engine", "uring"], ["--engine", "threads"],
                                ["--direct", "no"]):
                    with self.subTest(command, bad=bad, options=options):
                        done = self.expect(faulty, {4}, *options, "--chunk", 4 * CHUNK,
                                           what=r"read failed at byte \d+: .*\(EIO\)")
                        FIGURES["read errors"] += 1
                        self.assertLessEqual(offset_in(done.stderr), bad)
                        self.assertGreater(offset_in(done.stderr) + 4 * CHUNK, bad)

    def test_data_that_do_not_match_their_checksum(self):
        data = np.random.default_rng(2).bytes(8 << 20)
        self.need("mkfs.btrfs", mounts=True)
        disk = self.file_system("btrfs")
        (disk / "x.u8").write_bytes(data)
        evict(disk / "x.u8")
        with open(next(self.directory.glob("disk*")), "r+b") as file:
            file.seek(self.find(file, data[5 << 20:][:64]))
            file.write(bytes([data[5 << 20] ^ 1]))
        evict(disk / "x.u8")
        for options in (["--direct", "yes"], ["--direct", "no"]):
            done = self.refuse(4, r"x.u8: read failed at byte \d+: .*\(EIO\)", "reduce",
                               disk / "x.u8", *options)
            self.assertLessEqual(offset_in(done.stderr), 5 << 20)
            FIGURES["read errors"] += 1

    def find(self, file, pattern):
        """Returns the offset of `pattern`, which begins a block, in a sparse file."""
        end = file.seek(0, os.SEEK_END)
        place = 0
        while place < end:
            try:
                place = file.seek(place, os.SEEK_DATA)
            except OSError:
                break
            block = file.read(4 << 20)
            at = block.find(pattern)
            if at >= 0:
                return place + at
            place += len(block)
        return self.fail("the data are not on the disk")


class ShutDownTest(FaultTest):
    def shut_down(self, place):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", WITHOUT_FLUSH))
        except OSError as error:
            self.skipTest(f"cannot be shut down: {error}")
        finally:
            os.close(descriptor)

    def test_a_file_system_that_is_shut_down_while_it_is_read(self):
        for kind in ("ext4", "xfs"):
            for way in (["--direct", "yes"], ["--direct", "no", "--engine", "threads"]):
                with self.subTest(kind, way=way):
                    disk = self.file_system(kind)
                    with open(disk / "x.f32", "wb") as file:
                        file.truncate(HUGE)
                    process = self.started("reduce", disk / "x.f32", *way)
                    self.shut_down(disk)
                    stdout, stderr = process.communicate(timeout=MOST_SECONDS)
                    self.assertEqual((process.returncode, stdout), (4, ""), stderr)
                    self.assertRegex(stderr, r"error: .*x.f32: read failed at byte \d+: ")
                    FIGURES["shut-downs"] += 1

    def test_a_file_system_that_is_shut_down_while_it_is_written(self):
        for kind in ("ext4", "xfs"):
            with self.subTest(kind):
                disk = self.file_system(kind)
                device = self.command("findmnt", "--noheadings", "--output", "SOURCE", disk)
                target = disk / "y.u8"
                target.write_bytes(OLD)
                os.sync()
                with open(self.path("x.f64"), "wb") as file:
                    file.truncate(2 << 30)
                process = self.start("convert", self.path("x.f64"), "-o", target, "--force")
                self.assertTrue(wait_until(  # it is allocated
                    lambda: os.statvfs(disk).f_bfree * 4096 < 300 << 20))
                self.shut_down(disk)
                stdout, stderr = process.communicate(timeout=MOST_SECONDS)
                self.assertEqual((process.returncode, stdout), (6, ""), stderr)
                self.command("umount", disk)
                self.command("mount", device, disk)
                self.assertEqual(set(os.listdir(disk)) - {"lost+found"}, {"y.u8"})
                self.assertEqual(target.read_bytes(), OLD)
                FIGURES["shut-downs"] += 1


class StallTest(FaultTest):
    def test_a_disk_that_stalls_for_a_while(self):
        for command in ("reduce", "convert"):
            for options in (["--engine", "uring"], ["--engine", "threads"]):
                with self.subTest(command, options=options):
                    work = self.work(command)
                    work = work.reading(self.fault_fs(work.inputs, stall_at=4 * CHUNK))
                    stall = work.inputs / ".stall"
                    stall.touch()
                    process = self.start(*work.words, *options, "--chunk", CHUNK)
                    time.sleep(1)
                    self.assertIsNone(process.poll())
                    stall.unlink()
                    stdout, stderr = process.communicate(timeout=MOST_SECONDS)
                    self.assertEqual(process.returncode, 0, stderr)
                    self.assertTrue(work.is_right(stdout))
                    FIGURES["stalls"] += 1

    def without_leaks(self):
        """Returns options by which ThreadSanitizer ignores the threads that are left behind."""
        return os.environ.get("TSAN_OPTIONS", "") + " report_thread_leaks=0"

    def test_a_disk_that_stalls_for_ever(self):
        for command in ("reduce", "histogram", "convert", "matmul"):
            for options in (["--engine", "uring"], ["--engine", "threads"], ["--direct", "no"]):
                with self.subTest(command, options=options):
                    work = self.work(command)
                    stall = work.inputs / ".stall"
                    stall.touch()
                    work = work.reading(self.fault_fs(work.inputs, stall_at=4 * CHUNK))
                    process = self.start(*work.words, *options, "--chunk", CHUNK,
                                         "--io-timeout", 0.5, TSAN_OPTIONS=self.without_leaks())
                    # The kernel keeps a process that has ended for as long as one of its threads is
                    # inside a read.
                    deadline = threading.Timer(MOST_SECONDS, stall.unlink)
                    deadline.start()
                    lines = iter(process.stderr.readline, "")
                    said = next((line for line in lines if "error:" in line), "")
                    deadline.cancel()
                    self.assertTrue(stall.exists(), "it hangs")
                    stall.unlink()
                    stdout, stderr = process.communicate(timeout=MOST_SECONDS)
                    self.assertRegex(said, "error: the disk has answered nothing for ")
                    done = subprocess.CompletedProcess([], process.returncode, stdout,
                                                       said + stderr)
                    self.assertIsNone(work.complaint(done, {9}))
                    FIGURES["stalls"] += 1


    def test_a_disk_that_stalls_before_and_after_the_work(self):
        """--io-timeout holds from the first call to the last: the opening of an input, a glance at
        its type, and the output."""
        cases = [("reduce", {"stall_open": 1}, ["reduce", "@/x.dat"]),
                 ("type", {"stall_at": 0}, ["reduce", "@/x.dat"]),
                 ("convert", {"stall_open": 1}, ["convert", "@/x.f32", "--to", "f8", "-o", "y"]),
                 ("output", {"stall_write_at": 0},
                  ["convert", self.path("x.f32"), "--to", "f8", "-o", "@/y"]),
                 ("info", {"stall_open": 1}, ["info", "@/x.f32"]),
                 ("info of a type", {"stall_at": 0}, ["info", "@/x.dat"]),
                 ("gen", {"stall_write_at": 0}, ["gen", "--size", "8M", "-o", "@/y"]),
                 ("merge", {"stall_open": 1}, ["merge", "@/x.dat"]),
                 ("bench", {"stall_open": 1}, ["bench", "@/x.f32", "--runs", 1])]
        beneath = self.directory / "beneath"
        beneath.mkdir()
        self.write("x.f32", bytes(4 * CHUNK))
        for name in ("x.dat", "x.f32"):
            (beneath / name).write_bytes(bytes(4 * CHUNK))
        for name, faults, words in cases:
            with self.subTest(name):
                stall = beneath / ".stall"
                stall.touch()
                faulty = self.fault_fs(beneath, **faults)
                words = [str(word).replace("@", str(faulty)) for word in words]
                process = self.start(*words, "--io-timeout", 0.5,
                                     TSAN_OPTIONS=self.without_leaks())
                deadline = threading.Timer(MOST_SECONDS, stall.unlink)
                deadline.start()
                said = next((line for line in iter(process.stderr.readline, "")
                             if "error:" in line), "")
                deadline.cancel()
                self.assertTrue(stall.exists(), "it hangs")
                stall.unlink()
                stdout, _ = process.communicate(timeout=MOST_SECONDS)
                self.assertRegex(said, "error: the disk has answered nothing for ")
                self.assertEqual((process.returncode, stdout), (9, ""))
                FIGURES["stalls"] += 1

    def test_a_disk_that_stalls_in_the_check(self):
        """The disk stalls after the answer is computed: --io-timeout limits --verify, too."""
        size = 1 << 24
        beneath = self.directory / "beneath"
        beneath.mkdir()
        (beneath / "x.u8").write_bytes(bytes(size))
        stall = beneath / ".stall"
        stall.touch()
        faulty = self.fault_fs(beneath, stall_after=size + size // 2) / "x.u8"
        process = self.start("reduce", faulty, "--verify", "--io-timeout", 0.5, "--device", "cpu",
                             "--direct", "no", "--engine", "threads", "--streams", 1,
                             TSAN_OPTIONS=self.without_leaks())
        self.assertTrue(wait_until(lambda: stall.stat().st_size > 0), "the check does not read on")
        deadline = threading.Timer(MOST_SECONDS, stall.unlink)
        deadline.start()
        said = process.stderr.readline()
        while said and "error:" not in said:
            said = process.stderr.readline()
        deadline.cancel()
        self.assertTrue(stall.exists(), "it hangs")
        stall.unlink()
        stdout, _ = process.communicate(timeout=MOST_SECONDS)
        self.assertRegex(said, "error: the disk has answered nothing for ")
        self.assertEqual((process.returncode, stdout), (9, ""))
        FIGURES["stalls"] += 1


class ShortReadTest(FaultTest):
    def storm(self, *faults):
        """Checks that the answer is right whatever the reads return."""
        for command in ("reduce", "histogram", "convert", "matmul"):
            plain = self.work(command, count=50 * CHUNK + 999)
            for seed in range(1, 3 if SANITIZED else 6):
                work = plain.reading(self.fault_fs(plain.inputs, **dict.fromkeys(faults, seed)))
                for options in (["--engine", "uring"], ["--engine", "threads"],
                                ["--direct", "no", "--threads", 1]):
                    with self.subTest(command, seed=seed, options=options):
                        self.expect(work, {0}, *options, "--chunk", 4 * CHUNK)
                        FIGURES["storms"] += 1

    def test_short_reads(self):
        self.storm("short_reads")

    def test_reads_that_are_interrupted(self):
        self.storm("interrupted")

    def test_both(self):
        self.storm("short_reads", "interrupted")


if __name__ == "__main__":
    main()
