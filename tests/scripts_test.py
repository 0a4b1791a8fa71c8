#!/usr/bin/env python3
"""Tests choices and installs of scripts/ and CMake's list of what is missing, with fake tools."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETUP = (ROOT / "scripts/setup").read_text()
NVCC_13 = """case $1 in
  --version) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
  --list-gpu-code) printf 'sm_%s\\n' 75 80 86 89 90 100 110 103 120 121 ;;
esac"""
NVCC_12 = 'echo "Cuda compilation tools, release 12.4, V12.4.99"'


def packages(name):
    """Returns the packages in an array of scripts/setup."""
    body = re.search(rf"^{name}=\(\n(.*?)^\)", SETUP, re.S | re.M).group(1)
    return [word for line in body.splitlines() for word in line.split("#")[0].split()]


BUILD = packages("build_packages")
TEST = packages("test_packages")


class WithTools(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = Path(work.name)
        (self.work / "bin").mkdir()

    def tool(self, name, script):
        path = self.work / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run_command(self, *command, **settings):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("OOC_", "CUDA", "CMAKE_"))}
        environment |= {"PATH": f"{self.work}/bin:/usr/bin:/bin"} | settings
        return subprocess.run(command, capture_output=True, text=True, check=False,
                              env=environment, stdin=subprocess.DEVNULL)

    def bash(self, script, **settings):
        result = self.run_command(
            "bash", "-euo", "pipefail", "-c",
            f"source {ROOT}/scripts/environment.sh; root={self.work}; {script}", **settings)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()


class EnvironmentTest(WithTools):
    def choice(self, nvcc, nvidia_smi, **settings):
        self.tool("nvcc", nvcc)
        self.tool("nvidia-smi", nvidia_smi)
        return tuple(self.bash('printf "%s\\n" "$preset" "$gpus" "$why"', **settings).split("\n"))

    def test_builds_for_the_gpus_that_are_here(self):
        for capabilities, architectures in [
                ("9.0", "90-real"), ("8.6\\n8.6", "86-real"), ("9.0\\n8.9", "89-real;90-real"),
                ("12.0", "120-real")]:
            preset, gpus, _ = self.choice(NVCC_13, f"printf '{capabilities}\\n'")
            self.assertEqual((preset, gpus), ("release", architectures))

    def test_builds_for_the_gpus_that_are_asked_for(self):
        preset, gpus, _ = self.choice(NVCC_13, "echo 9.0", CUDAARCHS="80-real")
        self.assertEqual((preset, gpus), ("release", "80-real"))

    def test_builds_for_all_gpus_where_there_is_none_that_the_toolkit_knows(self):
        for nvidia_smi in ["exit 9", "echo 'No devices were found'", "echo '[N/A]'", "echo 7.0",
                           "echo 13.0", "printf '9.0\\n7.0\\n'"]:
            preset, gpus, _ = self.choice(NVCC_13, nvidia_smi)
            self.assertEqual((preset, gpus), ("release", "all-major"), nvidia_smi)

    def test_says_that_an_older_toolkit_is_ignored(self):
        preset, gpus, why = self.choice(NVCC_12, "echo 9.0")
        self.assertEqual((preset, gpus), ("cpu", ""))
        self.assertIn(f"12.4 ({self.work}/bin/nvcc) is ignored", why)

    def test_hides_a_toolkit_if_told_to(self):
        preset, _, why = self.choice(NVCC_13, "echo 9.0", OOC_NO_CUDA="1")
        self.assertEqual((preset, why), ("cpu", "OOC_NO_CUDA is set"))

    def test_hands_options_to_the_configuration_and_targets_to_the_build(self):
        self.tool("nvcc", NVCC_13)
        self.tool("nvidia-smi", "echo 9.0")
        self.tool("cmake", 'echo "$@" >>"$CALLS"')
        calls = self.work / "calls"
        self.bash("build release -DOOC_BUILD_TESTS=OFF; build cpu one two", CALLS=str(calls),
                  BUILD_JOBS="3")
        self.assertEqual(calls.read_text().splitlines(), [
            f"-S {self.work} --preset release -DCMAKE_CUDA_ARCHITECTURES=90-real "
            "-DOOC_BUILD_TESTS=OFF",
            f"--build {self.work}/build/release --parallel 3",
            f"-S {self.work} --preset cpu",
            f"--build {self.work}/build/cpu --parallel 3 --target one two"])


class SetupTest(WithTools):
    def installed_by(self, *arguments):
        """Returns the packages that scripts/setup installs on a machine without any of them."""
        self.tool("nvcc", NVCC_13)  # without it, CCCL is fetched
        self.tool("dpkg-query", "exit 1")
        self.tool("sudo", 'exec "$@"')
        self.tool("apt-get", 'echo "$@" >>"$CALLS"')
        calls = self.work / "calls"
        calls.write_text("")
        result = self.run_command(ROOT / "scripts/setup", *arguments, CALLS=str(calls))
        self.assertEqual(result.returncode, 0, result.stderr)
        update, install = calls.read_text().splitlines()
        self.assertTrue(update.endswith("update"))
        return install.split("--no-remove ")[1].split()

    def test_installs_what_tests_need_only_for_tests(self):
        self.assertEqual(self.installed_by("--build"), BUILD)
        self.assertEqual(self.installed_by(), BUILD + TEST)
        self.assertIn("scripts/setup --build", (ROOT / "scripts/demo").read_text())

    def test_help_names_every_package(self):
        result = self.run_command(ROOT / "scripts/setup", "--help")
        self.assertEqual(result.returncode, 0)
        lists = result.stdout.split("To build, and for the demo:")[1]
        build, test = lists.split("To test as well:")
        self.assertEqual((build.split(), test.split()), (BUILD, TEST))

    def test_refuses_what_it_does_not_know(self):
        self.assertEqual(self.run_command(ROOT / "scripts/setup", "--fast").returncode, 2)

    def test_documents_name_every_package(self):
        table = (ROOT / "docs/building.md").read_text().split("`apt-get install` |")[1]
        rows = [line for line in table.split("\n\n")[0].splitlines() if line.startswith("| `")]
        named = [word for row in rows for word in re.findall(r"`([^`]+)`", row.split("|")[1])]
        self.assertEqual(sorted(named), sorted(BUILD + TEST))


class PresetTest(WithTools):
    def architectures(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        return {preset["name"]: preset["cacheVariables"]["CMAKE_CUDA_ARCHITECTURES"]
                for preset in presets
                if "CMAKE_CUDA_ARCHITECTURES" in preset.get("cacheVariables", {})}

    def test_scripts_build_for_what_presets_and_cmake_build_for(self):
        self.assertEqual(self.architectures(), {"cuda": "90-real", "release": "all-major"})
        self.assertIn("set(CMAKE_CUDA_ARCHITECTURES all-major)",
                      (ROOT / "cmake/dependencies.cmake").read_text())

    def test_all_major_reaches_from_turing_to_what_comes_later(self):
        nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        if not nvcc:
            self.skipTest("no nvcc")
        source = self.work / "empty.cu"
        source.write_text("")
        steps = subprocess.run([nvcc, "-arch=all-major", "--dryrun", "-c", source],
                               capture_output=True, text=True, check=True).stderr
        code = {int(number) for number in re.findall(r"kind=elf,sm=(\d+)", steps)}
        ptx = {int(number) for number in re.findall(r"kind=ptx,sm=(\d+)", steps)}
        self.assertLessEqual({75, 80, 90, 100, 120}, code)
        self.assertEqual(ptx, {max(code)})


class MissingTest(WithTools):
    def configure(self, *options):
        result = self.run_command("cmake", "-S", ROOT, "-B", self.work / "build", *options)
        self.assertNotEqual(result.returncode, 0)
        return result.stderr

    def test_names_all_that_is_missing_at_once(self):
        hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON"
                  for name in ["PkgConfig", "Boost", "fmt", "nlohmann_json", "GTest", "CCCL"]]
        said = self.configure("-DOOC_CUDA=OFF", "-DOOC_BUILD_TESTS=ON", "-DXXHASH_INCLUDE_DIR=",
                              "-DPROTOZERO_INCLUDE_DIR=", *hidden)
        names = set(re.search(r"apt-get install (.*)", said).group(1).split())
        self.assertEqual(names, {
            "pkg-config", "liburing-dev", "libxxhash-dev", "libboost-program-options-dev",
            "libfmt-dev", "nlohmann-json3-dev", "libprotozero-dev", "libgtest-dev"})
        self.assertLessEqual(names, set(BUILD + TEST))
        for what in ["liburing 2.3", "xxHash 0.8", "Boost.Program_options 1.74", "fmt 9",
                     "nlohmann-json 3.11", "protozero", "GoogleTest 1.12", "CCCL 3"]:
            self.assertIn(what, said)
        self.assertIn("-DCCCL_DIR=", said)

    def test_does_not_ask_for_what_is_only_for_tests(self):
        said = self.configure("-DOOC_CUDA=OFF", "-DOOC_BUILD_TESTS=OFF", "-DXXHASH_INCLUDE_DIR=",
                              "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON")
        self.assertIn("apt-get install libxxhash-dev\n", said)
        self.assertNotIn("GoogleTest", said)

    def test_names_the_release_of_a_toolkit_that_is_too_old(self):
        self.tool("nvcc", NVCC_12)
        said = self.configure("-DOOC_CUDA=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON")
        self.assertIn("the CUDA toolkit 13.0 or later: nvcc is of 12.4", said)
        self.assertIn("    fmt 9 or later", said)
        self.assertIn("-DOOC_CUDA=OFF (preset cpu)", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
