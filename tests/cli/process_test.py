#!/usr/bin/env python3
"""Tests signals, closed pipes, terminals and limits."""

import contextlib
import os
import pty
import re
import resource
import select
import signal
import socket
import subprocess

from cli_support import PROGRAM, CliTest, clean_environment, default_signals, main

import numpy as np

HUGE = 4 << 40  # bytes of a sparse file, too many to read during a test


class StdoutTest(CliTest):
    def test_a_full_disk(self):
        self.write("x.u8", bytes(100))
        for words in (["reduce", "x.u8"], ["histogram", "x.u8", "--json"], ["--version"], ["help"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE,
                                      text=True, cwd=self.directory, env=clean_environment(),
                                      check=False)
            self.assertEqual(done.returncode, 6, words)
            self.assertIn("error: standard output: write failed", done.stderr)
            self.assertIn("(ENOSPC)", done.stderr)

    def test_a_file_that_takes_a_part_only(self):
        """A short write is not an error, but the next write, beyond the limit, is."""
        with open(self.path("x"), "wb") as file:
            done = subprocess.run([PROGRAM, "help"], stdout=file, stderr=subprocess.PIPE, text=True,
                                  env=clean_environment(), check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                        (1000, 1000)))
        self.assertEqual(os.path.getsize(self.path("x")), 1000)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("error: standard output: write failed", done.stderr)
        self.assertIn("(EFBIG)", done.stderr)

    def test_an_output_that_was_written_is_told_of(self):
        self.write("x.u8", bytes(100))
        for words in (["convert", "x.u8", "-o", "y.f32", "--to", "f4"],
                      ["gen", "-o", "y.f32", "--count", "100"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([PROGRAM, *words, "--force"], stdout=full,
                                      stderr=subprocess.PIPE, text=True, cwd=self.directory,
                                      env=clean_environment(), check=False)
            self.assertEqual(done.returncode, 6, words)
            self.assertIn("  hint: y.f32 was written, whole\n", done.stderr)
            self.assertEqual(os.path.getsize(self.path("y.f32")), 400)
            os.remove(self.path("y.f32"))

    def test_a_picture_that_was_written_is_told_of(self):
        self.write("x.u8", bytes(100))
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "histogram", "x.u8", "--plot", "x.svg"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, cwd=self.directory,
                                  env=clean_environment(), check=False)
        self.assertEqual(done.returncode, 6)
        self.assertIn("note: wrote x.svg, a picture of the histogram\n", done.stderr)
        self.assertTrue(os.path.exists(self.path("x.svg")))

    def late_reader(self, reader, writer, words, stderr=False):
        """Returns the exit code, and the text of a stream that does not block and is read late."""
        os.set_blocking(writer, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(writer, bytes(512))
        streams = {"stderr" if stderr else "stdout": writer}
        process = subprocess.Popen([PROGRAM, *words], cwd=self.directory, env=clean_environment(),
                                   stdin=subprocess.DEVNULL,
                                   **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                                      **streams})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(writer)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.7)  # it waits for its reader
        text = b""
        while True:
            try:
                piece = os.read(reader, 1 << 20)
            except OSError:  # the end of a terminal
                piece = b""
            if not piece:
                break
            text += piece
        os.close(reader)
        return process.wait(60), text[filled:].replace(b"\r\n", b"\n").decode()

    def test_a_stream_that_does_not_block(self):
        """All of the text comes, however late: through pipes, sockets and terminals."""
        def a_socket():
            return (end.detach() for end in socket.socketpair())
        self.write("x.u8", bytes(100))
        histogram = ["histogram", "x.u8", "--bins", "65536", "--range", "0:1", "--json"]
        answer = self.succeed(*histogram).stdout.partition('"run"')[0]
        merge = ["merge", "p", "--json"]
        self.succeed(*histogram[:-1], "--shard", "0/1", "-o", "p")
        for kind, streams in (("pipe", os.pipe), ("socket", a_socket), ("terminal", pty.openpty)):
            for words in (histogram, merge):
                with self.subTest(kind, words=words):
                    reader, writer = streams()
                    code, text = self.late_reader(reader, writer, words)
                    self.assertEqual(code, 0)
                    self.check_document(text)
                    if words is histogram:
                        self.assertTrue(text.startswith(answer))
        for words in (["help"], ["--generate", "man"]):
            reader, writer = os.pipe()
            code, text = self.late_reader(reader, writer, words)
            self.assertEqual((code, text), (0, self.succeed(*words).stdout))
        reader, writer = os.pipe()
        words = ["reduce", "no such file" + 5000 * "x"]
        code, text = self.late_reader(reader, writer, words, stderr=True)
        self.assertEqual(code, 4)
        self.assertEqual(text, self.run_program(*words).stderr)

    def test_a_reader_that_has_gone(self):
        self.write("x.u8", bytes(100))
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "reduce", self.path("x.u8")], stdout=writer,
                              stderr=subprocess.PIPE, text=True, env=clean_environment(),
                              check=False)
        os.close(writer)
        self.assertEqual(done.returncode, 6)
        self.assertIn("(EPIPE)", done.stderr)

    def test_a_closed_stdout_is_not_a_file_of_ours(self):
        done = subprocess.run(f"exec {PROGRAM} gen -o x.bin --size 8 --pattern position >&-",
                              shell=True, stderr=subprocess.PIPE, text=True, cwd=self.directory,
                              env=clean_environment(), check=False)
        self.assertEqual(done.returncode, 6)
        with open(self.path("x.bin"), "rb") as file:
            self.assertEqual(file.read(), bytes(8))


class InterruptTest(CliTest):
    def huge_file(self, name):
        with open(self.path(name), "wb") as file:
            file.truncate(HUGE)

    def interrupt(self, number, *words):
        """Sends the signal once the program is reading; returns its exit code and output."""
        process, _ = self.at_work(*words)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stdout, stderr

    def test_a_partial_result(self):
        self.huge_file("x.f32")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            returned, stdout, stderr = self.interrupt(number, "reduce", "x.f32", "--json")
            self.assertEqual(returned, code, stderr)
            result = self.check_document(stdout)["result"]
            self.assertTrue(result["partial"])
            self.assertEqual(result["covered_bytes"], 4 * result["count"])
            self.assertGreater(result["count"], 0)
            self.assertLess(result["covered_bytes"], HUGE)
            self.assertEqual((result["sum"], result["max"]), (0, 0))

    def test_two_signals_at_once_are_one_request(self):
        """Two signals at once, as from coreutils' timeout, end a run with a partial result."""
        self.huge_file("x.f32")
        process, _ = self.at_work("reduce", "x.f32", "--json")
        self.stop(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertTrue(self.check_document(stdout)["result"]["partial"])

    def test_no_checksum_of_a_part(self):
        self.huge_file("x.u8")
        words = ["reduce", "x.u8", "--checksum"]
        returned, stdout, stderr = self.interrupt(signal.SIGINT, *words, "--json")
        self.assertEqual(returned, 130, stderr)
        self.assertNotEqual(stdout, "", stderr)
        self.assertIsNone(self.check_document(stdout)["input"]["checksum_xxh3_128"], stderr)
        returned, stdout, stderr = self.interrupt(signal.SIGINT, *words)
        self.assertEqual(returned, 130, stderr)
        self.assertIn("\n\n  checksum  none: it is of all the data, or of nothing\n\n", stdout,
                      stderr)

    def test_a_partial_picture_says_so(self):
        self.huge_file("x.u8")
        returned, stdout, stderr = self.interrupt(signal.SIGINT, "histogram", "x.u8")
        self.assertEqual(returned, 130, stderr)
        self.assertRegex(stdout, r"\nPARTIAL: interrupted; covers the first .* of 4\.40 TB\n")

    def test_no_result_before_anything_is_counted(self):
        """With --json, there is a document of nothing."""
        self.huge_file("x.f32")
        words = ["histogram", "x.f32"]
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            returned, stdout, stderr = self.interrupt(number, *words)
            self.assertEqual((returned, stdout), (code, ""), stderr)
            self.assertRegex(stderr, "ooc-run: error: .*interrupted")
            returned, stdout, stderr = self.interrupt(number, *words, "--json")
            self.assertEqual(returned, code, stderr)
            self.assertEqual(self.check_document(stdout),
                             {"schema": "ooc.result/1", "command": "histogram", "input": None,
                              "result": {"partial": True, "covered_bytes": 0}, "run": None,
                              "warnings": []})

    def test_a_signal_that_is_ignored_stays_so(self):
        """A run with SIGINT ignored, as in the background of a shell, continues after SIGINT."""
        self.huge_file("x.f32")
        process, _ = self.at_work("reduce", "x.f32", preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_IGN))
        process.send_signal(signal.SIGINT)
        self.assertIn(" left", process.stderr.readline())  # the next line of progress
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143, stderr)

    def test_nothing_is_left_of_an_interrupted_output(self):
        process = self.start("gen", "-o", "x.bin", "--size", "4G", "--threads", "1")
        self.assertTrue(self.wait_for_open(process, 4 << 30))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(os.listdir(self.directory), [])


class TerminalTest(CliTest):
    def on_terminal(self, *words, env=None, until=None):
        """Returns the output on a terminal; sends SIGINT once `until` is seen."""
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, *words], stdout=slave, stderr=slave,
                                   cwd=self.directory, preexec_fn=default_signals,
                                   env=clean_environment(TERM="xterm", **(env or {})))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(slave)
        shown = b""
        while select.select([master], [], [], 60)[0]:
            try:
                shown += os.read(master, 65536)
            except OSError:  # the program has closed its end
                break
            if until and until in shown:
                process.send_signal(signal.SIGINT)
                until = None
        os.close(master)
        return shown.decode()

    def test_colour_only_if_it_is_wanted(self):
        self.write("x.u8", bytes(100))
        self.assertIn("\x1b[36m█", self.on_terminal("histogram", "x.u8"))
        self.assertNotIn("\x1b", self.on_terminal("histogram", "x.u8", env={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", self.succeed("histogram", "x.u8").stdout)
        self.assertIn("ooc-run: \x1b[1;31merror:\x1b[0m", self.on_terminal("reduce", "missing"))

    def test_a_bar_that_goes(self):
        with open(self.path("x.f32"), "wb") as file:
            file.truncate(HUGE)
        shown = self.on_terminal("reduce", "x.f32", until=b" left")
        self.assertRegex(shown, r"\r\x1b\[K  0 % .*─.* of 4\.40 TB, .*B/s, .* left")
        self.assertIn("\r\x1b[K", shown[shown.rindex(" left"):])

    def test_a_bar_makes_room_for_a_note(self):
        with open(self.path("x.u8"), "wb") as file:
            file.truncate(HUGE)
        shown = self.on_terminal("histogram", "x.u8", "--log-bins", "--trace", "t.pf",
                                 until=b" left")
        self.assertRegex(shown, r"left\r\x1b\[Kooc-run: note: wrote t\.pf, .*\s+ooc-run: .*error:")

    def test_notes_fit_the_screen(self):
        self.write("x.f8", bytes(100))
        shown = self.on_terminal("reduce", "x.f8", env={"COLUMNS": "50"})
        self.assertIn("ooc-run: warning: x.f8: read as bytes, for .f8 is\r\n"
                      "                  no ending that names a type;\r\n"
                      "                  --dtype f8 reads float64\r\n", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 60)  # the result is not wrapped
        self.assertIn("type; --dtype f8 reads float64\n", self.succeed("reduce", "x.f8").stderr)

    def test_names_do_not_command_the_terminal(self):
        """Control characters, invalid UTF-8 and marks of direction in file names are escaped."""
        name = b"a\x1b[2J\xc2\x9b1m\x9b1m\xe2\x80\xae23f.\xe2\x81\xa6\xd8\x9c\xff.u8"
        shown = r"a\x1b[2J\u009b1m\x9b1m\u202e23f.\u2066\u061c\xff.u8"
        path = os.fsencode(self.directory) + b"/" + name
        with open(path, "wb") as file:
            file.write(bytes(range(100)))
        for words in (["reduce"], ["histogram"], ["info"], ["reduce", "--explain"],
                      ["convert", "--to", "f4", "--force", "-o", path + b".f32"],
                      ["reduce", "--dtype", "f8"], ["bench", "--runs", "1"], ["doctor"]):
            with self.subTest(words=words):
                done = subprocess.run([PROGRAM, words[0], path, *words[1:], "--device", "cpu"],
                                      capture_output=True, cwd=self.directory, check=False,
                                      env=clean_environment(XDG_CACHE_HOME=self.path("cache")))
                text = (done.stdout + done.stderr).decode()  # raises if it is not UTF-8
                if words != ["doctor"]:
                    self.assertIn(shown, text)
                self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c]")
                self.assertNotRegex(text, "[\u202a-\u202e\u2066-\u2069]")
        done = subprocess.run([PROGRAM, "reduce", path, "--json"], capture_output=True, check=True,
                              env=clean_environment())
        self.assertTrue(done.stdout.isascii())
        name = self.check_document(done.stdout.decode())["input"]["files"][0]["path"]
        hidden = re.compile("\ufffd([0-9a-f]{2})")
        self.assertEqual(hidden.sub(lambda byte: chr(0xdc00 + int(byte[1], 16)), name),
                         os.fsdecode(path))

    def test_no_bar_where_nobody_looks(self):
        self.write("x.u8", np.zeros(1 << 20, "u1"))
        self.assertNotIn("left", self.succeed("reduce", "x.u8").stderr)


class LimitTest(CliTest):
    def test_more_files_than_the_soft_limit(self):
        names = []
        for number in range(80):
            names.append(f"{number}.u8")
            self.write(names[-1], bytes([number]))
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        done = self.succeed("reduce", *names, "--json", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (32, hard)))
        self.assertEqual(self.check_document(done.stdout)["result"]["sum"], sum(range(80)))


if __name__ == "__main__":
    main()
