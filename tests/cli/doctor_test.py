#!/usr/bin/env python3
"""Tests ooc-run doctor on this machine and under restrictions."""

import errno
import os
import resource
import shutil
import unittest

from cli_support import CliTest, main
from restrictions import limiting, refusing

ON_X86 = os.uname().machine == "x86_64"


class DoctorTest(CliTest):
    def examine(self, *words, code=0, **options):
        """Returns the checks by name."""
        done = self.run_program("doctor", *words, "--json", **options)
        self.assertEqual(done.returncode, code, done.stderr)
        document = self.check_document(done.stdout)
        self.assertIsNone(document["input"])
        result = document["result"]
        checks = {check["name"]: check for check in result["checks"]}
        self.assertEqual(len(result["checks"]),
                         result["ok"] + result["warnings"] + result["failures"])
        for check in result["checks"]:
            self.assertEqual(check["fix"] is None, check["state"] == "ok", check)
        return checks


class MachineTest(DoctorTest):
    def test_what_is_looked_at(self):
        checks = self.examine()
        for name in ("GPU", "processor", "BLAS", "memory", "huge pages", "container", "threads",
                     "open files", "kernel", "io_uring", "direct I/O", "ceilings"):
            self.assertIn(name, checks)
        self.assertEqual(checks["kernel"]["values"]["release"], os.uname().release)
        self.assertEqual(checks["processor"]["values"]["cores"], len(os.sched_getaffinity(0)))

    def test_for_people(self):
        text = self.succeed("doctor", env={"COLUMNS": "80"}).stdout
        self.assertRegex(text, r"(?m)^  (OK  |WARN)  GPU         ")
        self.assertRegex(text, r"(?m)^  (OK  |WARN)  io_uring    ")
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80)

    def test_leaves_nothing_behind(self):
        self.succeed("doctor", self.directory)
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_file_of_the_name_that_it_tries(self):
        path = self.write("ooc-doctor", b"mine")
        self.assertNotIn("not tried", self.examine(self.directory)["direct I/O"]["facts"])
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"mine")

    def test_who_draws_png(self):
        check = self.examine(env={"PATH": "/nowhere"})["pictures"]
        self.assertEqual((check["state"], check["values"]), ("warn", {"png": False}))
        self.assertIn("rsvg-convert: not found", check["facts"])
        self.assertEqual(check["fix"], "apt-get install librsvg2-bin")
        if shutil.which("rsvg-convert"):
            self.assertEqual(self.examine()["pictures"]["state"], "ok")

    def test_usage(self):
        self.check_error(2, "doctor", ".", ".")
        self.check_error(4, "doctor", "missing")
        self.check_error(3, "doctor", "/dev/null")


class PlaceTest(DoctorTest):
    @unittest.skipUnless(os.path.isdir("/dev/shm"), "no tmpfs")
    def test_memory_needs_no_direct_reads(self):
        check = self.examine("/dev/shm")["direct I/O"]
        self.assertEqual(check["state"], "ok")
        self.assertIn("tmpfs", check["facts"])
        self.assertFalse(check["values"]["direct"])

    def test_a_file(self):
        path = self.write("x.f32", bytes(8192))
        self.assertEqual(self.examine(path)["direct I/O"]["values"]["path"], path)

    def test_a_directory_in_which_nothing_can_be_tried(self):
        check = self.examine("/proc")["direct I/O"]
        self.assertEqual(check["state"], "warn")
        self.assertIn("not tried", check["facts"])

    def test_the_cache(self):
        home = {"XDG_CACHE_HOME": str(self.directory)}
        check = self.examine(env=home)["ceilings"]
        self.assertEqual(check["state"], "warn")
        self.assertIn("ooc-run bench", check["fix"])
        self.assertTrue(check["values"]["path"].startswith(str(self.directory)))
        self.assertEqual(os.listdir(self.directory), [])
        check = self.examine(env={"XDG_CACHE_HOME": "/dev/null/nowhere"})["ceilings"]
        self.assertFalse(check["values"]["writable"])


class RestrictedTest(DoctorTest):
    @unittest.skipUnless(ON_X86, "numbers of system calls are those of x86-64")
    def test_io_uring(self):
        check = self.examine(preexec_fn=refusing("io_uring_setup", errno.EPERM))["io_uring"]
        self.assertEqual(check["state"], "warn")
        self.assertRegex(check["facts"], r"not available: .*\(EPERM\): .*reading threads")
        self.assertTrue(check["values"]["seccomp_filter"])
        self.assertRegex(check["fix"], "seccomp|sysctl")

    def test_locked_memory(self):
        checks = self.examine(preexec_fn=limiting(resource.RLIMIT_MEMLOCK, 65536))
        if checks["io_uring"]["state"] != "ok":
            self.skipTest("no io_uring")
        check = checks["memlock"]
        self.assertEqual(check["values"]["limit_bytes"], 65536)
        self.assertIn("65.5 KB", check["facts"])
        if os.geteuid() != 0:  # root has no limit
            self.assertEqual(check["state"], "warn")
            self.assertIn("registered buffers", check["facts"])

    def test_the_limit_that_binds_is_the_soft_one(self):
        hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        checks = self.examine(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, hard)))
        if checks["io_uring"]["state"] != "ok":
            self.skipTest("no io_uring")
        self.assertEqual(checks["memlock"]["values"]["limit_bytes"], 65536)

    def test_too_little_address_space_for_the_stacks_of_threads(self):
        for limit in range(16 << 20, 256 << 20, 4 << 20):
            done = self.run_program("doctor", "--json",
                                    preexec_fn=limiting(resource.RLIMIT_AS, limit))
            if done.stdout:  # the first limit with which it starts
                break
        else:
            self.skipTest("a sanitizer takes more")
        self.assertEqual(done.returncode, 7, done.stderr)
        check, = (check for check in self.check_document(done.stdout)["result"]["checks"]
                  if check["name"] == "threads")
        self.assertEqual(check["state"], "fail")
        self.assertRegex(check["facts"], r"\d more by ulimit -v, of \d+ that a pass starts")

    def test_few_open_files(self):
        limit = limiting(resource.RLIMIT_NOFILE, 12)
        checks = self.examine(preexec_fn=limit, code=4)
        self.assertEqual(checks["open files"]["state"], "fail")
        done = self.run_program("doctor", preexec_fn=limit)
        self.assertRegex(done.stderr, "^ooc-run: error: open files: up to 12\n")
        self.assertRegex(done.stdout, r"(?m)^  FAIL  open files  ")

    def test_a_gpu_that_is_wanted(self):
        if self.examine()["GPU"]["values"]["gpus"]:
            self.examine("--device", "cuda")
            return
        checks = self.examine("--device", "cuda", code=8)
        self.assertEqual(checks["GPU"]["state"], "fail")
        self.assertNotEqual(self.examine("--device", "cpu")["GPU"]["state"], "fail")


if __name__ == "__main__":
    main()
