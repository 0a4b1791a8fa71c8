#!/usr/bin/env python3
"""Tests that runs do what --explain says, and that it reads and writes no data."""

import json
import os
import platform
import re
from pathlib import Path

from cli_support import CliTest, evict, held_in_page_cache, main

import numpy as np

RANDOM = np.random.default_rng(41)
MIB = 1 << 20
HUGE = 4 << 40  # bytes of a sparse file, too many to read during a test

# Keys of `run` that are known in advance. in_flight may be tuned; device_bytes exclude those of the
# operator.
KNOWN = ("device", "engine", "direct", "chunk_bytes", "chunks", "block_bytes", "streams", "threads",
         "pool_bytes", "passes", "ceilings")


class ExplainTest(CliTest):
    def explain(self, *words, **options):
        """Returns the plan of a document; checks that it has no other result and no run."""
        document = self.json(*words, "--explain", **options)
        self.assertIsNone(document["run"])
        self.assertEqual(set(document["result"]), {"plan"})
        return document["result"]["plan"]


class AgreementTest(ExplainTest):
    def test_what_is_said_is_done(self):
        path = self.write("x.f32", RANDOM.normal(size=4 * MIB).astype("f4"))
        commands = (("histogram",), ("histogram", "--range", "0:1"), ("reduce", "--checksum"),
                    ("convert", "-o", "y.npy", "--to", "i2", "--force"))
        tunings = ((), ("--direct", "no"), ("--engine", "threads", "--streams", "3"),
                   ("--chunk", "1M", "--threads", "2", "--memory", "16M"))

        def prepare(cold):
            if cold:
                evict(self.path("x.f32"))
            else:
                Path(path).read_bytes()
        for command, *words in commands:
            for tuning in tunings:
                for cold in (False, True):
                    if cold and (command, *words, tuning) == ("histogram", ("--direct", "no")):
                        continue  # the second of its two passes finds all data in the page cache
                    with self.subTest(command, words=words, tuning=tuning, cold=cold):
                        prepare(cold)
                        said = self.explain(command, "x.f32", *words, *tuning)
                        prepare(cold)
                        done = self.json(command, "x.f32", *words, *tuning)["run"]
                        for key in KNOWN:
                            self.assertEqual(said[key], done[key], key)

    def test_streams_of_so_many_threads_are_explained(self):
        Path(self.write("x.f32", bytes(MIB))).read_bytes()
        for words, what in (([], "a stream for each of --threads, which reads"),
                            (["--engine", "threads"], "a stream for half of --threads")):
            plan = self.explain("reduce", "x.f32", "--threads", "3", *words)
            self.assertIn(what, " ".join(plan["reasons"]))
            self.assertEqual(plan["threads"], 3)

    def test_sizes_are_explained(self):
        self.write("x.f32", bytes(8 * MIB))
        for words, what in (([], "chunks fit a core's own cache"),
                            (["--chunk", "1M"], "chunks are as large as --chunk says"),
                            (["--memory", "2M"], "chunks are as large as the limits of memory"),
                            (["--streams", "2"], "as many streams as --streams says")):
            plan = self.explain("reduce", "x.f32", "--device", "cpu", *words)
            self.assertIn(what, " ".join(plan["reasons"]))

    def test_two_passes_are_explained(self):
        self.write("x.f32", RANDOM.normal(size=1000).astype("f4"))
        self.write("x.u8", bytes(1000))
        two = self.explain("histogram", "x.f32")
        self.assertEqual(two["passes"], 2)
        self.assertIn("--range", " ".join(two["reasons"]))
        for words in (("x.f32", "--range", "0:1"), ("x.f32", "--edges", "0,1"), ("x.u8",)):
            one = self.explain("histogram", *words)
            self.assertEqual(one["passes"], 1)
            self.assertNotIn("--range", " ".join(one["reasons"]))

    def test_choices_have_their_reasons(self):
        self.write("x.f32", RANDOM.normal(size=MIB).astype("f4"))
        reasons = " ".join(self.explain("reduce", "x.f32", "--verify")["reasons"])
        self.assertRegex(reasons, r"(CPU|GPU) \(")
        self.assertIn("--verify reads the data once more", reasons)
        self.assertNotRegex(
            " ".join(self.explain("reduce", "x.f32", "--device", "cpu")["reasons"]),
            r"(CPU|GPU) \(")

    def test_of_nothing(self):
        self.write("x.f32", b"")
        plan = self.explain("histogram", "x.f32")
        self.assertEqual((plan["chunks"], plan["passes"], plan["engine"]), (0, 1, ""))
        self.assertIn("0 values", self.succeed("histogram", "x.f32", "--explain").stdout)

    def test_gen_says_what_it_makes(self):
        plan = self.explain("gen", "-o", "x.f32", "--size", "64M", "--threads", "3", "--seed", "5")
        done = self.json("gen", "-o", "x.f32", "--size", "64M", "--threads", "3", "--seed", "5")
        for key in ("path", "bytes", "count", "dtype", "pattern", "seed"):
            self.assertEqual(plan[key], done["result"][key], key)
        self.assertEqual(plan["threads"], done["run"]["threads"])
        self.assertEqual((plan["blocks"], plan["memory_bytes"]), (16, 12 * MIB))

    def test_bench_says_what_it_reads(self):
        self.write("x.bin", bytes(72 * MIB))
        plan = self.explain("bench", "x.bin", "--runs", "3", "--device", "cpu")
        self.assertEqual((plan["device"], plan["rounds"], plan["sweep"]), ("cpu", 3, False))
        self.assertEqual(plan["warm_bytes"], 72 * MIB)
        more = self.explain("bench", "x.bin", "--runs", "3", "--device", "cpu", "--sweep")
        self.assertGreater(more["bytes_from_page_cache"], plan["bytes_from_page_cache"])
        words = ("bench", "x.bin", "--runs", "3", "--device", "cpu", "--explain")
        self.assertRegex(self.succeed(*words, env={"XDG_CACHE_HOME": self.path("none")}).stdout,
                         r"\n  predicted +not known \([\d.]+ m?s at 2\.00 GB/s\)\n")


class PredictionTest(ExplainTest):
    """Tests predictions from a file of ceilings that is written here."""

    def setUp(self):
        super().setUp()
        self.write("x.u8", RANDOM.integers(0, 256, 8 * MIB, dtype="u1"))
        self.cache = {"XDG_CACHE_HOME": self.path("cache")}

    def keep(self, **kernels):
        info = self.json("info", "x.u8")["result"]["files"][0]
        with open("/proc/cpuinfo", encoding="ascii") as file:
            names = [line.split(":", 1)[1].strip() for line in file if "model name" in line]
        cores = len(os.sched_getaffinity(0))
        machine = (f"{platform.node()}, {names[0] if names else 'unknown processor'}, "
                   f"{cores} core{'' if cores == 1 else 's'}")
        os.makedirs(self.path("cache/ooc"))
        with open(self.path("cache/ooc/ceilings.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": "ooc.ceilings/1",
                       "disks": [{"machine": machine, "file_system": info["file_system"],
                                  "disk_bytes_per_second": 8 * MIB / 2}],
                       "machines": [{"machine": machine,
                                     "page_cache_bytes_per_second": 8 * MIB}],
                       "devices": [{"machine": machine, "device": "cpu", "start_seconds": 0.25,
                                    "kernels_bytes_per_second": kernels}]}, file)

    def test_by_the_ceilings_that_are_kept(self):
        self.keep(**{"histogram u1": 8 * MIB / 4})
        self.enterContext(held_in_page_cache(self.path("x.u8")))
        words = ("x.u8", "--device", "cpu", "--direct", "no")
        cached = self.json("info", "x.u8")["result"]["page_cache_fraction"]
        if cached is None:
            self.skipTest("the kernel does not tell")
        self.assertEqual(cached, 1)
        plan = self.explain("histogram", *words, env=self.cache)
        self.assertEqual(plan["prediction"],
                         {"seconds": 0.25 + 1 + 4, "stage": "cores", "unmeasured": []})
        self.assertIn("  predicted   5.25 s, bound by the cores\n",
                      self.succeed("histogram", *words, "--explain", env=self.cache).stdout)
        run = self.json("histogram", *words, env=self.cache)["run"]
        self.assertEqual(run["prediction"], plan["prediction"])
        # This kernel has no ceiling.
        run = self.json("reduce", *words, env=self.cache)["run"]
        self.assertEqual(run["prediction"],
                         {"seconds": 1.25, "stage": "cores", "unmeasured": ["kernel"]})
        run = self.json("convert", *words, "-o", "y.u16", env=self.cache)["run"]
        self.assertEqual(run["prediction"]["unmeasured"], ["kernel", "write"])

    def test_holes_are_on_no_disk(self):
        os.truncate(self.path("x.u8"), 0)
        os.truncate(self.path("x.u8"), 8 * MIB)
        if not self.json("info", "x.u8")["result"]["files"][0]["holes"]:
            self.skipTest("this file system has none")
        self.keep(**{"histogram u1": 8 * MIB / 4})
        words = ("histogram", "x.u8", "--device", "cpu")
        for way in ("auto", "no"):
            plan = self.explain(*words, "--direct", way, env=self.cache)
            self.assertEqual(plan["prediction"]["seconds"], 0.25 + 1 + 4)
            self.assertIn("100 % of the data are holes", " ".join(plan["reasons"]))
        run = self.json(*words, env=self.cache)["run"]
        self.assertEqual(run["prediction"], plan["prediction"])

    def test_threads_that_wait_are_told_from_those_that_compute(self):
        words = ("x.u8", "--device", "cpu", "--engine", "threads", "--direct", "yes")
        done = self.run_program("reduce", *words, "--explain")
        if done.returncode != 0:
            self.skipTest("no direct reads here")
        plan = self.explain("reduce", *words)
        if plan["threads"] <= len(os.sched_getaffinity(0)):
            self.skipTest("as many cores as threads")
        lanes, readers = plan["streams"], plan["threads"] - plan["streams"]
        self.assertIn(f" {plan['threads']}: {lanes} compute, {readers} read and mostly wait",
                      done.stdout)
        text = " ".join(self.succeed("info", *words).stdout.split())
        self.assertRegex(text, f"{lanes} threads? and {readers} that read, direct")

    def test_nothing_is_invented(self):
        for command in ("histogram", "reduce"):
            self.assertIsNone(self.explain(command, "x.u8", env=self.cache)["prediction"])
            text = self.succeed(command, "x.u8", "--explain", env=self.cache).stdout
            self.assertIn("not known: ooc-run bench FILE measures", text)
            self.assertIsNone(self.json(command, "x.u8", env=self.cache)["run"]["prediction"])


class NothingTest(ExplainTest):
    def test_nothing_is_read(self):
        with open(self.path("huge.f32"), "wb") as file:
            file.truncate(HUGE)
        for words in (("histogram",), ("reduce", "--checksum"), ("bench",)):
            document = self.json(*words, "huge.f32", "--explain")
            self.assertEqual(document["input"]["bytes"], HUGE)
            self.assertIn("Nothing was read and nothing was written.\n",
                          self.succeed(*words, "huge.f32", "--explain").stdout)

    def test_the_page_cache_is_left_alone(self):
        self.write("x.f32", RANDOM.normal(size=4 * MIB).astype("f4"))
        evict(self.path("x.f32"))

        def cached():
            return self.json("info", "x.f32")["result"]["page_cache_fraction"]
        before = cached()
        for words in (("histogram",), ("reduce",), ("bench",), ("convert", "-o", "y.f64")):
            self.explain(*words, "x.f32")
        self.assertLessEqual(cached(), before)

    def test_nothing_is_left(self):
        path = self.write("x.f32", RANDOM.normal(size=MIB).astype("f4"))
        self.write("there.f64", b"precious")
        before = sorted(os.listdir(self.directory))
        cache = {"XDG_CACHE_HOME": self.path("cache")}
        for words in (("convert", path, "-o", "y.f64"), ("gen", "-o", "y.f32", "--size", "1M"),
                      ("convert", path, "-o", "there.f64", "--force"), ("bench", path)):
            self.explain(*words, env=cache)
        self.assertEqual(sorted(os.listdir(self.directory)), before)
        with open(self.path("there.f64"), "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def test_lines_fit_a_terminal(self):
        self.write("x.f32", RANDOM.normal(size=1000).astype("f4"))
        for words in (("histogram", "x.f32"), ("convert", "x.f32", "-o", "y.f64"),
                      ("gen", "-o", "y.f32", "--size", "1M"), ("bench", "x.f32")):
            text = self.succeed(*words, "--explain", env={"COLUMNS": "80"}).stdout
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80)


class RefusalTest(ExplainTest):
    def test_as_the_run(self):
        path = self.write("x.f32", RANDOM.normal(size=MIB).astype("f4"))
        self.write("there.f64", b"precious")
        os.mkfifo(self.path("fifo"))
        for command in ("histogram", "reduce", "bench"):
            self.check_error(4, command, "missing.f32", "--explain")
            self.check_error(3 if command == "bench" else 2, command, "fifo", "--explain")
        self.check_error(3, "reduce", self.write("y.f32", bytes(10)), "--explain")
        self.check_error(3, "bench", self.write("z.f32", b""), "--explain")
        self.check_error(7, "histogram", path, "--memory", "64K", "--device", "cpu", "--explain")
        self.check_error(2, "histogram", path, "--range", "2:1", "--explain")
        self.check_error(2, "histogram", path, "--log-bins", "--range", "-1:1", "--explain")
        self.check_error(6, "convert", path, "-o", "there.f64", "--explain")
        self.check_error(6, "gen", "-o", "there.f64", "--size", "8", "--explain")
        self.check_error(6, "convert", path, "-o", "no/where.f64", "--explain")
        self.check_error(2, "convert", path, "-o", path, "--to", "f4", "--force", "--explain")

    def test_a_product_as_the_run(self):
        for name in ("a.f32", "b.f32"):
            self.write(name, bytes(64))
        self.write("there.f32", b"precious")
        words = ("matmul", "a.f32", "b.f32", "--shape-a", "4x4", "--shape-b", "4x4", "--explain")
        self.check_error(6, *words, "-o", "there.f32")
        self.check_error(6, *words, "-o", "no/where.f32")
        self.check_error(2, *words, "-o", "a.f32", "--force")
        self.succeed(*words, "-o", "c.f32")
        self.assertFalse(os.path.exists(self.path("c.f32")))

    def test_pictures_timelines_and_pages_are_tried(self):
        path = self.write("x.f32", bytes(MIB))
        matrix = ("--shape-a", "512x512", "--shape-b", "512x512")
        commands = {("histogram", path): ("plot", "trace", "report"),
                    ("reduce", path): ("trace", "report"),
                    ("reduce", path, "--histogram", "9"): ("plot",),
                    ("convert", path, "-o", "y.f64"): ("trace", "report"),
                    ("matmul", path, path, *matrix): ("trace", "report"),
                    ("bench", path): ("plot",)}
        files = {"plot": "p.svg", "trace": "t.pf", "report": "r.html"}
        for words, options in commands.items():
            with self.subTest(words[0]):
                named = [word for option in options for word in ("--" + option, files[option])]
                text = self.succeed(*words, "--explain", *named).stdout
                for option in options:
                    self.assertRegex(text, rf"\n  {option} +{re.escape(files[option])}\n")
                    self.assertEqual(os.listdir(self.directory), ["x.f32"])
                    self.write(files[option], b"precious")
                    self.check_error(6, *words, "--explain", *named)
                    self.succeed(*words, "--explain", *named, "--force")
                    self.assertEqual(Path(self.path(files[option])).read_bytes(), b"precious")
                    os.remove(self.path(files[option]))
        self.check_error(6, "histogram", path, "--explain", "--plot", "no/p.svg")
        self.check_error(2, "reduce", path, "--explain", "--trace", "r.html", "--report", "r.html")
        text = self.succeed("reduce", path, "--explain",
                            env={"OOC_PLOT": "p.svg", "OOC_TRACE": "t.pf"}).stdout
        self.assertRegex(text, r"\n  trace +t\.pf\n")
        self.assertNotIn("p.svg", text)

    def test_a_gpu_that_is_not_there(self):
        path = self.write("x.f32", bytes(400))
        if self.run_program("reduce", path, "--device", "cuda").returncode == 0:
            self.skipTest("there is a GPU")
        for words in (("histogram",), ("reduce",), ("bench",), ("convert", "-o", "y.f64")):
            self.refuse(8, "no usable GPU", *words, path, "--device", "cuda", "--explain")


if __name__ == "__main__":
    main()
