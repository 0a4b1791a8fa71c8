#!/usr/bin/env python3
"""Tests how programs link the installed libraries: linking_test.py BUILD_DIRECTORY COMPILER

Builds tests/linking against the shared and the static one, by CMake and by pkg-config, and compares
what the shared library exports with what the installed headers declare."""

import collections
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


class Symbols:
    """The functions of libooc in a file, without inline ones and those of one source file."""

    def __init__(self, *options):
        listing = run("nm", "--demangle", "--defined-only", "--extern-only", *options)
        self.types = set(re.findall(r" typeinfo for ooc::(?:detail::)?(\w+)$", listing, re.M))
        self.functions = collections.Counter()  # with the number of overloads
        self.members = set()                    # as (class, name)
        for name in set(re.findall(r" T ooc::(?:detail::)?(.*)$", listing, re.M)):
            *owners, function = re.sub(r"\[.*?\]", "", name).partition("(")[0].split("::")
            if owners:
                self.members.add((owners[0], "::".join([*owners[1:], function])))
            else:
                self.functions[function] += 1


def declared_functions(header):
    """Returns the names of functions that a header declares and the library defines."""
    found, begins = [], True
    for line in header.splitlines():
        line = line.removeprefix("[[nodiscard]] ")
        other = re.match(r"\W|(inline|constexpr|template|requires|class|struct|using)\b", line)
        if begins and not other:
            found += re.findall(r"^[^(]*?(\w+)\(", line)
        begins = not line or line.startswith("//") or line.endswith((";", "{", "}"))
    return found


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
        # Those of libooc: that of ooc::mpi is of a library of its own.
        cls.headers = {path: path.read_text() for path in cls.prefix.rglob("*.hpp")
                       if path.name != "mpi.hpp"}
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

    def test_cmake_finds_it_twice_with_other_components(self):
        """The last call adds what it asks for; no program links both libraries."""
        for first, later, libraries in (("", "static", ["liburing.so.2"]),
                                        ("static", "operators", ["liburing.so.2"]),
                                        ("operators", "operators;static", ["liburing.so.2"])):
            with self.subTest(first=first, later=later):
                self.configure(f"-Dcomponents={first}", f"-Dcomponents_later={later}")
                run("cmake", "--build", self.work / "build")
                self.check(self.work / "build/program", *libraries)

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
                (["-Dcomponents=mpi"], ["MPI"], "MPI"),
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

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc")
    def test_pkg_config_has_options_that_nvcc_knows(self):
        for options in (["--cflags", "--libs"], ["--static", "--cflags", "--libs"]):
            run("nvcc", "-std=c++20", "-x", "cu", "--dryrun", PROJECT / "program.cpp",
                *self.pkg_config(*options), "-o", self.work / "program")

    def test_headers_and_library_of_two_versions_are_refused(self):
        """As if a program were compiled with the headers of the next minor version."""
        other = self.work / "include/ooc/detail/base/version.hpp"
        other.parent.mkdir(parents=True, exist_ok=True)
        major, minor, patch = self.version.split(".")
        other.write_text(re.sub(r"(OOC_VERSION_MINOR) \d+", rf"\1 {int(minor) + 1}",
                                (self.prefix / "include/ooc/detail/base/version.hpp").read_text()))
        program = self.compile("-I", self.work / "include", *self.pkg_config("--cflags", "--libs"))
        said = run(program, env={**os.environ, **self.finds()}, fails=True)
        self.assertIn(f"headers of libooc {major}.{int(minor) + 1}.{patch}, and runs with libooc "
                      f"{self.version}", said)
        self.assertIn("hint: ", said)

    def test_the_shared_library_exports_what_the_headers_declare_and_no_more(self):
        exported = Symbols("--dynamic", self.library)
        all_members = Symbols(next(self.prefix.rglob("libooc.a"))).members
        functions, classes, templates = collections.Counter(), {}, set()
        for text in self.headers.values():
            templates.update(re.findall(r"^template <.*>\n(?:class|struct) (?:OOC_API )?(\w+)",
                                        text, re.M))
            functions.update(declared_functions(text))
            classes.update({name: body for name, body in re.findall(
                r"^(?:class|struct) (?:OOC_API )?(\w+)[^;{]*{(.*?)^};", text, re.M | re.S)})
        self.assertGreater(functions.total(), 50)
        self.assertEqual(exported.functions, functions)
        self.assertLessEqual({owner for owner, _ in exported.members}, set(classes))
        self.assertEqual([f"{owner}::{member}" for owner, member in all_members - exported.members
                          if f"{member}(" in classes.get(owner, "")], [])
        # Casts and exceptions compare types by these. Those of templates are in each program, and
        # have the same names.
        polymorphic = {name for name, body in classes.items()
                       if "virtual " in body and name not in templates}
        self.assertGreater(len(polymorphic), 5)
        self.assertLessEqual(polymorphic | {"Error", "MeteredMemory"}, exported.types)


if __name__ == "__main__":
    unittest.main()
