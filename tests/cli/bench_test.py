#!/usr/bin/env python3
"""Tests ooc-run bench and the use of its ceilings by other commands. Rates are not compared."""

import json
import os
import resource
import shutil
import signal
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from cli_support import CliTest, main
from restrictions import limiting

import numpy as np

ENOUGH_FOR_THE_DISK = 40 << 20  # bytes: a part of 4 MiB for each of nine settings
SMALL = (1 << 20) + 3           # not a multiple of 4
ENOUGH_TO_KEEP = 1_000_000_000


class BenchTest(CliTest):
    def setUp(self):
        super().setUp()
        self.cache = self.directory / "cache"
        self.env = {"XDG_CACHE_HOME": str(self.cache), "HOME": str(self.directory / "home")}

    def kept(self):
        return self.cache / "ooc/ceilings.json"

    def noise(self, size, name="x.bin"):
        return self.write(name, np.random.default_rng(1).integers(0, 256, size, "u1"))

    def large(self, name="x.bin"):
        """Makes a sparse file that is large enough for ceilings to be kept."""
        path = self.write(name, b"")
        os.truncate(path, ENOUGH_TO_KEEP)
        return path

    def bench(self, *words, **options):
        return self.json("bench", *words, "--device", "cpu", env=self.env, **options)["result"]

    def bench_text(self, *words, **options):
        return self.succeed("bench", *words, "--device", "cpu", env=self.env, **options)


class ResultTest(BenchTest):
    def test_every_row_is_there(self):
        path = self.noise(ENOUGH_FOR_THE_DISK)
        result = self.bench(path, "--runs", "2")
        self.assertEqual(result["runs"], 2)
        self.assertEqual([row["name"] for row in result["passes"]],
                         ["cold, overlapped", "warm, overlapped", "warm, serial"])
        self.assertIn("skipped", result["ceilings"]["h2d"])
        for name in ("page_cache", "histogram_u1", "histogram_f4", "histogram_f8", "reduce_f4",
                     "reduce_f8"):
            rate = result["ceilings"][name]["bytes_per_second"]
            self.assertEqual(rate["runs"], 2)
            self.assertLessEqual(rate["min"], rate["median"])
            self.assertLessEqual(rate["median"], rate["max"])
            self.assertGreater(rate["min"], 0)
        # On one core there is one row.
        page_cache = result["ceilings"]["page_cache"]
        threads = [row["threads"] for row in page_cache.get("sweep", [page_cache])]
        self.assertEqual(threads[0], 1)
        self.assertEqual(threads[-1], len(os.sched_getaffinity(0)))
        self.assertEqual(result["sweep"], [])
        warm = result["passes"][1]
        self.assertEqual(warm["bytes"], ENOUGH_FOR_THE_DISK)
        self.assertEqual(warm["seconds"]["runs"], 2)
        self.assertGreater(warm["fraction_of_limit"], 0)
        environment = result["environment"]
        self.assertEqual(environment["cores"], len(os.sched_getaffinity(0)))
        self.assertEqual(environment["kernel"], os.uname().release)
        self.assertIn(f"bench {path} --runs 2", environment["command"])

    def test_a_disk(self):
        path = self.noise(ENOUGH_FOR_THE_DISK)
        result = self.bench(path, "--runs", "1")
        disk, cold = result["ceilings"]["disk"], result["passes"][0]
        if "skipped" in cold or "skipped" in disk:
            self.skipTest("no disk here")
        self.assertEqual(len(disk["sweep"]), 9)
        self.assertIn({key: disk[key] for key in ("block_bytes", "in_flight", "bytes_per_second")},
                      disk["sweep"])
        self.assertLessEqual(cold["page_cache_fraction_before"], 0.01)
        self.assertTrue(cold["direct"])
        self.assertGreater(cold["limit_bytes_per_second"], 0)

    def test_a_file_too_small_for_a_disk_is_measured_as_far_as_it_goes(self):
        for size in (1, SMALL):
            result = self.bench(self.noise(size), "--runs", "1")
            self.assertIn("skipped", result["ceilings"]["disk"])
            self.assertEqual(result["passes"][1]["bytes"], size)
            self.assertGreater(result["passes"][1]["bytes_per_second"]["median"], 0)

    def test_a_file_in_memory_has_no_cold_run(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm")
        directory = tempfile.mkdtemp(prefix="ooc-cli-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, directory)
        path = Path(directory) / "x.bin"
        path.touch()
        os.truncate(path, ENOUGH_TO_KEEP)
        result = self.bench(path, "--runs", "1")
        self.assertRegex(result["passes"][0]["skipped"], "memory")
        self.assertIn("skipped", result["ceilings"]["disk"])
        self.assertRegex(result["environment"]["file_system"], "tmpfs")
        self.assertEqual(json.loads(self.kept().read_text()).get("disks"), None)

    def test_tables_for_people(self):
        path = self.noise(SMALL)
        done = self.bench_text(path, "--runs", "1")
        for row in (r"disk, direct +\S", r"page cache +[\d.]+ .B/s", r"histogram u1 +[\d.]+ .B/s",
                    r"reduce f4 +[\d.]+ .B/s", r"cold, overlapped +\S",
                    r"warm, overlapped +[\d.]+ .B/s .* \d+ % +\d", r"warm, serial +[\d.]+ .B/s",
                    r"start-up +device .*, pool .*, first chunk", r"machine ",
                    r"system +Linux ", r"file +on \S", r"command +\S+ bench "):
            self.assertRegex(done.stdout, row)
        self.assertLessEqual(len(done.stdout.splitlines()), 24)
        self.assertNotIn("host to device", done.stdout)

    def test_a_header_is_not_read(self):
        np.save(self.path("x.npy"), np.zeros(1000))
        document = self.json("bench", self.path("x.npy"), "--runs", "1", "--device", "cpu",
                             env=self.env)
        self.assertEqual(document["input"]["bytes"], os.path.getsize(self.path("x.npy")))
        self.assertEqual(document["input"]["dtype"], "|u1")

    def test_usage(self):
        self.write("x.bin", bytes(100))
        self.check_error(2, "bench", "x.bin", "x.bin", env=self.env)
        self.check_error(2, "bench", "x.bin", "--runs", "0", env=self.env)
        self.check_error(4, "bench", "missing", env=self.env)
        self.write("empty", b"")
        self.check_error(3, "bench", "empty", env=self.env)
        self.assertFalse(self.cache.exists())


class InterruptTest(BenchTest):
    def test_nothing_is_kept_of_an_interrupted_run(self):
        path = self.noise(SMALL)
        process, _ = self.at_work("bench", path, "--device", "cpu", "--runs", "1000000",
                                  env=self.env)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stdout), (130, ""), stderr)
        self.assertFalse(self.cache.exists())


class ProgressTest(BenchTest):
    def test_how_long_it_takes_is_said_before(self):
        path = self.noise(SMALL)
        done = self.bench_text(path, "--runs", "1")
        self.assertRegex(done.stderr, r"^ooc-run: note: measuring 1 round, about [\d.]+ MB to "
                                      r"read: .* at 2\.00 GB/s\n")
        done = self.bench_text(path, "--runs", "2", "--sweep")
        self.assertRegex(done.stderr, "^ooc-run: note: measuring 2 rounds and a sweep, about ")
        done = self.bench_text(path, "--runs", "1", "--quiet")
        self.assertEqual(done.stderr, "")


class SweepTest(BenchTest):
    def test_rows_and_picture(self):
        path = self.noise(3 << 20)
        rows = self.bench(path, "--runs", "1", "--plot", self.path("x.svg"))["sweep"]
        warm = [row for row in rows if row["state"] == "warm"]
        for what in ("chunk", "in_flight"):
            self.assertEqual(len([row for row in warm if row["what"] == what]), 8)
        self.assertEqual([row["setting_bytes"] for row in warm if row["what"] == "file"],
                         [1 << 20, 3 << 20])
        picture = ElementTree.parse(self.path("x.svg")).getroot()
        self.assertEqual(picture.tag, "{http://www.w3.org/2000/svg}svg")
        states = len({row["state"] for row in rows})
        self.assertEqual(len(picture.findall(".//{*}polyline")), 3 * states)

    def test_a_picture_is_replaced_only_by_force(self):
        path = self.noise(1000)
        self.write("x.svg", b"mine")
        self.check_error(6, "bench", path, "--plot", "x.svg", env=self.env)
        self.assertFalse(self.cache.exists())
        done = self.bench_text(path, "--runs", "1", "--plot", "x.svg", "--force")
        self.assertIn("ooc-run: note: wrote x.svg, a picture of the sweep\n", done.stderr)
        self.assertIn(b"<svg", Path(self.path("x.svg")).read_bytes())

    def test_what_was_measured_is_shown_if_its_picture_cannot_be_written(self):
        path = self.noise(1000)
        done = self.run_program("bench", path, "--runs", "1", "--json", "--device", "cpu", "--plot",
                                "x.svg", env=self.env, preexec_fn=limiting(resource.RLIMIT_FSIZE,
                                                                           1000))
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertTrue(self.check_document(done.stdout)["result"]["sweep"])
        self.assertRegex(done.stderr, r"ooc-run: error: x\.svg: write failed .*\(EFBIG\)")
        self.assertEqual(os.listdir(self.directory), ["x.bin"])

    def test_a_picture_that_cannot_be_is_refused_before_anything_is_measured(self):
        path = self.noise(1000)
        for name in ("x.pdf", "x", "x.svg.gz"):
            self.check_error(2, "bench", path, "--plot", name, env=self.env)
        self.check_error(6, "bench", path, "--plot", "no/x.svg", env=self.env)
        self.assertEqual(os.listdir(self.directory), ["x.bin"])


class CeilingsTest(BenchTest):
    def ceilings(self, *words):
        return self.json(*words, "--device", "cpu", env=self.env)["run"]["ceilings"]

    def test_other_commands_know_what_was_measured(self):
        path = self.large()
        self.assertEqual(self.ceilings("reduce", path), {})
        result = self.bench(path, "--runs", "1")
        page_cache = result["ceilings"]["page_cache"]["bytes_per_second"]["median"]
        kernel = result["ceilings"]["histogram_u1"]["bytes_per_second"]["median"]
        disk = {}
        if "skipped" not in result["ceilings"]["disk"]:
            rate = result["ceilings"]["disk"]["bytes_per_second"]["median"]
            disk = {"disk_bytes_per_second": rate}
        start = {"start_seconds": sum(result["startup"].values())}
        self.assertEqual(self.ceilings("histogram", path),
                         {**disk, **start, "page_cache_bytes_per_second": page_cache,
                          "kernel_bytes_per_second": kernel})
        self.assertEqual(self.ceilings("reduce", path),  # reduce of u1 is not measured
                         {**disk, **start, "page_cache_bytes_per_second": page_cache})
        for command, dtype, *words in (("reduce", "f4"), ("reduce", "f8"),
                                       ("histogram", "f4", "--range", "0:1"),
                                       ("histogram", "f8", "--range", "0:1")):
            measured = result["ceilings"][f"{command}_{dtype}"]["bytes_per_second"]["median"]
            known = self.ceilings(command, path, "--dtype", dtype, *words)
            self.assertEqual(known["kernel_bytes_per_second"], measured)
        self.assertNotIn("kernel_bytes_per_second",
                         self.ceilings("reduce", path, "--dtype", "f4", "--exact"))
        self.assertEqual(os.listdir(self.kept().parent), ["ceilings.json"])

    def test_the_picture_does_not_replace_the_data(self):
        path = self.noise(SMALL, "x.svg")
        before = Path(path).read_bytes()
        os.symlink(path, self.path("link.svg"))
        for plot in (path, "link.svg"):
            self.check_error(2, "bench", path, "--plot", plot, "--force")
        self.assertEqual(Path(path).read_bytes(), before)

    def test_a_small_file_tells_too_little(self):
        path = self.noise(64 << 20)
        done = self.bench_text(path, "--runs", "1")
        self.assertIn("note: the ceilings are not kept: a file of less than 1 GB", done.stderr)
        self.assertFalse(self.kept().exists())

    def test_the_default_place_is_in_the_home_directory(self):
        path = self.large()
        os.mkdir(self.env["HOME"])
        self.env["XDG_CACHE_HOME"] = ""
        self.bench_text(path, "--runs", "1")
        self.assertTrue((self.directory / "home/.cache/ooc/ceilings.json").is_file())

    def test_a_broken_cache_fails_nothing(self):
        path = self.noise(SMALL)
        self.kept().parent.mkdir(parents=True)
        for content in (b"", b"\x00\xff", b"[" * 100000, b'{"schema": "ooc.ceilings/1"}'):
            self.kept().write_bytes(content)
            self.assertEqual(self.ceilings("histogram", path), {})
        self.kept().unlink()
        self.kept().mkdir()
        self.assertEqual(self.ceilings("histogram", path), {})

    def test_a_cache_that_cannot_be_written_is_noted(self):
        path = self.large()
        self.cache.write_bytes(b"")  # a file in place of the directory
        done = self.bench_text(path, "--runs", "1")
        self.assertIn("note: the ceilings are not kept: ", done.stderr)
        self.assertEqual(self.ceilings("histogram", path), {})
        self.assertEqual(self.bench_text(path, "--runs", "1", "--quiet").stderr, "")


if __name__ == "__main__":
    main()
