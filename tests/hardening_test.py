#!/usr/bin/env python3
"""Tests that the program and the shared library have the protections of cmake/hardening.cmake.

hardening_test.py OOC_RUN LIBRARY"""

import re
import subprocess
import sys
import unittest

PROGRAM, LIBRARY = sys.argv[1:3]
del sys.argv[1:3]


def readelf(file, *options):
    return subprocess.run(["readelf", "--wide", *options, file], capture_output=True, text=True,
                          check=True).stdout


class HardeningTest(unittest.TestCase):
    def has(self, pattern, *options, files=(PROGRAM, LIBRARY)):
        for file in files:
            self.assertTrue(re.search(pattern, readelf(file, *options), re.M),
                            f"no {pattern} in {options} of {file}")

    def test_lies_at_another_address_each_time(self):
        self.has(r"Type: +DYN", "--file-header")
        self.has(r"\(FLAGS_1\).*\bPIE\b", "--dynamic", files=(PROGRAM,))

    def test_tables_of_the_loader_are_read_only(self):
        self.has(r"\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b", "--dynamic")
        self.has(r"GNU_RELRO", "--program-headers")

    def test_nothing_is_writable_and_executable(self):
        self.has(r"GNU_STACK .* RW +0x", "--program-headers")
        for file in PROGRAM, LIBRARY:
            self.assertNotRegex(readelf(file, "--program-headers"), r"(?m)^ +\w+ .* RWE +0x")

    def test_loads_no_library_from_where_somebody_could_put_one(self):
        for file in PROGRAM, LIBRARY:
            for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", readelf(file, "--dynamic")):
                for place in path.split(":"):
                    self.assertRegex(place, "^/", "relative to where it is started")

    def test_stack_is_guarded(self):
        self.has(r"\b__stack_chk_fail\b", "--dyn-syms")

    def test_calls_of_the_c_library_are_checked(self):
        self.has(r"\b__(?!stack)\w+_chk\b", "--dyn-syms")


if __name__ == "__main__":
    unittest.main()
