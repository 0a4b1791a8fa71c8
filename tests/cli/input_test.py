#!/usr/bin/env python3
"""Tests that each kind of unusable input has its message and exit code, with an empty stdout."""

import os
import re
import resource
import signal
import struct
import subprocess
import unittest
from pathlib import Path

from cli_support import CliTest, main

import numpy as np



class FileTest(CliTest):
    def test_missing_file(self):
        self.refuse(4, r"missing.f32: .*No such file or directory \(ENOENT\)", "reduce",
                    "missing.f32")

    def test_not_a_file(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        for name, hint in (("folder", "files in it"), ("fifo", "/dev/stdin < FILE"),
                           ("/dev/null", "/dev/stdin < FILE")):
            with self.subTest(name=name):
                self.refuse(3, name, "reduce", name, hint=hint)

    def piped(self, data):
        """Returns the end of a pipe that gives these bytes."""
        cat = subprocess.Popen(["cat", self.write("piped.bytes", data)], stdout=subprocess.PIPE)
        self.addCleanup(cat.wait)
        self.addCleanup(cat.stdout.close)
        return cat.stdout

    def test_standard_input(self):
        numbers = b"".join(struct.pack("<f", i % 7) for i in range(100_000))
        document = self.json("reduce", "-", "--dtype", "f4", stdin=self.piped(numbers))
        self.assertEqual(document["result"]["count"], 100_000)
        self.assertEqual(document["input"]["files"], [{"path": "-", "bytes": 400_000}])
        same = self.json("reduce", self.write("x.f32", numbers))
        self.assertEqual(document["result"], same["result"])
        words = ("--dtype", "f4", "--range", "0:7", "--bins", "7")
        document = self.json("histogram", "-", *words, stdin=self.piped(numbers))
        same = self.json("histogram", self.path("x.f32"), *words)
        self.assertEqual(document["result"], same["result"])
        words = ("--dtype", "f4", "--checksum")
        document = self.json("reduce", "-", *words, stdin=self.piped(numbers))
        same = self.json("reduce", self.path("x.f32"), "--checksum")
        self.assertEqual(document["input"]["checksum_xxh3_128"],
                         same["input"]["checksum_xxh3_128"])
        empty = self.json("reduce", "-", "--dtype", "f4", stdin=self.piped(b""))
        self.assertEqual(empty["result"]["count"], 0)

    def test_standard_input_is_read_once(self):
        for words, code, message, hint in (
                (("reduce", "-"), 2, "the type of standard input is not known", "--dtype"),
                (("histogram", "-", "--dtype", "f4"), 2, "reads it twice", "--range"),
                (("reduce", "-", "--dtype", "f4", "--verify"), 2, "can be read once", "a file"),
                (("reduce", "-", "--dtype", "f4", "--offset", "8"), 3,
                 "ended after 6 bytes, fewer than the 8 to skip", "--skip"),
                (("reduce", "-", "--dtype", "u1", "--offset", 1, "--count", 6), 3,
                 "ended after 6 bytes, before the 6 asked for behind 1 to skip", "--count"),
                (("reduce", "-", "-", "--dtype", "f4"), 2, "one of several", "a file"),
                (("info", "-"), 2, "cannot read standard input", "a file"),
                (("reduce", "-", "--dtype", "f4", "--direct", "yes"), 2, "not a file", "--direct"),
                (("reduce", "-", "--dtype", "f4"), 3, "6 bytes are not a whole number", None)):
            with self.subTest(words=words):
                self.refuse(code, message, *words, hint=hint, stdin=self.piped(b"123456"))

    def test_standard_input_that_is_a_file(self):
        with open(self.write("x.u8", bytes(100)), "rb") as file:
            document = self.json("reduce", "/dev/stdin", stdin=file)
        self.assertEqual(document["result"]["count"], 100)

    def test_not_on_this_machine(self):
        for name in ("gs://bucket/x.f32", "ftp://example.org/x.npy"):
            for command in ("histogram", "info", "bench"):
                self.refuse(3, f"{name}: only local files and https://", command, name,
                            hint="copy it to this machine")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_no_permission(self):
        path = self.write("x.f32", bytes(8))
        os.chmod(path, 0)
        self.refuse(4, r"x.f32: .*Permission denied \(EACCES\)", "reduce", path)

    def test_odd_size(self):
        self.refuse(3, "x.f32", "reduce", self.write("x.f32", bytes(10)))

    def test_parts_beyond_the_file(self):
        path = self.write("x.f32", bytes(80))
        self.refuse(3, "x.f32", "reduce", path, "--offset", 100)
        self.refuse(3, "only 20 elements, not the 21", "reduce", path, "--count", 21)
        self.refuse(3, "x.f32", "reduce", path, "--offset", 3)

    def test_files_that_do_not_fit_together(self):
        one = self.write("a.f32", bytes(16))
        two = self.write("b.f64", bytes(16))
        self.refuse(3, "b.f64", "reduce", one, two)

    def test_data_without_a_range(self):
        path = self.write("x.f8", np.array([np.nan, np.inf, -np.inf]))
        self.refuse(3, "no finite value", "histogram", path, "--dtype", "f8")
        path = self.write("huge.f64", np.array([1e300, 1e300]))
        self.refuse(3, "no bins fit into the range", "histogram", path, hint="--range")


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
        self.refuse(2, "are parts of different questions", "merge", self.path("2.part"), self.path("1.part"))

    def test_more_than_there_is(self):
        path = self.write("x.f32", bytes(80))
        self.refuse(3, "only 20 elements, fewer than the 21 to skip", "reduce", path, "--skip", 21,
                    hint="lower --skip")
        self.refuse(3, "only 1 elements behind those to skip, not the 2", "reduce", path, "--skip",
                    19, "--count", 2, hint="--count")
        self.refuse(3, "to skip", "reduce", path, "--skip", 2**64 - 1)
        self.refuse(2, "unknown option", "matmul", path, path, "-o", "c", "--skip", 1)


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
        self.refuse(2, "names no file", "reduce", "--files-from", self.write("empty", b"\n\n"))
        self.refuse(2, "and --files-from", "reduce", path, "--files-from", self.path("empty"),
                    hint="all files in the list")
        self.refuse(4, "No such file", "reduce", "--files-from", self.path("missing"))
        self.refuse(4, "EISDIR", "reduce", "--files-from", str(self.directory))
        self.refuse(4, "y.f32", "reduce", "--files-from", self.write("list", b"y.f32"))
        self.refuse(2, "needs --files-from", "reduce", path, "-0")
        self.refuse(2, "no file given", "reduce")
        listed = self.write("dash", b"-\n")
        self.refuse(4, r"\./-", "reduce", "--files-from", listed)
        with_words = self.run_program("reduce", path, "--json",
                                      env={"OOC_FILES_FROM": self.path("missing")})
        self.assertEqual(with_words.returncode, 0, with_words.stderr)


class EmptyTest(CliTest):
    def test_an_empty_file_has_no_elements(self):
        path = self.write("empty.f32", b"")
        zeros = ("count", "below", "above", "nan")
        for words in ((), ("--dtype", "u1"), ("--log-bins",)):
            result = self.json("histogram", path, *words)["result"]
            self.assertEqual([result.pop(name) for name in zeros], [0, 0, 0, 0])
            self.assertEqual(set(result.values()), {None})
        result = self.json("reduce", path)["result"]
        self.assertEqual([result.pop(name) for name in ("count", "nan", "sum")], [0, 0, 0])
        self.assertEqual(set(result.values()), {None})

    def test_bins_that_are_given_hold_zeros(self):
        path = self.write("empty.f32", b"")
        for words in (("--range", "1:5", "--bins", 2), ("--edges", "1,3,5")):
            with self.subTest(words=words):
                expected = {"bins": 2, "lower": 1, "upper": 5, "edges": [1, 3, 5], "counts": [0, 0],
                            "below": 0, "above": 0, "nan": 0, "count": 0, "verified": True}
                found = self.json("histogram", path, *words, "--verify")["result"]
                self.assertEqual(found, expected)
                self.succeed("histogram", path, *words, "--explain")
                self.succeed("histogram", path, *words, "--plot", "x.svg", "--force")
                self.assertIn("2 bins from 1 to 5", Path(self.path("x.svg")).read_text())
        both = self.json("reduce", path, "--histogram", 2, "--range", "1:5", "--verify")["result"]
        self.assertEqual(both["histogram"], expected)
        self.assertEqual(both["sum"], 0)

    def test_for_people(self):
        path = self.write("empty.f32", b"")
        for command in ("histogram", "reduce"):
            self.assertIn("0 values of float32", self.succeed(command, path).stdout)
        table = self.succeed("reduce", path).stdout
        for name, value in (("count", "0"), ("nan", "0"), ("sum", "0"), ("min", "-"),
                            ("mean", "-")):
            self.assertRegex(table, rf"(?m)^  {name} +{value}$")
        bars = self.succeed("histogram", path, "--bins", 2, "--range", "1:5").stdout
        self.assertIn("2 bins from 1 to 5", bars)
        self.assertEqual(len(re.findall(r"(?m)^ +[135] [┌├].* 0$", bars)), 2, bars)


class NpyTest(CliTest):
    def npy(self, header, version=(1, 0), data=bytes(64), length=None):
        text = header.encode("latin1")
        size = len(text) if length is None else length
        form = "<H" if version[0] == 1 else "<I"
        return self.write("x.npy", b"\x93NUMPY" + bytes(version) + struct.pack(form, size) + text +
                          data)

    def test_a_good_one_is_read(self):
        path = self.npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4)}\n")
        self.assertEqual(self.json("reduce", path)["input"]["shape"], [4, 4])

    def test_hostile_headers(self):
        good = "{'descr': '<f4', 'fortran_order': False, 'shape': (16,)}\n"
        for name, make in {
                "unknown version": lambda: self.npy(good, (9, 0)),
                "header beyond the file": lambda: self.npy(good, length=60000),
                "header of 4 GiB": lambda: self.npy(good, (2, 0), length=0xffffffff),
                "cut off": lambda: self.write("x.npy", b"\x93NUMPY\x01"),
                "no dictionary": lambda: self.npy("import os\n"),
                "unclosed": lambda: self.npy("{'descr': '<f4', 'shape': (16,"),
                "no shape": lambda: self.npy("{'descr': '<f4', 'fortran_order': False}\n"),
                "objects": lambda: self.npy(good.replace("<f4", "|O")),
                "records": lambda: self.npy(good.replace("'<f4'", "[('a', '<f4')]")),
                "negative shape": lambda: self.npy(good.replace("16", "-16")),
                "shape that overflows": lambda: self.npy(good.replace("16", f"{2**62}, 16")),
                "shape beyond 64 bits": lambda: self.npy(good.replace("16", "9" * 40)),
                "more elements than bytes": lambda: self.npy(good.replace("16", "17")),
        }.items():
            with self.subTest(name):
                self.refuse(3, "x.npy", "reduce", make())

    def test_another_type_than_it_says(self):
        np.save(self.path("x.npy"), np.zeros(4, "f4"))
        self.refuse(3, "x.npy", "reduce", "x.npy", "--dtype", "i4")
        self.succeed("reduce", "x.npy", "--dtype", "f4")


class LimitTest(CliTest):
    def test_memory_too_small(self):
        path = self.write("x.f32", bytes(16 << 20))
        self.refuse(7, "needs at least .* the limit is 65536", "reduce", path, "--device", "cpu",
                    "--memory", "64K")

    def test_an_absent_gpu(self):
        path = self.write("x.f32", bytes(64))
        done = self.run_program("reduce", path, "--device", "cuda")
        if done.returncode == 0:
            self.skipTest("there is a GPU")
        self.refuse(8, "GPU|CUDA", "reduce", path, "--device", "cuda")
        self.refuse(8, "GPU|CUDA", "reduce", path, "--device", "cuda:3")

    def test_automatically_the_cpu_with_the_reason(self):
        path = self.write("x.f32", bytes(64))
        done = self.succeed("reduce", path, "--json")
        document = self.check_document(done.stdout)
        if document["run"]["device"] != "cpu":
            self.skipTest("there is a GPU")
        reason, = (text for text in document["run"]["reasons"] if text.startswith("CPU ("))
        self.assertNotIn(reason, done.stderr)
        self.assertIn(f"ooc-run: note: {reason}\n", self.succeed("reduce", path, "-v").stderr)

    @unittest.skipUnless(os.path.isdir("/dev/shm"), "no tmpfs")
    def test_direct_reads_where_there_is_no_disk(self):
        path = f"/dev/shm/ooc-cli-{os.getpid()}.f32"
        self.addCleanup(os.unlink, path)
        np.ones(1000, "f4").tofile(path)
        document = self.json("reduce", path)
        self.assertEqual(document["result"]["sum"], 1000)
        self.assertFalse(document["run"]["direct"])
        self.assertTrue(any("page cache" in text for text in document["run"]["reasons"]))
        self.refuse(2, "direct reads are not possible", "reduce", path, "--direct", "yes")


class ChangedInputTest(CliTest):
    """Tests changes to a file by other processes while it is read."""

    def has_open(self, process, path):
        folder = f"/proc/{process.pid}/fd"
        try:
            return any(os.path.realpath(f"{folder}/{name}") == path for name in os.listdir(folder))
        except OSError:
            return False

    def run_and_meanwhile(self, act, code, what, *words):
        """Stops the program after it has opened the file, calls `act`, and lets it continue. If the
        program ended before `act`, tries again with a larger file. (With sanitizers, even the first
        size is large enough.)"""
        for size in (1 << 24, 1 << 26, 1 << 28, 1 << 28, 1 << 28):
            for name in os.listdir(self.directory):
                os.unlink(self.path(name))
            path = self.write("x.u8", b"")
            os.truncate(path, size)
            process = self.start(*words)
            while process.poll() is None and not self.has_open(process, path):
                pass
            process.send_signal(signal.SIGSTOP)
            act(path)
            process.send_signal(signal.SIGCONT)
            stdout, stderr = process.communicate(timeout=200)
            if process.returncode == code and what in stderr:
                break
        self.assertEqual(process.returncode, code, stderr)
        self.assertIn(what, stderr)
        return stdout, size

    def write_to(self, path):
        with open(path, "r+b") as file:
            file.write(b"x")

    def write_and_set_the_time_back(self, path):
        status = os.stat(path)
        self.write_to(path)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def test_is_noticed(self):
        changes = {
            self.write_to: "x.u8: changed while it was read\n  why:  another program wrote to it\n",
            self.write_and_set_the_time_back:
                "x.u8: changed while it was read\n  why:  its time of last change (ctime) moved",
            lambda path: os.truncate(path, os.path.getsize(path) + 1): "its size went from",
            lambda path: os.truncate(path, 1 << 20): "another program shortened it",
        }
        for act, what in changes.items():
            stdout, _ = self.run_and_meanwhile(act, 5, what, "reduce", "x.u8", "--json")
            self.assertEqual(stdout, "")

    def test_leaves_no_output(self):
        self.run_and_meanwhile(self.write_to, 5, "x.u8: changed while it was read", "convert",
                               "x.u8", "-o", "y.i8")
        self.assertEqual(os.listdir(self.directory), ["x.u8"])

    def test_another_name_link_or_mode_does_not_matter(self):
        def rename(path):
            os.rename(path, self.path("renamed"))

        def replace(path):
            os.rename(self.write("other", b"1"), path)

        def link(path):
            os.link(path, self.path("link"))

        def change_mode(path):
            os.chmod(path, 0o600 if os.stat(path).st_mode & 0o077 else 0o640)

        for act in (rename, replace, link, change_mode):
            stdout, size = self.run_and_meanwhile(
                act, 0, "note: x.u8: renamed, replaced or given other attributes meanwhile",
                "reduce", "x.u8", "--json")
            self.assertEqual(self.check_document(stdout)["result"]["count"], size)


if __name__ == "__main__":
    main()
