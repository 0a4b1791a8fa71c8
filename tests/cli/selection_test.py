#!/usr/bin/env python3
"""Tests --offset, --skip and --count, which select a part of the data, and lists of files."""

import os
import resource
import subprocess

from cli_support import CliTest, main

import numpy as np


class PartTest(CliTest):
    """Tests --offset, --skip and --count, which together are data[N:N + M]."""

    def setUp(self):
        super().setUp()
        self.data = np.random.default_rng(7).normal(size=300_000).astype("f4")

    def test_every_way_in_gives_the_same_part(self):
        self.write("raw.f32", b"xyz" + self.data.tobytes())
        np.save(self.path("x.npy"), self.data)
        for name, (first, end) in enumerate(((0, 100_000), (100_000, 100_007), (100_007, 300_000))):
            self.write(f"{name}.f32", b"xyz" + self.data[first:end].tobytes())
        several = [self.path(f"{name}.f32") for name in range(3)]
        for skip, count in ((0, 5), (99_999, 2), (100_000, 7), (100_001, None), (150_000, 100_000),
                            (300_000, None), (300_000, 0)):
            words = ("--skip", skip, *(() if count is None else ("--count", count)))
            part = self.data[skip:][:count]
            for files, more in (([self.path("raw.f32")], ("--offset", 3)),
                                ([self.path("x.npy")], ()), (several, ("--offset", 3)),
                                (["-"], ("--offset", 3, "--dtype", "f4"))):
                with self.subTest(skip=skip, count=count, files=files):
                    pipe = subprocess.Popen(["cat", self.path("raw.f32")], stdout=subprocess.PIPE)
                    document = self.json("reduce", *files, *words, *more, stdin=pipe.stdout)
                    pipe.stdout.close()
                    pipe.wait()
                    result = document["result"]
                    self.assertEqual(result["count"], len(part))
                    self.assertEqual(document["input"]["skip"], skip)
                    if len(part):
                        self.assertEqual(result["min"], float(part.min()))
                        self.assertEqual(result["argmin"], int(part.argmin()))
                        self.assertAlmostEqual(result["sum"], float(part.sum(dtype="f8")), 3)

    def test_every_command_takes_it(self):
        path = self.write("x.f32", self.data)
        words = ("--skip", 1000, "--count", 100_000)
        part = self.data[1000:101_000]
        counts = self.json("histogram", path, *words, "--bins", 9, "--verify")["result"]["counts"]
        self.assertEqual(counts, np.histogram(part.astype("f8"), 9)[0].tolist())
        self.succeed("convert", path, *words, "-o", self.path("y.npy"))
        np.testing.assert_array_equal(np.load(self.path("y.npy")), part)
        self.assertEqual(self.json("info", path, *words)["input"]["count"], 100_000)
        self.assertEqual(self.json("reduce", path, *words, "--explain")["input"]["skip"], 1000)
        self.assertTrue(self.json("reduce", path, *words, "--verify")["result"]["verified"])

    def test_shards_have_it_in_their_question(self):
        path = self.write("x.f32", self.data)
        whole = self.json("reduce", path, "--skip", 1000)["result"]
        for index, skip in ((0, 1000), (1, 1000), (2, 999)):
            self.succeed("reduce", path, "--skip", skip, "--shard", f"{index % 2}/2", "-o",
                         self.path(f"{index}.part"))
        document = self.json("merge", self.path("0.part"), self.path("1.part"))
        self.assertEqual(document["result"]["sum"], whole["sum"])
        self.assertEqual(document["input"]["skip"], 1000)
        self.check_error(2, "merge", self.path("2.part"), self.path("1.part"))

    def test_more_than_there_is(self):
        path = self.write("x.f32", bytes(80))
        self.check_error(3, "reduce", path, "--skip", 21)
        self.check_error(3, "reduce", path, "--skip", 19, "--count", 2)
        self.check_error(3, "reduce", path, "--skip", 2**64 - 1)
        self.check_error(2, "matmul", path, path, "-o", "c", "--skip", 1)


class ListTest(CliTest):
    """Tests --files-from, which names more files than a command line has room for."""

    def test_a_list_is_the_files_in_its_order(self):
        names = [self.write(f"a {i}.f32", np.arange(i * 10, i * 10 + 10, dtype="f4"))
                 for i in range(5)]
        expected = self.json("reduce", *names)
        expected_count = self.json("reduce", *names, "--skip", 17, "--count", 20)["result"]
        lines = "\n".join(map(str, names))
        for text, more in ((lines, ()), (lines + "\n", ()), (lines.replace("\n", "\n\n"), ()),
                           (lines.replace("\n", "\0") + "\0", ("-0",)),
                           (lines.replace("\n", "\0"), ("--null",))):
            with self.subTest(text=text):
                path = self.write("list", text.encode())
                document = self.json("reduce", "--files-from", path, *more)
                self.assertEqual(document["result"], expected["result"])
                self.assertEqual(document["input"], expected["input"])
                with open(path, "rb") as file:
                    piped = self.json("reduce", "--files-from", "-", *more, "--skip", 17,
                                      "--count", 20, stdin=file)
                self.assertEqual(piped["result"], expected_count)

    def test_a_name_of_several_lines(self):
        self.write("two\nlines.u8", b"\1\2\3")
        path = self.write("list", b"two\nlines.u8\0")
        self.assertEqual(self.json("reduce", "--files-from", path, "-0")["result"]["sum"], 6)

    def test_more_than_a_command_line_holds(self):
        name = self.write("x" * 200 + ".u8", b"\1\2\3")
        path = self.write("list", f"{name}\n".encode() * 20_000)
        self.assertGreater(os.path.getsize(path), 2 << 20)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 20_100:
            self.skipTest(f"only {hard} files may be open")
        self.assertEqual(self.json("reduce", "--files-from", path)["result"]["sum"], 120_000)

    def test_what_is_no_list(self):
        path = self.write("x.f32", bytes(8))
        self.check_error(2, "reduce", "--files-from", self.write("empty", b"\n\n"))
        self.check_error(2, "reduce", path, "--files-from", self.path("empty"))
        self.check_error(4, "reduce", "--files-from", self.path("missing"))
        self.check_error(4, "reduce", "--files-from", str(self.directory))
        self.check_error(4, "reduce", "--files-from", self.write("list", b"y.f32"))
        self.check_error(2, "reduce", "--files-from", self.write("list", b"x.f32\0x.f32\0"))
        self.check_error(2, "reduce", "--files-from", self.write("list", b"x.f32\nx.f32\n"), "-0")
        self.check_error(2, "reduce", path, "-0")
        self.check_error(2, "reduce")
        listed = self.write("dash", b"-\n")
        self.check_error(4, "reduce", "--files-from", listed)
        with_words = self.run_program("reduce", path, "--json",
                                      env={"OOC_FILES_FROM": self.path("missing")})
        self.assertEqual(with_words.returncode, 0, with_words.stderr)


if __name__ == "__main__":
    main()
