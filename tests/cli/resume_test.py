#!/usr/bin/env python3
"""Tests that a run goes on where an earlier one was killed, with the same bits."""

import contextlib
import json
import os
import random
import signal
import struct
import subprocess
import time

from cli_support import CliTest, main, messages_of

import numpy as np

TILE = 65536  # elements
KILLS = int(os.environ.get("OOC_TEST_KILLS", "12"))  # of each kind of job
OFTEN = ("--resume", "job.ckpt", "--checkpoint-every", "0")


class ResumeTest(CliTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(11)
        values = np.random.default_rng(3).normal(0, 1e3, 150 * TILE + 77).astype("f4")
        values[[5, 70 * TILE]] = values.max()  # the first one counts
        values[9 * TILE] = np.nan
        self.write("x.f32", values)

    def covered(self):
        """Returns the number of records of which the file has the findings, and the pass."""
        data = (self.directory / "job.ckpt").read_bytes()
        length = struct.unpack("<Q", data[8:16])[0]
        header = json.loads(data[16:16 + length])
        ranges = [(int(first), int(end)) for first, end in header["covers"]]
        return sum(end - first for first, end in ranges), len(header["earlier"])

    def wait_for_findings(self, process, before=0):
        """Waits until the file has findings, more than so many records of them."""
        while process.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                if self.covered()[0] > before + 2 * TILE:
                    return
            time.sleep(0.002)

    def way(self, command):
        """Returns options that divide the work in another way. A product that begins anew has other
        bits with another number of threads."""
        threads = [] if command == "matmul" else [["--threads", "1"], ["--threads", "3"]]
        return self.random.choice([
            *threads, ["--chunk", "256K", "--streams", "2"], ["--engine", "threads"],
            ["--direct", "yes"], ["--memory", "64M"]])

    def left(self):
        """Returns what is in the directory but for the data."""
        return sorted(set(os.listdir(self.directory)) - {"x.f32"})

    def kill_and_resume(self, *words, output=None):
        """Kills a job at random points, until it has been killed often enough. An output is whole
        or absent at any time."""
        whole = self.json(*words)
        expected = (self.directory / output).read_bytes() if output else b""
        kills = 0
        before = (0, 0)  # pass and records
        longest = 0.25  # seconds
        while True:
            process = self.start(*words, *self.way(words[0]), *OFTEN, "--json")
            if kills < KILLS:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(self.random.uniform(0, longest))
            else:
                process.wait()
            if process.poll() is not None:
                stdout, stderr = process.communicate()
                self.assertEqual(process.returncode, 0, stderr)
                document = self.check_document(stdout)
                for key in ("plan", "passes", "flops", "bytes_read", "bytes_written", "link_bytes"):
                    if words[0] == "matmul":  # of what was left to do
                        document["result"].pop(key)
                        whole["result"].pop(key, None)
                self.assertEqual(document["result"], whole["result"])
                self.assertEqual(self.left(), [output] if output else [])
                if output:
                    self.assertEqual((self.directory / output).read_bytes(), expected)
                if kills == KILLS:
                    return
                if output and self.random.random() < 0.5:
                    (self.directory / output).unlink()
                before = (0, 0)
                longest *= 0.7
                continue
            process.kill()
            process.communicate()
            kills += 1
            if output and (self.directory / output).exists():
                self.assertEqual((self.directory / output).read_bytes(), expected)
            if (self.directory / "job.ckpt").exists():
                records, about = self.covered()
                place = (0 if output else about, records)
                self.assertGreaterEqual(place, before)
                before = place
            else:  # it was killed before it began, or after it had ended
                before = (0, 0)

    def test_reduce(self):
        self.kill_and_resume("reduce", "x.f32", "--nan", "omit", "--exact")

    def test_histogram(self):
        self.kill_and_resume("histogram", "x.f32", "--range", "-300:300")

    def test_histogram_of_two_passes(self):
        self.kill_and_resume("histogram", "x.f32")

    def test_histogram_by_a_rule(self):
        self.kill_and_resume("histogram", "x.f32", "--bins", "scott")

    def test_both(self):
        self.kill_and_resume("reduce", "x.f32", "--histogram", "1000")

    def test_convert(self):
        self.kill_and_resume("convert", "x.f32", "-o", "y.f16", "--force", output="y.f16")

    def test_convert_to_npy(self):
        self.kill_and_resume("convert", "x.f32", "-o", "y.npy", "--to", ">f8", "--force",
                             output="y.npy")

    def test_scan(self):
        self.kill_and_resume("scan", "x.f32", "-o", "y.f64", "--force", output="y.f64")

    def test_results_of_rows(self):
        self.kill_and_resume("reduce", "x.f32", "--count", 150 * TILE, "--columns", 64, "--axis", 1,
                             "--statistic", "variance", "-o", "y.f64", "--force", output="y.f64")

    def test_sums_of_weights(self):
        self.kill_and_resume("histogram", "x.f32", "--weights", "x.f32", "--bins", 300)

    def test_filter(self):
        self.kill_and_resume("filter", "x.f32", "-o", "y.f32", "--above", 0.1, "--force",
                             output="y.f32")

    def test_filter_that_writes_indices(self):
        self.kill_and_resume("filter", "x.f32", "-o", "y.i64", "--above", 0.1, "--indices",
                             "--force", output="y.i64")

    def test_matmul(self):
        random = np.random.default_rng(4)
        for name in ("a.f32", "b.f32"):
            self.write("../" + name, random.normal(size=(1500, 1500)).astype("f4"))
            self.addCleanup(os.unlink, self.path("../" + name))
        self.kill_and_resume("matmul", "../a.f32", "../b.f32", "--shape-a", "1500x1500",
                             "--shape-b", "1500x1500", "-o", "c.npy", "--force", "--vram", "1M",
                             "--device", "cpu", output="c.npy")

    def test_what_a_product_says(self):
        for name in ("a.f32", "b.f32"):
            with open(self.path(name), "wb") as file:
                file.truncate(4 * 1500 * 1500)
        words = ("matmul", "a.f32", "b.f32", "--shape-a", "1500x1500", "--shape-b", "1500x1500",
                 "-o", "c.npy", "--vram", "1M", "--device", "cpu", *OFTEN)
        process = self.start(*words)
        self.wait_for_findings(process)
        process.kill()
        process.communicate()
        explained = " ".join(self.succeed(*words, "--explain").stdout.split())
        self.assertRegex(explained, r"saves progress, to job\.ckpt, after each partition; it is "
                                    r"there, with [\d,]+ of 2,250,000 records")
        done = self.succeed(*words)
        self.assertRegex(done.stderr, r"note: went on after \d+ % of C, which an ")
        self.assertEqual((self.directory / "c.npy").read_bytes()[4096:], bytes(4 * 1500 * 1500))

    def test_a_signal_saves_a_conversion(self):
        self.succeed("convert", "x.f32", "-o", "whole.f64")
        expected = (self.directory / "whole.f64").read_bytes()
        words = ("convert", "x.f32", "-o", "y.f64", "--json")
        process = self.start(*words, *OFTEN)
        self.wait_for_findings(process)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate()
        self.assertEqual(process.returncode, 143, stderr)
        self.assertEqual(self.check_document(stdout)["result"],
                         {"partial": True, "covered_bytes": 0})
        self.check_message(process, messages_of(stderr))
        self.assertFalse((self.directory / "y.f64").exists())
        self.check_error(2, "convert", "x.f32", "-o", "y.f16", *OFTEN)
        self.check_error(2, "reduce", "x.f32", *OFTEN)
        # A conversion without the file neither uses nor removes what the first one keeps.
        kept = [name for name in self.left() if name.endswith(".ooc-part")]
        self.succeed("convert", "x.f32", "-o", "y.f64")
        self.assertIn(kept[0], self.left())
        self.check_error(6, *words, *OFTEN)
        document = self.json(*words, *OFTEN, "--force")
        self.assertGreater(document["run"]["checkpoint"]["resumed_bytes"], 2 * TILE * 4)
        self.assertEqual(document["result"]["bytes_written"], len(expected))
        self.assertEqual((self.directory / "y.f64").read_bytes(), expected)
        self.assertEqual(self.left(), ["whole.f64", "y.f64"])

    def test_a_conversion_whose_output_is_gone(self):
        words = ("convert", "x.f32", "-o", "y.f64", *OFTEN)
        process = self.start(*words)
        self.wait_for_findings(process)
        process.kill()
        process.communicate()
        for name in self.left():
            if name.endswith(".ooc-part"):
                (self.directory / name).unlink()
        self.check_error(6, *words)
        self.assertEqual(self.left(), ["job.ckpt"])
        (self.directory / "job.ckpt").unlink()
        self.succeed(*words)

    def test_a_strict_conversion_is_kept(self):
        words = ("convert", "x.f32", "-o", "y.f16", *OFTEN)
        self.check_error(3, *words, "--strict")
        self.assertEqual(len(self.left()), 2)
        self.succeed(*words)
        self.assertEqual(self.left(), ["y.f16"])

    def test_a_signal_saves(self):
        whole = self.json("reduce", "x.f32")["result"]
        found = 0
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            process = self.start("reduce", "x.f32", *OFTEN)
            self.wait_for_findings(process, found)
            process.send_signal(number)
            stdout, stderr = process.communicate()
            self.assertEqual(process.returncode, code, stderr)
            self.assertEqual(stdout, "")
            self.check_message(process, messages_of(stderr))
            found = self.covered()[0]
        document = self.json("reduce", "x.f32", "--resume", "job.ckpt")
        self.assertEqual(document["result"], whole)
        checkpoint = document["run"]["checkpoint"]
        self.assertGreater(checkpoint["resumed_bytes"], 2 * TILE * 4)
        self.assertEqual(checkpoint["every_seconds"], 30)
        self.assertEqual(checkpoint["saves"], 1)  # at the end
        self.assertFalse((self.directory / "job.ckpt").exists())

    def test_what_it_says(self):
        process = self.start("reduce", "x.f32", *OFTEN)
        self.wait_for_findings(process)
        process.kill()
        process.communicate()
        explained = " ".join(self.succeed("reduce", "x.f32", *OFTEN, "--explain").stdout.split())
        self.assertIn("saves progress, to job.ckpt, after each partition", explained)
        self.assertRegex(explained, r"it is there, with [\d,]+ of 9,830,477 records")
        done = self.succeed("reduce", "x.f32", "--resume", "job.ckpt").stdout
        self.assertRegex(done, r"MB in .*, after \d+ % by an earlier run")
        done = self.succeed("reduce", "x.f32", *OFTEN).stdout
        # One for each of 151 partitions. On a busy machine a pass may be stopped before its first.
        self.assertRegex(done, r"39\.3 MB in .*, 1(5[1-9]|6\d) checkpoints in ")
        plain = self.json("reduce", "x.f32")
        self.assertNotIn("checkpoint", plain["run"])

    def test_two_runs_do_not_share_a_file(self):
        for words in (("reduce", "x.f32"), ("convert", "x.f32", "-o", "y.f16")):
            with self.subTest(words[0]):
                process = self.start(*words, *OFTEN)
                self.wait_for_findings(process)
                self.stop(process)
                self.assertIsNone(process.poll())
                before = self.left()
                self.check_error(2, *words, *OFTEN)
                self.assertEqual(self.left(), before)
                process.send_signal(signal.SIGCONT)
                _, stderr = process.communicate()
                self.assertEqual(process.returncode, 0, stderr)
                self.assertEqual(self.left(), list(words[3:]))

    def test_two_runs_that_begin_at_once(self):
        """One of them makes the file. The other is refused, or begins when the first has ended."""
        for _ in range(3 * KILLS):
            # Saving after each partition would take a second or more of waiting for the disk.
            runs = [self.start("convert", "x.f32", "-o", "y.f16", "--force", "--resume", "job.ckpt",
                               "--checkpoint-every", "20ms") for _ in "ab"]
            for each in runs:
                _, stderr = each.communicate()
                if each.returncode != 0:
                    self.assertIn("job.ckpt: another run is using it", stderr)
            self.assertIn(0, [each.returncode for each in runs])
            self.assertEqual(self.left(), ["y.f16"])

    def test_verify_and_side_files(self):
        document = self.json("reduce", "x.f32", *OFTEN, "--verify", "--trace", "t.pftrace",
                             "--report", "r.html")
        self.assertTrue(document["result"]["verified"])
        self.assertFalse((self.directory / "job.ckpt").exists())
        for name in ("t.pftrace", "r.html"):
            self.assertGreater((self.directory / name).stat().st_size, 1000)

    def test_a_shard(self):
        words = ["reduce", "x.f32", "--shard", "1/2", "-o", "1.part"]
        process = self.start(*words, *OFTEN)
        self.wait_for_findings(process)
        process.kill()
        process.communicate()
        self.assertFalse((self.directory / "1.part").exists())
        self.check_error(2, "reduce", "x.f32", "--shard", "0/2", "-o", "0.part", *OFTEN)
        self.succeed(*words, *OFTEN)
        self.assertFalse((self.directory / "job.ckpt").exists())
        self.succeed("reduce", "x.f32", "--shard", "0/2", "-o", "0.part")
        self.assertEqual(self.json("merge", "0.part", "1.part")["result"],
                         self.json("reduce", "x.f32")["result"])

    def test_refusals(self):
        process = self.start("reduce", "x.f32", *OFTEN)
        self.wait_for_findings(process)
        process.kill()
        process.communicate()
        before = (self.directory / "job.ckpt").read_bytes()
        self.check_error(2, "reduce", "x.f32", "--nan", "omit", *OFTEN)
        self.check_error(2, "histogram", "x.f32", *OFTEN)
        self.check_error(2, "reduce", "x.f32", "--count", "9830000", *OFTEN)
        self.check_error(2, "reduce", "x.f32", "--skip", "1", *OFTEN)
        self.check_error(2, "merge", "job.ckpt")
        with open(self.path("x.f32"), "ab") as file:
            file.write(b"1234")
        self.check_error(5, "reduce", "x.f32", *OFTEN)
        os.truncate(self.path("x.f32"), (150 * TILE + 77) * 4)  # with another time of the write
        self.check_error(5, "reduce", "x.f32", *OFTEN)
        self.assertEqual((self.directory / "job.ckpt").read_bytes(), before)
        for cut in (0, 7, 20, len(before) // 2, len(before) - 1):
            self.write("job.ckpt", before[:cut])
            self.check_error(3, "reduce", "x.f32", *OFTEN)
        self.write("notes.txt", b"not a part")
        self.check_error(3, "reduce", "x.f32", "--resume", "notes.txt")
        self.assertEqual((self.directory / "notes.txt").read_bytes(), b"not a part")
        self.check_error(2, "reduce", "x.f32", "--resume", "x.f32")
        self.check_error(2, "reduce", "x.f32", "--resume", "a.part", "--shard", "0/1", "-o",
                         "a.part")
        self.check_error(2, "reduce", "x.f32", "--resume", "j", "--checksum")
        self.check_error(2, "reduce", "x.f32", "--checkpoint-every", "30")
        self.check_error(2, "reduce", "x.f32", "--resume", "j", "--checkpoint-every", "soon")
        self.check_error(2, "reduce", "x.f32", "--resume", "j", "--checkpoint-every=-1s")
        self.check_error(6, "reduce", "x.f32", "--resume", "nowhere/job.ckpt")
        self.check_error(2, "reduce", "-", "--dtype", "f4", "--resume", "j", input="12345678")

    def test_times(self):
        for text, seconds in (("500ms", 0.5), ("30s", 30), ("5m", 300), ("2h", 7200), ("1.5", 1.5),
                              ("2min", 120)):
            document = self.json("reduce", "x.f32", "--resume", "j", "--checkpoint-every", text)
            self.assertEqual(document["run"]["checkpoint"]["every_seconds"], seconds)


if __name__ == "__main__":
    main()
