#!/usr/bin/env python3
"""Tests that a test fails if a message differs from tests/messages, is missing there or unused."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "support"))
from messages import FOLDER, is_expected, parse, unparse  # noqa: E402

# A script as those of tests/cli, and a program that prints what `said` holds.
SCRIPT = """
import sys
sys.path[:0] = {paths}
import messages, pathlib
messages.FOLDER = pathlib.Path("messages")
from cli_support import CliTest, main
class SomeTest(CliTest):
    def test_one(self):
        for words in {commands}:
            self.check_message(self.run_program(*words))
main()
"""
GOLDEN = "== SomeTest.test_one\n$ ooc-run a\nooc-run: error: 1\n  hint: x\n"


class MessagesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="ooc-messages-", dir=os.getcwd())
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        (self.directory / "messages").mkdir()
        self.golden = self.directory / "messages/some_test.txt"
        program = self.directory / "program"
        program.write_text(f"#!/bin/sh\ncat {self.directory}/said >&2\n")
        program.chmod(0o755)
        (self.directory / "said").write_text("ooc-run: error: 1\n  hint: x\n")

    def run_test(self, golden, commands=(["a"],), accept=False):
        """Runs the script; returns if its test has passed, and what it has printed."""
        if golden is not None:
            self.golden.write_text(golden, encoding="utf-8")
        script = self.directory / "some_test.py"
        script.write_text(SCRIPT.format(paths=[str(TESTS / "cli"), str(TESTS / "support")],
                                        commands=list(commands)))
        done = subprocess.run([sys.executable, script, self.directory / "program"],
                              cwd=self.directory, capture_output=True, text=True, check=False,
                              env={**os.environ, "OOC_ACCEPT_MESSAGES": str(int(accept))})
        return done.returncode == 0, done.stderr

    def test_what_is_expected_passes(self):
        for golden in (GOLDEN, GOLDEN.replace("ooc-run: error: 1", "ooc…err…"),
                       GOLDEN.replace("ooc-run: error: 1\n  hint: x", "…")):
            self.assertTrue(self.run_test(golden)[0])
        self.assertTrue(self.run_test(GOLDEN, (["a"], ["a"]))[0])

    def test_what_differs_fails(self):
        for golden in (GOLDEN.replace("error: 1", "error: 2"), GOLDEN.replace("  hint: x\n", ""),
                       GOLDEN.replace("$ ooc-run a", "$ ooc-run b"), "", None,
                       GOLDEN.replace("test_one", "test_two"),
                       GOLDEN + "\n$ ooc-run a\nooc-run: error: 2\n"):
            passed, text = self.run_test(golden, (["a"], ["a"]))
            self.assertFalse(passed)
            self.assertIn("scripts/accept-messages", text)

    def test_what_is_not_used_fails(self):
        for more in ("\n$ ooc-run b\nooc-run: error: 1\n",
                     "\n$ ooc-run a\nooc-run: error: 1\n  hint: x\n"):
            passed, text = self.run_test(GOLDEN + more)
            self.assertFalse(passed)
            self.assertIn("not run", text)

    def test_what_is_accepted(self):
        other = "== OtherTest.test_it\n$ ooc-run x\n…\n"
        commands = (["a"], ["a"], ["b"])
        both = unparse({"OtherTest.test_it": {"ooc-run x": [["…"]]},
                        "SomeTest.test_one": {"ooc-run a": [["ooc-run: error: …", "  hint: x"]],
                                              "ooc-run b": [["ooc-run: error: 1", "  hint: x"]]}})
        differing = GOLDEN.replace("error: 1", "error: …").replace("hint: x", "hint: y")
        self.assertTrue(self.run_test(f"{other}\n{differing}", commands, accept=True)[0])
        self.assertEqual(self.golden.read_text(encoding="utf-8"), both)
        self.assertTrue(self.run_test(None, commands)[0])
        self.golden.unlink()
        self.assertTrue(self.run_test(None, commands, accept=True)[0])
        self.assertEqual(self.golden.read_text(encoding="utf-8"),
                         both.split("\n\n", 1)[1].replace("…", "1"))

    def test_text_that_stands_for_any(self):
        self.assertTrue(is_expected(["a …", "…", "z"], "a b\n1\n2\nz\n"))
        self.assertTrue(is_expected([], ""))
        self.assertFalse(is_expected(["a …", "z"], "a b\nc\nz\n"))
        self.assertFalse(is_expected([], "a\n"))

    def test_all_that_is_expected_is_of_a_test(self):
        """Else nothing would notice that it is not used."""
        files = sorted(FOLDER.glob("*.txt"))
        self.assertTrue(files)
        for file in files:
            text = file.read_text(encoding="utf-8")
            self.assertEqual(unparse(parse(text)), text, file)
            script, = TESTS.glob(f"*/{file.stem}.py")
            known, suite = set(), ""
            for kind, name in re.findall(r"(?m)^(?:    )?(class|def) (\w+)", script.read_text()):
                suite = name if kind == "class" else suite
                known.add(f"{suite}.{name}")
            self.assertEqual(set(parse(text)) - known, set(), f"{file}: of no test; delete it")


if __name__ == "__main__":
    unittest.main()
