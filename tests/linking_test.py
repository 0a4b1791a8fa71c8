#!/usr/bin/env python3
"""Tests how programs link the installed libraries: linking_test.py BUILD_DIRECTORY COMPILER

Builds tests/linking against the shared and the static one, by CMake and by pkg-config."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, COMPILER = sys.argv[1:]
sys.argv[1:] = []
PROJECT = Path(__file__).resolve().parent / "linking"


def run(*command, fails=False, **options):
    """Runs a command and returns all that it prints."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class LinkingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(work.cleanup)
        cls.work = Path(work.name)
        run("cmake", "--install", BUILD, "--prefix", cls.work / "first")
        cls.prefix = cls.work / "prefix"  # not where it was installed
        (cls.work / "first").rename(cls.prefix)
        cls.library = next(cls.prefix.rglob("libooc.so.*.*.*"))
        cls.headers = {path: path.read_text() for path in cls.prefix.rglob("*.hpp")}
        cls.version = re.search(r"libooc\.so\.(.*)", cls.library.name).group(1)
        cls.soname = "libooc.so." + cls.version.rpartition(".")[0]

    def configure(self, *options, hidden=(), fails=False):
        """Configures the user's project where the packages of `hidden` cannot be found."""
        shutil.rmtree(self.work / "build", ignore_errors=True)
        return run("cmake", "-S", PROJECT, "-B", self.work / "build",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}",
                   *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in hidden), *options,
                   fails=fails)

    def check(self, program, *libraries):
        """Runs a program that links just those of libooc and liburing."""
        needed = re.findall(r"\(NEEDED\).*\[(lib(?:ooc|uring).*)\]",
                            run("readelf", "--dynamic", program))
        self.assertEqual(sorted(needed), sorted(libraries))
        self.assertEqual(run(program, env={**os.environ, **self.finds()}).strip(), self.version)

    def finds(self):
        return {"LD_LIBRARY_PATH": str(self.library.parent)}

    def pkg_config(self, *options):
        path = str(next(self.prefix.rglob("ooc.pc")).parent)
        return run("pkg-config", *options, "ooc",
                   env={**os.environ, "PKG_CONFIG_PATH": path}).split()

    def compile(self, *options, output="program"):
        run(COMPILER, "-std=c++20", "-O1", PROJECT / "program.cpp", *options, "-o",
            self.work / output)
        return self.work / output

    def test_cmake_finds_the_shared_library_without_its_dependencies(self):
        self.configure("-DCMAKE_CXX_VISIBILITY_PRESET=hidden",
                       hidden=("CCCL", "CUDAToolkit", "PkgConfig"))
        run("cmake", "--build", self.work / "build")
        self.check(self.work / "build/program", self.soname)

    def test_cmake_finds_the_static_library(self):
        self.configure("-Dcomponents=static", hidden=("CCCL",))
        run("cmake", "--build", self.work / "build")
        self.check(self.work / "build/program", "liburing.so.2")

    def test_operators_and_the_library_share_a_cuda_runtime(self):
        """Each copy of the runtime knows the errors of its own launches only."""
        with_cuda = "set(ooc_CUDA ON)" in next(self.prefix.rglob("ooc-config.cmake")).read_text()
        self.configure("-Dcomponents=operators")
        run("cmake", "--build", self.work / "build")
        self.check(self.work / "build/program", "liburing.so.2" if with_cuda else self.soname)

    def test_cmake_says_what_a_component_lacks(self):
        for options, hidden, text in (
                (["-Dcomponents=operators"], ["CCCL"], "-DCCCL_DIR="),
                (["-Dcomponents=static"], ["PkgConfig"], "liburing-dev"),
                (["-Dcomponents=shared"], [], "no such component"),
                (["-Dcomponents_later=static"], [], "is the shared library since"),
        ):
            with self.subTest(options=options, hidden=hidden):
                message = " ".join(self.configure(*options, hidden=hidden, fails=True).split())
                self.assertIn("Reason given by package: component", message)
                self.assertIn(text, message)

    def test_pkg_config_links_the_shared_library(self):
        self.check(self.compile("-fvisibility=hidden", *self.pkg_config("--cflags", "--libs")),
                   self.soname)
        self.assertEqual(self.pkg_config("--modversion"), [self.version])

    def test_pkg_config_links_the_static_library(self):
        options = self.pkg_config("--static", "--cflags", "--libs")
        self.assertIn("-luring", options)
        static = ["-l:libooc.a" if option == "-looc" else option for option in options]
        self.check(self.compile(*static), "liburing.so.2")

    def test_headers_and_library_of_two_versions_are_refused(self):
        """As if a program were compiled with the headers of the next minor version."""
        other = self.work / "include/ooc/version.hpp"
        other.parent.mkdir(parents=True, exist_ok=True)
        major, minor, patch = self.version.split(".")
        other.write_text(re.sub(r"(OOC_VERSION_MINOR) \d+", rf"\1 {int(minor) + 1}",
                                (self.prefix / "include/ooc/version.hpp").read_text()))
        program = self.compile("-I", self.work / "include", *self.pkg_config("--cflags", "--libs"))
        said = run(program, env={**os.environ, **self.finds()}, fails=True)
        self.assertIn(f"headers of libooc {major}.{int(minor) + 1}.{patch}, and runs with libooc "
                      f"{self.version}", said)
        self.assertIn("hint: ", said)


if __name__ == "__main__":
    unittest.main()
