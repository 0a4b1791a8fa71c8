#!/usr/bin/env python3
"""Checks the output of conversions that fail or are stopped."""

import os
import resource
import signal
import time
import unittest

from cli_support import CliTest, main

import numpy as np


class OutputTest(CliTest):
    """A conversion that fails leaves no new file, and no old file is lost."""

    def setUp(self):
        super().setUp()
        self.data = np.arange(1000, dtype="f4")
        self.write("x.f32", self.data)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_existing_files_are_replaced_only_by_force(self):
        self.write("y.f64", b"precious")
        self.check_error(6, "convert", "x.f32", "-o", "y.f64")
        self.assertEqual(self.content("y.f64"), b"precious")
        self.succeed("convert", "x.f32", "-o", "y.f64", "--force")
        self.assertEqual(self.content("y.f64"), self.data.astype("f8").tobytes())

    def test_the_input_is_no_output(self):
        os.link(self.path("x.f32"), self.path("hard.f32"))
        os.symlink("x.f32", self.path("soft.f32"))
        for name in ("x.f32", "hard.f32", "soft.f32", "./x.f32"):
            with self.subTest(name=name):
                self.check_error(2, "convert", "x.f32", "-o", name, "--to", "f4", "--force")
        self.assertEqual(self.content("x.f32"), self.data.tobytes())

    def test_what_a_link_leads_to_is_written(self):
        os.mkdir(self.path("disk"))
        os.symlink("disk/y.bin", self.path("link.f16"))
        self.succeed("convert", "x.f32", "-o", "link.f16")
        self.check_error(6, "convert", "x.f32", "-o", "link.f16")
        self.write("disk/y.bin", b"old")
        self.succeed("convert", "x.f32", "-o", "link.f16", "--force")
        self.assertTrue(os.path.islink(self.path("link.f16")))
        self.assertEqual(self.content("disk/y.bin"), self.data.astype("f2").tobytes())
        self.assertEqual(os.listdir(self.path("disk")), ["y.bin"])

    def test_links_that_lead_to_no_file(self):
        for name, target in (("loop", "loop"), ("folder", ".."), ("lost", "missing/y")):
            os.symlink(target, self.path(name))
            self.check_error(6, "convert", "x.f32", "-o", name, "--to", "f2", "--force")
            self.assertTrue(os.path.islink(self.path(name)))

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.path("folder"))
        for name in ("missing/y.f16", "folder", "/proc/y.f16"):
            with self.subTest(name=name):
                self.check_error(6, "convert", "x.f32", "-o", name, "--to", "f2", "--force")
        self.assertEqual(sorted(os.listdir(self.directory)), ["folder", "x.f32"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_directory_that_may_not_be_written(self):
        os.mkdir(self.path("folder"), 0o555)
        self.check_error(6, "convert", "x.f32", "-o", "folder/y.f16")

    def test_a_limit_on_file_sizes(self):
        self.write("y.f64", b"precious")
        self.check_error(6, "convert", "x.f32", "-o", "y.f64", "--force",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(self.content("y.f64"), b"precious")
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.f32", "y.f64"])

    def test_no_room(self):
        with open(self.path("huge.u8"), "wb") as file:
            file.truncate(4 << 40)
        self.refuse(6, r"y.f64: .*\((ENOSPC|EFBIG)\)", "convert", "huge.u8", "-o", "y.f64")
        self.assertEqual(sorted(os.listdir(self.directory)), ["huge.u8", "x.f32"])


class StoppedTest(CliTest):
    """An old output survives however a run is stopped."""

    def setUp(self):
        super().setUp()
        with open(self.path("x.f64"), "wb") as file:
            file.truncate(16 << 30)  # takes seconds to read
        self.write("y.u8", b"precious")

    def convert_for_seconds(self):
        """Starts the program and waits until it has made its output, which is unnamed or has a
        temporary name."""
        process = self.start("convert", "x.f64", "-o", "y.u8", "--force")
        self.assertTrue(self.wait_for_open(process, 2 << 30))  # which is set at the start
        return process

    def check_that_all_is_as_it_was(self):
        with open(self.path("y.u8"), "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.f64", "y.u8"])

    def test_interrupted(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.convert_for_seconds()
            began = time.monotonic()
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - began, 30)
            self.assertEqual((process.returncode, stdout), (code, ""), stderr)
            self.assertRegex(stderr, "ooc-run: error: interrupted; (nothing was written|ended "
                                     "without a result)\n")
            self.check_that_all_is_as_it_was()

    def test_killed(self):
        process = self.convert_for_seconds()
        process.kill()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        # File systems without unnamed files keep the temporary, which has a recognisable name.
        for name in os.listdir(self.directory):
            if name not in ("x.f64", "y.u8"):
                self.assertRegex(name, r"^\.y\.u8\.[a-z0-9]{8}\.ooc-tmp$")
        self.write(".y.u8.abcdefgh.ooc-tmp", b"left over")
        self.write("z.f32", bytes(8))
        self.succeed("convert", "z.f32", "-o", "y.u8", "--force")
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.f64", "y.u8", "z.f32"])

    def test_an_input_that_is_cut_off_while_it_is_read(self):
        process = self.convert_for_seconds()
        os.truncate(self.path("x.f64"), 1 << 20)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stdout), (5, ""), stderr)
        self.assertIn("ooc-run: error: x.f64: ", stderr)
        self.check_that_all_is_as_it_was()


if __name__ == "__main__":
    main()
