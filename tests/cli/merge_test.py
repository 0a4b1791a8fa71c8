#!/usr/bin/env python3
"""Tests that shards, merged in any order, give what the command gives for all of the data."""

import os
import random
import shutil
import signal

from cli_support import CliTest, main

import numpy as np

RANDOM = np.random.default_rng(5)
TILE = 65536  # elements


class MergeTest(CliTest):
    def shards(self, count, command, *words, **options):
        """Computes all shards; returns their files in random order."""
        parts = []
        for index in range(count):
            parts.append(f"{count}-{index}.part")
            self.succeed(command, *words, "--shard", f"{index}/{count}", "-o", parts[-1], "--force",
                         **options)
        random.Random(count).shuffle(parts)
        return parts

    def check(self, count, command, *words):
        """Checks that the merged result is that of the command, also by way of a larger part."""
        with self.subTest(count=count, command=command, words=words):
            whole = self.json(command, *words)
            parts = self.shards(count, command, *words)
            merged = self.json("merge", *parts)
            self.assertEqual(merged["result"], whole["result"])
            self.assertEqual(merged["input"], whole["input"])
            self.assertEqual(merged["command"], command)
            half = parts[:count // 2]
            if half:
                self.succeed("merge", *half, "-o", "half.part", "--force")
                joined = self.json("merge", "half.part", *parts[count // 2:])
                self.assertEqual(joined["result"], whole["result"])

    def test_every_type(self):
        for code in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "bf16", "f4", "f8"):
            size = 1 if code[1] == "1" else 8 if code[1] == "8" else 4 if code[1] == "4" else 2
            self.write("x.bin", RANDOM.bytes(size * (5 * TILE + 77)))
            self.check(3, "reduce", "x.bin", "--dtype", "<" + code, "--nan", "omit", "--exact")
            self.check(2, "reduce", "x.bin", "--dtype", ">" + code)
            self.check(3, "histogram", "x.bin", "--dtype", code, "--range", "-300:300")
            self.check(2, "reduce", "x.bin", "--dtype", code, "--histogram", "9", "--range", "0:9")

    def test_any_number_of_shards(self):
        values = RANDOM.normal(0, 1e6, 20 * TILE + 5).astype("f4")
        values[[3, 7 * TILE]] = values.min()  # ties across shards: the first one counts
        values[TILE:3 * TILE] = np.nan        # whole shards of NaN
        self.write("x.f32", values)
        for count in (1, 2, 5, 21, 40):  # some are empty
            self.check(count, "reduce", "x.f32", "--nan", "omit")
            self.check(count, "reduce", "x.f32")

    def test_several_files_and_headers(self):
        a = RANDOM.normal(0, 1, 3 * TILE // 2)
        np.save(self.path("a.npy"), a)
        np.save(self.path("b.npy"), a[::-1].reshape(-1, 3))
        self.check(3, "reduce", "a.npy", "b.npy", "a.npy")
        self.check(2, "histogram", "b.npy", "--edges=-2,0,1,5")
        self.write("x.bin", a)
        self.check(2, "reduce", "x.bin", "--dtype", "f8", "--offset", "8", "--count", "70000")

    def test_no_elements(self):
        self.write("x.f32", b"")
        self.check(2, "reduce", "x.f32")
        self.check(2, "histogram", "x.f32", "--range", "0:1")

    def test_however_they_are_computed(self):
        self.write("x.f32", RANDOM.normal(0, 1, 9 * TILE).astype("f4"))
        whole = self.json("reduce", "x.f32")["result"]
        ways = (["--threads", "1"], ["--chunk", "256K", "--streams", "3"], ["--direct", "yes"],
                ["--engine", "threads"])
        for index, way in enumerate(ways):
            self.succeed("reduce", "x.f32", "--shard", f"{index}/4", "-o", f"{index}.part", *way)
        parts = [f"{index}.part" for index in range(4)]
        merged = self.json("merge", *parts)
        self.assertEqual(merged["result"], whole)
        self.assertEqual([shard["covers"] for shard in merged["run"]["shards"]],
                         [[[0, 2 * TILE]], [[2 * TILE, 4 * TILE]], [[4 * TILE, 6 * TILE]],
                          [[6 * TILE, 9 * TILE]]])

    def test_text_and_picture(self):
        self.write("x.f32", RANDOM.normal(0, 1, 2 * TILE).astype("f4"))
        words = ["x.f32", "--histogram", "8", "--range", "-3:3"]
        parts = self.shards(2, "reduce", *words)
        merged = self.succeed("merge", *parts, "--plot", "x.svg").stdout.splitlines()
        whole = self.succeed("reduce", *words).stdout.splitlines()
        self.assertEqual(merged[:-1], whole[:-1])
        self.assertRegex(merged[-1], "^2 parts: 524 KB, computed in ")
        self.assertIn("<svg", (self.directory / "x.svg").read_text())

    def test_tables(self):
        self.write("x.f32", RANDOM.normal(0, 1, 3 * TILE).astype("f4"))
        words = ["x.f32", "--bins", "9", "--range", "-2:2"]
        parts = self.shards(2, "histogram", *words)
        for columns in ([], ["--density"], ["--cumulative", "--density"]):
            whole = self.succeed("histogram", *words, "--tsv", *columns)
            merged = self.succeed("merge", *parts, "--tsv", *columns)
            self.assertEqual(merged.stdout, whole.stdout)
            self.assertRegex(merged.stderr, r"note: not in the table: [\d,]+ below, [\d,]+ above\n")
        of_both = self.shards(3, "reduce", "x.f32", "--histogram", "9", "--range", "-2:2")
        self.assertEqual(self.succeed("merge", *of_both, "--tsv", "--plot", "x.svg").stdout,
                         self.succeed("histogram", *words, "--tsv").stdout)
        self.assertIn("<svg", (self.directory / "x.svg").read_text())
        of_none = self.shards(2, "reduce", "x.f32")
        self.check_error(2, "merge", *of_none, "--tsv")
        self.check_error(2, "merge", *parts, "--tsv", "--json")
        self.check_error(2, "merge", parts[0], "--tsv", "-o", "y.part")
        self.check_error(2, "merge", *parts, "--density")
        self.check_error(2, "reduce", "x.f32", "--histogram", "9", "--tsv")

    def test_numbers_of_schedulers(self):
        self.write("x.f32", RANDOM.normal(0, 1, 4 * TILE).astype("f4"))
        words = ["reduce", "x.f32", "--shard", "auto", "--json", "-o"]
        slurm = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0",
                 "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "4"}
        self.assertEqual(self.json(*words, "a", env=slurm)["result"]["shard"], [2, 4])
        # Task 2 of the array, once more.
        again = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "2",
                 "SLURM_ARRAY_TASK_MAX": "2", "SLURM_ARRAY_TASK_COUNT": "1"}
        self.assertEqual(self.json(*words, "b", "--shards", "4", env=again)["result"]["shard"],
                         [2, 4])
        indexed = {"JOB_COMPLETION_INDEX": "1"}
        self.assertEqual(self.json(*words, "c", "--shards", "3", env=indexed)["result"]["shard"],
                         [1, 3])
        for env, more in (
                ({}, []), (indexed, []), (indexed, ["--shards", "1"]), (slurm, ["--shards", "2"]),
                ({"SLURM_ARRAY_TASK_ID": "7"}, []), (again, []),
                ({**slurm, "SLURM_ARRAY_TASK_COUNT": "2"}, []),
                ({**slurm, "SLURM_ARRAY_TASK_ID": "x"}, [])):
            self.check_error(2, *words, "d", *more, env=env)
        self.assertFalse((self.directory / "d").exists())

    def test_numbers_of_other_schedulers(self):
        self.write("x.f32", RANDOM.normal(0, 1, 4 * TILE).astype("f4"))

        def slurm(task, least, most, count):
            return {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_MIN": least,
                    "SLURM_ARRAY_TASK_MAX": most, "SLURM_ARRAY_TASK_COUNT": count}
        grid = {"SGE_TASK_FIRST": "1", "SGE_TASK_LAST": "4", "SGE_TASK_STEPSIZE": "1"}
        lsf = {"LSB_JOBINDEX": "4", "LSB_JOBINDEX_END": "4", "LSB_JOBINDEX_STEP": "1"}
        pbs = {"PBS_ARRAY_INDEX": "2"}
        aws = {"AWS_BATCH_JOB_ARRAY_INDEX": "0", "AWS_BATCH_JOB_ARRAY_SIZE": "4"}
        number = 0
        for env, auto, shards, expected in (
                (slurm("1", "1", "4", "4"), "auto", 4, [0, 4]),
                (slurm("4", "3", "4", "2"), "auto", 4, [3, 4]),
                (slurm("1", "1", "4", "4"), "auto:1", None, [0, 4]),
                (slurm("3", "3", "3", "1"), "auto:1", 4, [2, 4]),
                ({"SGE_TASK_ID": "3", **grid}, "auto", None, [2, 4]),
                (lsf, "auto", None, [3, 4]), (lsf, "auto", 9, [3, 9]),
                (pbs, "auto:0", 4, [2, 4]), (pbs, "auto:1", 4, [1, 4]),
                ({"PBS_ARRAYID": "0"}, "auto:0", 4, [0, 4]),
                (aws, "auto", None, [0, 4]),
                ({"BATCH_TASK_INDEX": "3", "BATCH_TASK_COUNT": "4"}, "auto", None, [3, 4]),
                ({**aws, "SGE_TASK_ID": "undefined", "LSB_JOBINDEX": "0"}, "auto", None, [0, 4])):
            with self.subTest(env=env, auto=auto):
                more = [] if shards is None else ["--shards", shards]
                number += 1
                found = self.json("reduce", "x.f32", "--shard", auto, *more, "-o", number, "--json",
                                  env=env)
                self.assertEqual(found["result"]["shard"], expected)
        for env, auto, shards in (
                (slurm("1", "1", "4", "4"), "auto", None), (slurm("2", "0", "4", "5"), "auto", 4),
                (slurm("0", "0", "3", "4"), "auto:1", 4),
                ({"SGE_TASK_ID": "3", **grid, "SGE_TASK_STEPSIZE": "2"}, "auto", None),
                (pbs, "auto", 4), (pbs, "auto:0", None), ({**pbs, **aws}, "auto", 4)):
            with self.subTest(env=env, auto=auto):
                more = [] if shards is None else ["--shards", shards]
                self.check_error(2, "reduce", "x.f32", "--shard", auto, *more, "-o", "d", env=env)

    def test_refuses_parts_that_do_not_belong_together(self):
        self.write("x.f32", RANDOM.normal(0, 1, 4 * TILE).astype("f4"))
        for index in range(4):
            self.succeed("reduce", "x.f32", "--shard", f"{index}/4", "-o", f"{index}.part")
        self.succeed("reduce", "x.f32", "--shard", "0/2", "-o", "half.part")
        self.succeed("reduce", "x.f32", "--shard", "1/2", "-o", "nan.part", "--nan", "omit")
        self.check_error(2, "merge", "half.part", "0.part")
        self.check_error(2, "merge", "0.part", "0.part")
        self.check_error(2, "merge", "0.part", "1.part", "-o", "x.f32", "--force")
        self.check_error(2, "merge", "0.part", "1.part", "2.part", "3.part", "--plot", "x.svg")
        explained = self.succeed("reduce", "x.f32", "--shard", "1/4", "-o", "y", "--explain").stdout
        self.assertRegex(explained, "shard +1 of 4: the values 65,536 to 131,072 of 262,144")
        gap = self.check_error(2, "merge", "0.part", "1.part", "3.part")
        command = gap.stderr.split("ooc-run: error")[1].split("others: ooc-run ")[1].split()
        self.succeed(*[word.replace("FILE", "x.f32") for word in command], "--force")
        self.succeed("merge", "0.part", "1.part", "2.part", "3.part")
        self.check_error(2, "merge", "half.part", "nan.part")
        self.check_error(3, "merge", "x.f32")
        self.check_error(4, "merge", "none.part")
        # Two files of which only the order differs.
        for name, place in ("a.f32", 5), ("b.f32", 6):
            values = np.zeros(2 * TILE, "f4")
            values[place] = 1
            os.utime(self.write(name, values), (1, 1))
        self.succeed("reduce", "a.f32", "b.f32", "--shard", "0/2", "-o", "ab.part")
        self.succeed("reduce", "b.f32", "a.f32", "--shard", "1/2", "-o", "ba.part")
        self.check_error(5, "merge", "ab.part", "ba.part", "--ignore-times")
        # More shards than anything could count.
        self.succeed("reduce", "x.f32", "--shard", "0/1000000000000", "-o", "z.part")
        self.check_error(2, "merge", "z.part")
        # The data were copied, then changed.
        shutil.copyfile(self.path("x.f32"), self.path("y.f32"))
        os.utime(self.path("y.f32"), (1, 1))
        self.succeed("reduce", "y.f32", "--shard", "1/2", "-o", "y.part")
        self.check_error(5, "merge", "half.part", "y.part")
        self.succeed("merge", "half.part", "y.part", "--ignore-times")
        with open(self.path("y.f32"), "r+b") as file:
            file.write(b"\1\2\3\4")
        self.succeed("reduce", "y.f32", "--shard", "1/2", "-o", "y.part", "--force")
        self.check_error(5, "merge", "half.part", "y.part", "--ignore-times")

    def test_refuses_damaged_parts(self):
        self.write("x.f32", RANDOM.normal(0, 1, 2 * TILE).astype("f4"))
        self.succeed("reduce", "x.f32", "--shard", "0/1", "-o", "x.part")
        good = (self.directory / "x.part").read_bytes()
        for place in range(8, len(good), 37):
            self.write("bad.part", good[:place] + bytes([good[place] ^ 16]) + good[place + 1:])
            self.check_error(3, "merge", "bad.part")
        for length in (0, 7, 8, 23, len(good) // 2, len(good) - 1):
            self.write("bad.part", good[:length])
            self.check_error(3, "merge", "bad.part")

    def test_refuses_other_options(self):
        self.write("x.f32", RANDOM.normal(0, 1, TILE).astype("f4"))
        shard = ["x.f32", "--shard", "0/2", "-o", "x.part"]
        self.check_error(2, "histogram", *shard, "--range", "0:1", "--after", "x.f32")
        self.check_error(2, "reduce", *shard[:3])
        self.check_error(2, "reduce", "x.f32", "-o", "x.part")
        self.check_error(2, "reduce", "x.f32", "--shard", "2/2", "-o", "x.part")
        self.check_error(2, "reduce", "x.f32", "--shard", "2", "-o", "x.part")
        self.check_error(2, "reduce", *shard[:4], "x.f32")
        for option in ("--checksum", "--verify", "--report=x.html"):
            self.check_error(2, "reduce", *shard, option)
        with open(self.path("x.f32"), "rb") as file:
            self.check_error(2, "reduce", "-", *shard[1:], "--dtype", "f4", stdin=file)
        self.assertFalse((self.directory / "x.part").exists())

    def rounds(self, count, command, *words):
        """Computes both rounds of all shards; returns the parts of the second."""
        first = self.shards(count, command, *words)
        self.succeed("merge", *first, "-o", "round.part", "--force")
        return self.shards(count, command, *words, "--after", "round.part")

    def test_two_rounds(self):
        values = RANDOM.normal(0, 3, 20 * TILE + 5).astype("f4")
        values[3], values[9 * TILE] = np.nan, 99
        self.write("x.f32", values)
        self.write("x.i2", RANDOM.integers(-900, 999, 5 * TILE, "i2"))
        for words in (["histogram", "x.f32"], ["histogram", "x.f32", "--bins", "scott"],
                      ["histogram", "x.i2", "--dtype", "i2", "--bins", "sqrt"],
                      ["histogram", "x.i2", "--dtype", "i2", "--log-bins", "--skip", "65536"],
                      ["reduce", "x.f32", "--histogram", "12", "--nan", "omit"],
                      ["reduce", "x.f32", "--histogram", "sturges", "--exact"]):
            if "--log-bins" in words:
                self.write("x.i2", RANDOM.integers(1, 999, 5 * TILE, "i2"))
            for count in (1, 3, 40):  # of 40, some are empty
                with self.subTest(words=words, count=count):
                    whole = self.json(*words)["result"]
                    parts = self.rounds(count, *words)
                    self.assertEqual(self.json("merge", *parts)["result"], whole)
                    joined = self.json("merge", *parts[1:], "-o", "j.part", "--force")["result"] \
                        if count > 1 else {"round": [2, 2]}
                    self.assertEqual(joined["round"], [2, 2])
                    if count > 1:
                        self.assertEqual(self.json("merge", "j.part", parts[0])["result"], whole)

    def test_rounds_say_what_comes_next(self):
        self.write("x.f32", RANDOM.normal(0, 1, 4 * TILE).astype("f4"))
        words = ["histogram", "x.f32", "--shard", "0/2", "-o", "0.part"]
        first = self.succeed(*words)
        self.assertIn("the first of two rounds", first.stderr)
        self.assertEqual(self.json(*words, "--force")["result"]["round"], [1, 2])
        self.assertEqual(self.json(*words, "--explain", "--force")["result"]["plan"]["passes"], 1)
        self.succeed("histogram", "x.f32", "--shard", "1/2", "-o", "1.part")
        self.check_error(2, "merge", "0.part", "1.part")
        joined = self.succeed("merge", "0.part", "1.part", "-o", "round.part")
        self.assertIn("histogram FILE --after round.part --shard I/N", joined.stderr)
        self.assertEqual(self.json("merge", "0.part", "1.part", "-o", "round.part",
                                   "--force")["result"]["round"], [1, 2])
        second = self.json("histogram", "x.f32", "--after", "round.part", "--shard", "0/2", "-o",
                           "2.part")
        self.assertEqual(second["result"]["round"], [2, 2])
        self.assertEqual(self.json("reduce", "x.f32", "--shard", "0/2", "-o",
                                   "r.part")["result"]["round"], [1, 1])

    def test_rounds_that_do_not_belong_together(self):
        values = RANDOM.normal(0, 1, 4 * TILE).astype("f4")
        self.write("x.f32", values)
        parts = self.rounds(2, "histogram", "x.f32")
        words = ["histogram", "x.f32", "--shard", "0/2", "-o", "y.part", "--after"]
        self.check_error(2, *words, "2-0.part")  # of the second round
        self.succeed("histogram", "x.f32", "--shard", "0/2", "-o", "half.part")
        self.check_error(2, *words, "half.part")  # not of all values
        self.check_error(2, "merge", parts[0], "half.part")  # of two rounds
        self.check_error(2, "merge", parts[0], "round.part")
        self.check_error(2, *words, "round.part", "--bins", "9")  # another question
        self.check_error(3, *words, "x.f32")
        self.check_error(4, *words, "none.part")
        self.check_error(2, *words[:5], "round.part", "--after", "round.part", "--force")
        self.assertIn("--after ROUND.part", self.check_error(2, "merge", parts[0]).stderr)
        self.check_error(2, "histogram", "x.f32", "--after", "round.part")
        self.succeed("reduce", "x.f32", "--shard", "0/1", "-o", "r.part")
        self.check_error(2, *words, "r.part")
        values[5] = 99
        self.write("x.f32", values)
        self.check_error(5, *words, "round.part")
        self.assertFalse((self.directory / "y.part").exists())

    def test_a_change_between_rounds(self):
        """Copies may have other times, so only the counts show a change that no sample meets."""
        values = np.zeros(1 << 20, "f4")
        values[0] = 1
        self.write("x.f32", values)
        first = self.shards(1, "histogram", "x.f32")
        self.succeed("merge", *first, "-o", "round.part")
        time = os.stat(self.path("x.f32")).st_mtime_ns
        values[77_777] = 5
        self.write("x.f32", values)
        os.utime(self.path("x.f32"), ns=(time, time))
        self.succeed("histogram", "x.f32", "--shard", "0/1", "-o", "2.part", "--after",
                     "round.part")
        self.check_error(5, "merge", "2.part")

    def test_rounds_of_no_values(self):
        self.write("x.f32", b"")
        self.check_error(2, "histogram", "x.f32", "--shard", "0/2", "-o", "x.part")
        self.write("x.f32", np.full(2 * TILE, np.nan, "f4"))
        parts = self.shards(2, "histogram", "x.f32")
        self.succeed("merge", *parts, "-o", "round.part")
        self.check_error(3, "histogram", "x.f32", "--shard", "0/2", "-o", "x.part", "--after",
                         "round.part")

    def test_leaves_no_part_when_stopped(self):
        with open(self.path("big.f32"), "wb") as file:
            file.truncate(4 << 40)  # too much to read during a test
        process, _ = self.at_work("reduce", "big.f32", "--shard", "0/2", "-o", "x.part")
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(out, "")
        self.assertEqual(sorted(os.listdir(self.directory)), ["big.f32"])


if __name__ == "__main__":
    main()
