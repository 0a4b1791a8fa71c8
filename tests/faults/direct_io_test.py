#!/usr/bin/env python3
"""Checks that all file systems give the same answer, for every size and offset of the data."""

import itertools
import json
import os

from faults_support import (CHUNK, FIGURES, SANITIZED, FaultTest, evict, main, run_command,
                            side_by_side)

import numpy as np

SIZES = (0, 1, 511, 512, 513, 4095, 4096, 4097, CHUNK - 1, CHUNK, CHUNK + 1)
OFFSETS = (0, 1, 512, 5000)
WAYS = (["--direct", "auto", "--engine", "uring"], ["--direct", "no", "--engine", "threads"])


class DirectIoTest(FaultTest):
    def every_case(self, place, direct=None):
        """Reads and converts all sizes at all offsets.

        `direct`: whether direct reads are expected on this file system; None if they may be.
        """
        random = np.random.default_rng(3)
        for offset in OFFSETS:
            for size in SIZES:
                data = random.integers(0, 256, offset + size).astype("u1")
                data.tofile(place / f"{offset}-{size}.u8")
        os.sync()
        ways = WAYS[:1] if SANITIZED else WAYS
        cases = list(itertools.product(OFFSETS, SIZES, ways))
        complaints = [text for text in side_by_side(lambda case: self.one(place, *case), cases)
                      if text]
        self.assertFalse(complaints, "\n".join(complaints))
        large = place / f"0-{CHUNK}.u8"
        evict(large)
        if direct is not None:
            run = self.json("reduce", large, "--threads", 4)["run"]
            self.assertEqual(run["direct"], direct, run["reasons"])

    def one(self, place, offset, size, way):
        """Returns what is wrong with this case, or None."""
        source = place / f"{offset}-{size}.u8"
        data = np.fromfile(source, "u1")[offset:]
        options = ["--offset", offset, "--chunk", CHUNK, *way]
        what = f"{place.name} offset {offset} size {size} {way}: "
        evict(source)
        done = run_command(["histogram", source, "--json", *options])
        FIGURES["combinations"] += 1
        if done is None or done.returncode != 0:
            return what + (done.stderr if done else "it hangs")
        counts = json.loads(done.stdout)["result"]["counts"]
        if counts != (np.bincount(data, minlength=256).tolist() if size else None):
            FIGURES["wrong answers"] += 1
            return what + "wrong counts"
        target = place / f"{offset}-{size}-{WAYS.index(way)}.f32"
        done = run_command(["convert", source, "-o", target, *options])
        FIGURES["combinations"] += 1
        if done is None or done.returncode != 0:
            return what + (done.stderr if done else "it hangs")
        if target.read_bytes() != data.astype("f4").tobytes():
            FIGURES["wrong answers"] += 1
            return what + "a wrong file"
        target.unlink()
        return None

    def test_ext4(self):
        self.every_case(self.file_system("ext4"), direct=True)

    def test_ext4_with_large_sectors(self):
        self.every_case(self.file_system("ext4", device_options=["--sector-size", "4096"]),
                        direct=True)

    def test_ext4_that_journals_data(self):
        self.every_case(self.file_system("ext4", options="data=journal"), direct=False)

    def test_xfs(self):
        self.every_case(self.file_system("xfs"), direct=True)

    def test_btrfs(self):
        self.every_case(self.file_system("btrfs"))

    def test_btrfs_that_compresses(self):
        self.every_case(self.file_system("btrfs", options="compress-force=zstd"))

    def test_tmpfs(self):
        self.every_case(self.mount("tmpfs", "none"), direct=False)

    def test_overlay(self):
        below = self.mount("tmpfs", "none")
        for name in ("lower", "upper", "work"):
            (below / name).mkdir()
        self.every_case(self.mount("overlay", "none", f"lowerdir={below}/lower,"
                                   f"upperdir={below}/upper,workdir={below}/work"))

    def test_overlay_on_a_disk(self):
        below = self.file_system("ext4")
        for name in ("lower", "upper", "work"):
            (below / name).mkdir()
        self.every_case(self.mount("overlay", "none", f"lowerdir={below}/lower,"
                                   f"upperdir={below}/upper,workdir={below}/work"))

    def test_fuse(self):
        beneath = self.new_path("beneath")
        beneath.mkdir()
        self.every_case(self.fault_fs(beneath))


if __name__ == "__main__":
    main()
