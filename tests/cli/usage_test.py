#!/usr/bin/env python3
"""Tests help, version and messages about wrong usage."""

import os
import pty
import subprocess

from cli_support import PROGRAM, CliTest, clean_environment, main

import numpy as np


class UsageTest(CliTest):
    def test_alone_it_prints_a_short_help(self):
        done = self.run_program()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Usage: ooc-run COMMAND FILE...", done.stderr)

    def test_help_is_no_error(self):
        for words in (["-h"], ["--help"], ["help"], ["histogram", "-h"], ["reduce", "--help"],
                      ["help", "gen"], ["gen", "--size", "3", "-h"], ["matmul", "-h"],
                      ["help", "convert"], ["help", "-h"]):
            done = self.succeed(*words)
            self.assertIn("Usage: ooc-run", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_long_help_starts_with_three_examples(self):
        for words in (["--help"], ["help"], ["histogram", "--help"], ["help", "gen"],
                      ["help", "matmul"], ["convert", "--help"]):
            lines = self.succeed(*words).stdout.splitlines()
            self.assertEqual(lines[0], "Examples:")
            self.assertTrue(all(line.startswith("  ooc-run ") for line in lines[1:4]), lines)
            self.assertEqual(lines[4], "")

    def test_short_help_fits_a_screen(self):
        for words in (["-h"], ["histogram", "-h"], ["reduce", "-h"], ["gen", "-h"],
                      ["matmul", "-h"], ["convert", "-h"]):
            lines = self.succeed(*words).stdout.splitlines()
            self.assertLessEqual(len(lines), 24)
            self.assertLessEqual(max(map(len, lines)), 80)

    def test_a_narrow_terminal_breaks_between_words(self):
        self.write("x.f32", bytes(4000))
        words = ("histogram", "x.f32", "--edges=-1,0,5", "--device", "cpu", "-q")
        wide = self.succeed(*words).stdout
        self.assertGreater(max(map(len, wide.splitlines())), 60)
        terminal, end = pty.openpty()
        environment = clean_environment(COLUMNS="40", TERM="xterm", NO_COLOR="1")
        subprocess.run([PROGRAM, *words], cwd=self.directory, env=environment, stdout=end,
                       stdin=subprocess.DEVNULL, timeout=60, check=True)
        os.close(end)
        narrow = os.read(terminal, 65536).decode().replace("\r\n", "\n")
        os.close(terminal)
        self.assertLessEqual(max(map(len, narrow.splitlines())), 40)
        words_of = [[word for word in text.split() if word.isalpha()] for text in (wide, narrow)]
        self.assertEqual(words_of[0][:14], words_of[1][:14])

    def test_help_of_tuning(self):
        for words in (["help", "tuning"], ["--help", "tuning"]):
            text = self.succeed(*words).stdout
            for option in ("--chunk", "--trace", "--log-bins", "--verbose"):
                self.assertIn(f" {option}", text)
            self.assertNotIn("--json", text)
        self.assertIn("ooc-run help tuning", self.succeed("histogram", "-h").stdout)
        self.check_error(2, "help", "tuning", "x")

    def test_version_lists_what_was_compiled_in(self):
        text = self.succeed("--version").stdout
        for pattern in (r"^ooc-run \d+\.\d+\.\d+\n", r"compiler +\w+ \d+", r"devices +cpu",
                        r"CUDA|cuda \(toolkit \d", r"engines +uring \(liburing \d",
                        r"CCCL \d+\.\d+", r"SSE2|AVX2|AVX-512"):
            self.assertRegex(text, pattern)

    def test_examples_run(self):
        """The examples of the long help run in their order; later ones use earlier files."""
        shorter = {"1G": "16M", "1GB": "16M", "1024x262144": "1024x4096"}
        for command in ("gen", "histogram", "reduce", "quantile", "top", "distinct", "convert",
                        "matmul"):
            for line in self.succeed("help", command).stdout.splitlines()[1:4]:
                words = [word.strip("'") for word in line.split("#")[0].split()[1:]]
                self.succeed(*[shorter.get(word, word) for word in words])

    def test_unknown_commands(self):
        self.check_error(2, "histogarm", "x")
        self.check_error(2, "multiply", "a", "b")
        self.check_error(2, "help", "hist")
        self.check_error(2, "--json", "reduce", "x")

    def test_unknown_options(self):
        self.check_error(2, "histogram", "x", "--bnis", "3")
        self.check_error(2, "reduce", "x", "--edges", "3")
        for command in ("info", "doctor"):  # there is nothing to explain
            self.check_error(2, command, "x", "--explain")

    def test_no_abbreviations(self):
        self.check_error(2, "reduce", "x", "--chu", "1M")

    def test_nothing_to_do(self):
        self.check_error(2, "histogram")
        self.check_error(2, "gen", "--size", "3")

    def test_bad_values(self):
        path = self.write("x.f32", np.zeros(8, "f4"))
        for words in ("--bins 0", "--bins 1048577", "--bins -1", "--bins many", "--range 2:1",
                      "--range nan:1", "--range 0:inf", "--range 5", "--range a:b", "--edges 1",
                      "--edges 2,1", "--edges 1,,2", "--chunk 1X", "--chunk 99999999T",
                      "--streams 0", "--threads two", "--device gpu", "--device cuda:x",
                      "--engine urin", "--direct maybe", "--progress full", "--dtype f3"):
            with self.subTest(words):
                self.check_error(2, "histogram", path, *words.split())
        self.check_error(2, "reduce", path, "--nan", "drop")

    def test_values_that_exclude_each_other(self):
        path = self.write("x.f32", np.zeros(8, "f4"))
        self.check_error(2, "histogram", path, "--edges", "0,1", "--bins", "2")
        self.check_error(2, "histogram", path, "--edges", "0,1", "--range", "0:1")
        self.check_error(2, "histogram", path, "--log-bins", "--range", "-1:1")

    def test_outputs_that_are_no_files(self):
        path = self.write("x.f32", np.zeros(8, "f4"))
        for option, words in [("--output", ["gen", "--size", "8"]),
                              ("--output", ["convert", path, "--to", "f2"]),
                              ("--output", ["matmul", path, path]),
                              ("--trace", ["reduce", path]), ("--report", ["reduce", path]),
                              ("--plot", ["bench", path]),
                              ("--plot", ["histogram", path])]:
            with self.subTest(option=option, words=words):
                self.check_error(2, *words, option, "-")
                self.check_error(2, *words, option, "")
        self.succeed("gen", "--size", "8", "-o", "./-")
        self.assertEqual(sorted(os.listdir(self.directory)), ["-", "x.f32"])

    def test_outputs_that_are_open_descriptors(self):
        path = self.write("x.f32", np.zeros(8, "f4"))
        os.symlink("/dev/stdout", self.path("link"))
        os.symlink(".", self.path("here"))
        with open(self.path("log"), "a+b") as log:
            log.write(b"kept")
            log.flush()
            for option, words, ending in [("-o", ["gen", "--size", "8"], ""),
                                          ("-o", ["convert", path, "--to", "f2"], ""),
                                          ("--trace", ["reduce", path], ""),
                                          ("--report", ["reduce", path], ".html"),
                                          ("--plot", ["histogram", path], ".svg")]:
                if ending:
                    os.symlink("/dev/stdout", self.path("link" + ending))
                names = ["link" + ending, "here/link" + ending]
                if not ending:
                    names += ["/dev/stdout", "/dev/stderr", "/dev/fd/1", f"/dev/fd/{log.fileno()}",
                              "/proc/self/fd/1", "/proc/thread-self/fd/1"]
                for name in names:
                    with self.subTest(option=option, name=name, words=words):
                        done = subprocess.run([PROGRAM, *words, option, name, "--force"],
                                              stdout=log, stderr=subprocess.PIPE, text=True,
                                              cwd=self.directory, env=clean_environment(),
                                              pass_fds=[log.fileno()], check=False)
                        self.assertEqual(done.returncode, 2, done.stderr)
                        self.assertIn(f"{name}: is an open descriptor, and not a file", done.stderr)
                        self.assertIn("  hint: name a file\n", done.stderr)
            done = subprocess.run([PROGRAM, "gen", "--size", "8", "-o", "log", "--force"],
                                  stdout=log, stderr=subprocess.PIPE, text=True, cwd=self.directory,
                                  env=clean_environment(), check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("log: is the file that standard output goes to", done.stderr)
            log.seek(0)
            self.assertEqual(log.read(), b"kept")

    def test_a_usage_error_comes_before_any_file_is_opened(self):
        self.check_error(2, "histogram", "missing.f32", "--bins", "0")


class EnvironmentTest(CliTest):
    def test_every_option_has_a_variable(self):
        path = self.write("x.bin", np.arange(64, dtype="u1"))
        document = self.json("histogram", path, env={
            "OOC_BINS": "4", "OOC_RANGE": "0:64", "OOC_DTYPE": "u1", "OOC_OFFSET": "16",
            "OOC_COUNT": "32", "OOC_DEVICE": "cpu", "OOC_ENGINE": "threads", "OOC_STREAMS": "3"})
        self.assertEqual(document["result"]["counts"], [0, 16, 16, 0])
        self.assertEqual(document["run"]["engine"], "threads")
        self.assertEqual(document["run"]["streams"], 3)

    def test_the_command_line_wins(self):
        path = self.write("x.bin", bytes(16))
        document = self.json("histogram", path, "--bins", "2", env={"OOC_BINS": "4"})
        self.assertEqual(document["result"]["bins"], 2)

    def test_switches(self):
        path = self.write("x.bin", bytes(16))
        done = self.succeed("reduce", path, env={"OOC_JSON": "1"})
        self.check_document(done.stdout)
        self.assertNotIn("{", self.succeed("reduce", path, env={"OOC_JSON": "0"}).stdout)

    def test_a_bad_value_names_the_variable(self):
        path = self.write("x.bin", bytes(16))
        self.check_error(2, "reduce", path, env={"OOC_CHUNK": "5Q"})
        self.check_error(2, "reduce", path, env={"OOC_QUIET": "perhaps"})

    def test_an_option_at_fault_that_is_a_variable_is_told_of(self):
        np.save(self.path("x.npy"), np.zeros(8, "f4"))
        self.check_error(3, "reduce", "x.npy", env={"OOC_DTYPE": "f8"})
        done = self.check_error(3, "reduce", "x.npy", "--dtype", "f8", env={"OOC_DTYPE": "f4"})
        self.assertNotIn("OOC_DTYPE", done.stderr)
        done = self.check_error(2, "reduce", "x.npy", "--chunk", "5Q",
                                env={"OOC_DEVICE": "cpu", "OOC_QUIET": "1"})
        self.assertNotIn("is set in the environment", done.stderr)
        self.succeed("gen", "-o", "y.bin", "--count", 9, env={"OOC_VALUE": "7"})

    def test_what_an_option_may_have_been_meant_to_be(self):
        self.write("-dash.f32", bytes(16))
        for words in (["reduce", "x", "--help=1"], ["reduce", "x", "--version"],
                      ["reduce", "-dash.f32"], ["-V"]):
            self.check_error(2, *words)

    def test_help_is_found_wherever_it_is_asked_for(self):
        for brief, words in ((False, ("--help", "histogram")), (False, ("histogram", "help")),
                             (True, ("-h", "histogram"))):
            expected = self.succeed("histogram", "-h" if brief else "--help").stdout
            self.assertEqual(self.succeed(*words).stdout, expected, words)
        self.write("help", b"1234")  # a file of that name is one
        self.assertIn("4 values of uint8", self.succeed("histogram", "help", "--dtype",
                                                       "u1").stdout)
        self.assertIn("4 values", self.succeed("reduce", "help").stdout)

    def test_stats_is_another_name_of_reduce(self):
        path = self.write("x.f32", bytes(8))
        self.assertEqual(self.json("stats", path)["command"], "reduce")
        self.assertEqual(self.json("stats", path)["result"], self.json("reduce", path)["result"])
        self.assertEqual(self.succeed("stats", "-h").stdout, self.succeed("reduce", "-h").stdout)

    def test_help_of_an_option(self):
        """As all commands have it, also of one that -h and --help only name."""
        for word in ("--bins", "bins", "device", "-o", "resume", "--histogram"):
            done = self.succeed("help", word)
            self.check_message(done, done.stdout)
            self.assertEqual(done.stderr, "")
        self.assertEqual(self.succeed("--help", "--bins").stdout,
                         self.succeed("help", "--bins").stdout)
        self.assertIn("Usage: ooc-run histogram", self.succeed("help", "histogram").stdout)
        for word in ("--bnis", "resum", "xyzzy", "-x", "describe", "--", ""):
            self.check_error(2, "help", word)

    def test_help_takes_one_command(self):
        self.check_error(2, "help", "reduce", "histogram")
        self.check_error(2, "help", "help", "reduce")
        self.assertIn("ooc-run reduce", self.succeed("help", "reduce", "--help").stdout)

    def test_a_misspelt_variable_is_told_of(self):
        path = self.write("x.f32", bytes(16))
        done = self.succeed("reduce", path, "--device", "cpu", env={"OOC_THREDS": "2"})
        self.check_message(done)
        self.assertEqual(
            self.succeed("reduce", path, env={"OOC_THREDS": "2", "OOC_QUIET": "1"}).stderr, "")


if __name__ == "__main__":
    main()
