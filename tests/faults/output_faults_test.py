#!/usr/bin/env python3
"""Outputs on failing disks: whatever happens, the old file stays, and no other file is left."""

import errno
import os
import subprocess
import time

from faults_support import FIGURES, OLD, FaultTest, main, run_command

COMMANDS = ("convert", "matmul")
WAYS = (["--engine", "uring"], ["--engine", "threads"])
OUTPUT = 6


class FaultyDiskTest(FaultTest):
    """Uses a file system that supports neither unnamed files nor reserving space."""

    def each_way(self, codes, faults, what=None, ways=WAYS):
        for command in COMMANDS:
            for way in ways:
                with self.subTest(command, way=way, **faults):
                    work = self.work(command)
                    work = work.elsewhere(self.fault_fs(work.outputs, **faults))
                    self.expect(work, codes, *way, what=what)
                    FIGURES["output faults"] += 1

    def test_no_room_for_all_of_it(self):
        for room in (0, 4096, 100_000, 300_000, 359_999):
            self.each_way({OUTPUT}, {"room": room}, r"(c|y).f32: write failed .*\(ENOSPC\)")

    def test_short_writes(self):
        for seed in range(1, 6):
            # With io_uring, FUSE turns short writes into errors.
            self.each_way({0}, {"short_writes": seed}, ways=[["--engine", "threads"]])

    def test_what_could_not_be_synchronised_is_not_published(self):
        self.need_fault_fs()
        self.each_way({OUTPUT}, {"fsync_errors": 1}, r"(c|y).f32: fsync failed: .*\(EIO\)")
        log = (self.directory / "fault_fs.log").read_text()
        self.assertEqual(log.count("fsync\n"), len(COMMANDS) * len(WAYS))  # no fsync is repeated


class PublishingTest(FaultTest):
    """File systems that refuse some of the ways in which a finished file gets its name."""

    def convert(self, outputs, *options):
        work = self.work("convert")
        work = work.elsewhere(outputs)
        words = [word for word in work.words if word != "--force"]
        FIGURES["ways refused"] += 1
        return work, run_command([*words, *options])

    def test_a_way_that_is_left(self):
        """As rclone mount and sshfs have it: no links, and renames only over other files."""
        for error in (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EINVAL, errno.ENOSYS,
                      errno.EIO):
            for faults in ({"link_error": error}, {"new_name_error": error},
                           {"link_error": error, "new_name_error": error}):
                with self.subTest(**faults):
                    outputs = self.new_path("out")
                    outputs.mkdir()
                    work, done = self.convert(self.fault_fs(outputs, **faults))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(work.output.read_bytes(), work.right)
                    self.assertEqual(work.strays(), [])
                    self.assertEqual("an empty file" in done.stderr, len(faults) == 2)

    def test_no_way_is_left(self):
        outputs = self.new_path("out")
        outputs.mkdir()
        faulty = self.fault_fs(outputs, rename_error=errno.EIO, link_error=errno.EPERM)
        for options in ([], ["--force"], ["--resume", self.path("state")]):
            work, done = self.convert(faulty, *options)
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertRegex(done.stderr, "rename failed: .*EIO")
            self.assertIn("tried with an empty file", done.stderr)
            self.assertEqual(os.listdir(outputs), [])
        done = run_command(["doctor", faulty])
        self.assertRegex(" ".join(done.stdout.split()), "rename failed: .*EIO.*an empty file")


class FullDiskTest(FaultTest):
    def fill(self, disk, leaving):
        with open(disk / "other", "wb") as file:
            for attempt in range(10, 0, -1):
                room = os.statvfs(disk)
                try:
                    os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - leaving)
                    return
                except OSError as error:
                    # A file system whose image is there may still write its tables.
                    if error.errno != errno.ENOSPC or attempt == 1:
                        raise
                    time.sleep(0.2)

    def refuse_output(self, disk, what, *options, hint=None):
        """Checks that a run without room for its output of 64 MiB leaves the old one unchanged."""
        with open(self.path("x.u8"), "wb") as file:
            file.truncate(16 << 20)
        target = disk / "y.f32"
        target.write_bytes(OLD)
        subprocess.run(["sync", "--file-system", disk], check=True)
        before = sorted(os.listdir(disk))
        self.refuse(OUTPUT, what, "convert", self.path("x.u8"), "-o", target, "--force", *options,
                    hint=hint)
        self.assertEqual(target.read_bytes(), OLD)
        self.assertEqual(sorted(os.listdir(disk)), before)
        FIGURES["full disks"] += 1

    def test_too_small(self):
        for kind in ("ext4", "xfs", "btrfs"):
            with self.subTest(kind):
                disk = self.file_system(kind)
                self.fill(disk, leaving=48 << 20)
                self.refuse_output(disk, r"y.f32: .*\(ENOSPC\)")

    def test_in_memory(self):
        self.refuse_output(self.mount("tmpfs", "none", "size=48M"), r"y.f32: .*\(ENOSPC\)")

    def test_no_inodes(self):
        """There is room for the bytes of the output, but not for another file."""
        self.refuse_output(self.mount("tmpfs", "none", "size=200M,nr_inodes=2"),
                           r"y.f32: .*\(ENOSPC\)", hint="no inodes left .*df -i")

    def test_less_than_it_claims(self):
        """Space can be reserved but not written: the disk's image is on a full file system."""
        for kind in ("ext4", "xfs"):
            for way in WAYS:
                with self.subTest(kind, way=way):
                    thin = self.mount("tmpfs", "none", "size=200M")
                    with open(thin / "image", "wb") as file:
                        file.truncate(400 << 20)
                    device = self.loop_device(thin / "image")
                    self.make_file_system(kind, device)
                    disk = self.mount(kind, device)
                    self.fill(thin, leaving=24 << 20)
                    self.refuse_output(disk, r"y.f32: .*\((ENOSPC|EIO)\)", *way)


if __name__ == "__main__":
    main()
