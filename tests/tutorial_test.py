#!/usr/bin/env python3
"""Follows the beginning of docs/library.md as a reader does, with an installed libooc.

    tutorial_test.py PREFIX/bin/ooc-run

In an empty directory, writes each program and CMakeLists.txt that the page shows under the name in
the sentence above it, runs each command, and compares what it prints with what the page shows.
package_test.sh calls it.
"""

import os
import re
import tempfile
import unittest
from pathlib import Path

from docs_test import DOCUMENTS, Stage, blocks_of
from cli_support import PROGRAM
from messages import is_expected

SECTIONS = ("A first program", "The same with Thrust")


def section(text, title):
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


class TutorialTest(unittest.TestCase):
    def test_the_first_programs_are_built_and_run(self):
        with tempfile.TemporaryDirectory(prefix="ooc-tutorial-", dir=os.getcwd()) as directory:
            stage = Stage(directory)
            Path(directory, ".local").symlink_to(Path(PROGRAM).parents[1])  # in its home directory
            printed = 0
            for title in SECTIONS:
                for block in blocks_of(section(DOCUMENTS["docs/library.md"], title)):
                    if block.name:
                        Path(stage.place, block.name).write_text("\n".join(block.lines) + "\n",
                                                                 encoding="utf-8")
                        continue
                    for command in block.commands():
                        print(f"$ {command.text}", flush=True)
                        exit_code, output = stage.run(command)
                        self.assertEqual(exit_code, 0, output)
                        self.assertTrue(is_expected(command.shown, output), output)
                        printed += re.fullmatch(r"\d+\n", output) is not None
            self.assertEqual(printed, len(SECTIONS), "each section runs a program")


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    unittest.main()
