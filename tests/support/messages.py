"""Expected text of the program, in files: tests/messages/SCRIPT.txt is what one script expects.

A line `== CLASS.METHOD` begins what one test expects: after `$ `, each command, and then its text.
If a command is there several times, these are its first runs; later runs print what the last one
does. `…` matches any text in a line; alone in a line, it matches any lines. It stands for text that
differs between runs or machines. scripts/accept-messages writes what is printed into these files.
"""

import difflib
import fcntl
import os
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "messages"
ACCEPT = os.environ.get("OOC_ACCEPT_MESSAGES") == "1"


def is_expected(expected, printed):
    """True if the lines of the text `printed` match those that are expected."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == "…" else
        re.escape(line.rstrip()).replace("…", r"[^\n]*") + r"\n" for line in expected)
    lines = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, lines) is not None


def difference(expected, printed):
    return "\n".join(difflib.unified_diff(expected, printed, "expected", "printed", lineterm=""))


def parse(text):
    """Returns by test and command what its runs print, each as a list of lines."""
    tests = {}
    for line in text.splitlines():
        if line.startswith("== "):
            commands = tests.setdefault(line[3:], {})
        elif line.startswith("$ "):
            runs = commands.setdefault(line[2:], [])
            runs.append([])
        else:
            runs[-1].append(line)
    for commands in tests.values():
        for runs in commands.values():
            for lines in runs:
                while lines and not lines[-1]:
                    lines.pop()
    return tests


def unparse(tests):
    texts = []
    for name, commands in sorted(tests.items()):
        head = [f"== {name}"]
        for command, runs in commands.items():
            for lines in runs:
                texts.append("\n".join([*head, f"$ {command}", *lines]) + "\n")
                head = []
    return "\n".join(texts)


class Messages:
    """What one test expects that commands print, and what they have printed so far."""

    def __init__(self, test):
        self.name = test.id().removeprefix("__main__.")
        self.path = FOLDER / f"{Path(sys.argv[0]).stem}.txt"
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        self.expected = parse(text).get(self.name, {})
        self.printed = {}

    def differ(self, command, text):
        """Returns how the text of a command differs from what is expected of its next run; "" if it
        does not."""
        expected = self.expected.get(command, [])
        printed = self.printed.setdefault(command, [])
        old = expected[min(len(printed), len(expected) - 1)] if expected else []
        lines = [line.rstrip() for line in text.rstrip().splitlines()]
        if expected and is_expected(old, text):
            printed.append(old)
            return ""
        # Lines that say what differs between machines are kept where they match.
        patterns = [line for line in old if "…" in line and line.strip() != "…"]
        printed.append([next((pattern for pattern in patterns if is_expected([pattern], line)),
                             line) for line in lines])
        return "" if ACCEPT else f"$ {command}\n{difference(old, lines)}"

    def end(self):
        """Returns the commands that were expected to run more often; or accepts what is printed."""
        if not ACCEPT:
            return [command for command, runs in self.expected.items()
                    if len(runs) > len(self.printed.get(command, []))]
        if self.printed == self.expected:
            return []
        for runs in self.printed.values():
            while len(runs) > 1 and runs[-1] == runs[-2]:
                runs.pop()
        with open(self.path, "a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            text = unparse({**parse(file.read()), self.name: self.printed})
            file.truncate(0)
            file.write(text)
        return []
