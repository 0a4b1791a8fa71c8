#!/usr/bin/env python3
"""Tests that the program has the protections of cmake/hardening.cmake: hardening_test.py OOC_RUN"""

import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, PROGRAM], capture_output=True, text=True,
                          check=True).stdout


class HardeningTest(unittest.TestCase):
    def has(self, pattern, *options):
        self.assertTrue(re.search(pattern, readelf(*options), re.M), f"no {pattern} in {options}")

    def test_lies_at_another_address_each_time(self):
        self.has(r"Type: +DYN", "--file-header")
        self.has(r"\(FLAGS_1\).*\bPIE\b", "--dynamic")

    def test_tables_of_the_loader_are_read_only(self):
        self.has(r"\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b", "--dynamic")
        self.has(r"GNU_RELRO", "--program-headers")

    def test_nothing_is_writable_and_executable(self):
        self.has(r"GNU_STACK .* RW +0x", "--program-headers")
        self.assertNotRegex(readelf("--program-headers"), r"(?m)^ +\w+ .* RWE +0x")

    def test_loads_no_library_from_where_somebody_could_put_one(self):
        for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", readelf("--dynamic")):
            for place in path.split(":"):
                self.assertRegex(place, "^/", "relative to where it is started")

    def test_stack_is_guarded(self):
        self.has(r"\b__stack_chk_fail\b", "--dyn-syms")

    def test_calls_of_the_c_library_are_checked(self):
        self.has(r"\b__(?!stack)\w+_chk\b", "--dyn-syms")


if __name__ == "__main__":
    unittest.main()
