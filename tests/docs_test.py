#!/usr/bin/env python3
"""Tests that the commands in the documents print what is shown.

    docs_test.py OOC_RUN            runs the commands and compares their output
    docs_test.py OOC_RUN --write    updates the documents where the output differs

The ```console blocks of a document are run in order, in one directory that is empty at first. `$ `
begins a command and `> ` continues it. The lines below are its output: stdout if it succeeds, else
stderr without notes and warnings. If an `ooc-run: error:` is shown, the command must fail, with the
code in the heading above, as in "(exit code 3)". A command without output only has to succeed.

`…` matches any text in a line; alone in a line, it matches any lines. It replaces output that
differs between runs or machines.

A block below a line <!-- not run --> is not run, for the reason in NOT_RUN. Blocks of C++ and CMake
are programs of examples/, or parts of one. A block below a sentence that ends with `NAME`: is a
whole file, which tutorial_test.py builds. Blocks of Python are run by
python_test.sh. Blocks without a language are drawings.
"""

import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
sys.path.insert(0, str(ROOT / "tests/support"))
from cli_support import PROGRAM, clean_environment  # noqa: E402
from messages import difference, is_expected  # noqa: E402

# Reasons why blocks are not run, by document and first command.
NOT_RUN = {
    ("README.md", "scripts/demo"): "installs and builds; CI calls scripts/test",
    ("README.md", "pip install ./ooc-*.whl"): "installs: python_test.sh, debian_test.sh do it",
    ("docs/python.md", "pip wheel --no-deps --wheel-dir dist python/"): "python_test.sh does it",
    ("docs/python.md", "import ooc.torch"): "needs a GPU: python/tests/test_gpu.py does it",
    ("docs/building.md", "scripts/setup"): "installs and builds, as scripts/test does",
    ("docs/building.md", "cd build/cpu && cpack && apt-get install ./ooc-run_*.deb"):
        "makes and installs packages: debian_test.sh does it",
    ("docs/library.md", "scripts/setup --build"): "installs and builds, as scripts/demo does",
    **{("docs/library.md", command): "tutorial_test.py does it"
       for command in ("ooc-run gen -o prices.f32 --count 10M --pattern uniform --quiet",
                       "cmake -B build -DCMAKE_BUILD_TYPE=Release "
                       "-DCMAKE_PREFIX_PATH=$HOME/.local", "cmake --build build")},
    ("docs/library.md", "c++ -std=c++20 -O2 program.cpp $(pkg-config --cflags --libs ooc)"):
        "linking_test.py does it",
    ("CONTRIBUTING.md", "scripts/setup"): "installs and builds, as .ci/run does",
    ("datasets/README.md",
     'ooc-run histogram "$(datasets/fetch minilm)::embeddings.word_embeddings.weight"'):
        "fetches 90 MB, as scripts/demo does",
    ("examples/README.md", "cmake -S examples -B build/examples -DCMAKE_BUILD_TYPE=Release "
                           "-DCMAKE_PREFIX_PATH=PREFIX"): "package_test.sh does it",
    ("docs/troubleshooting.md", "ooc-run reduce big.f32"): "a failing disk: disk_faults_test",
    ("docs/troubleshooting.md", "ooc-run histogram big.u8"): "a race: input_faults_test",
    ("docs/troubleshooting.md", "ooc-run convert data.f32 -o /mnt/full/data.f64"):
        "a full disk: output_faults_test",
    ("docs/troubleshooting.md", "ooc-run convert data.f32 -o half.f16 --to f2"):
        "takes another program that makes the output meanwhile",
    ("docs/troubleshooting.md", "ooc-run reduce big.f32 --io-timeout 2"):
        "a stalling disk: disk_faults_test",
}
DRAWN_BY_HAND = {"how-it-works.svg"}
LANGUAGES = {"", "cmake", "console", "cpp", "python", "text"}

FENCE = re.compile(r"```(\w*)$")
FILE_NAME = re.compile(r"`([\w.]+)`:$")
EXIT_CODE = re.compile(r"#+ .*\(exit code (\d+)\)")
# Time and rate in the last line of a run.
SPEED = re.compile(r"(?<= in )\d[\d.]* m?s, \d.*")


@dataclasses.dataclass
class Command:
    text: str
    begin: int  # line of the document where its output begins
    end: int
    shown: list
    exit_code: str


@dataclasses.dataclass
class Block:
    language: str
    line: int  # number of its first line, from 0
    lines: list
    is_run: bool
    exit_code: str  # from the heading above
    name: str  # of the file that it is, from the sentence above; else None

    def commands(self):
        """Returns the commands with the output that is shown for each."""
        found = []
        for number, line in enumerate(self.lines, self.line):
            if line.startswith("$ "):
                found.append(Command(line[2:], number + 1, number + 1, [], self.exit_code))
            elif line.startswith("> ") and not found[-1].shown:
                found[-1].text += "\n" + line[2:]
                found[-1].begin = number + 1
            else:
                found[-1].shown.append(line)
        for command in found:
            while command.shown and not command.shown[-1]:
                command.shown.pop()
            command.end = command.begin + len(command.shown)
        return found


def blocks_of(text):
    blocks, block, above, sentence, exit_code = [], None, "", "", None
    for number, line in enumerate(text.splitlines()):
        fence = FENCE.match(line)
        if block is not None:
            if line == "```":
                blocks.append(block)
                block = None
            else:
                block.lines.append(line)
        elif fence:
            name = FILE_NAME.search(sentence)
            block = Block(fence[1], number + 1, [], above != "<!-- not run -->", exit_code,
                          name and name[1])
        elif line.startswith("#"):
            code = EXIT_CODE.match(line)
            exit_code = code and code[1]
        above = line
        sentence = line or sentence
    assert block is None, "a block without an end"
    return blocks


def documents():
    """Returns the text of the Markdown files of the project, by name."""
    left_out = {".git", ".deps", ".cache", "build"}
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
    return {str(name): (ROOT / name).read_text(encoding="utf-8") for name in sorted(names)
            if not left_out & set(name.parts)}


DOCUMENTS = documents()

# The reference contains the examples of the help, which cli_usage_test runs.
PLAYED = {name: text for name, text in DOCUMENTS.items() if name != "docs/reference.md"}


class Stage:
    """An empty directory where the commands of a document run, and a PATH with their programs."""

    def __init__(self, directory):
        self.place = Path(directory, "place")
        self.place.mkdir()
        programs = Path(directory, "bin")
        programs.mkdir()
        for name, program in ("ooc-run", PROGRAM), ("python3", sys.executable):
            (programs / name).symlink_to(program)
        self.environment = clean_environment(PATH=f"{programs}:{os.environ['PATH']}",
                                             HOME=directory, XDG_CACHE_HOME=f"{directory}/cache")

    def run(self, command):
        """Runs a command; returns its exit code and the output to compare."""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command.text], cwd=self.place,
                              env=self.environment, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode == 0:
            return 0, done.stdout
        notes = ("ooc-run: note: ", "ooc-run: warning: ")
        return done.returncode, "".join(line for line in done.stderr.splitlines(keepends=True)
                                        if not line.startswith(notes))


def play(text, look):
    """Runs the commands of a document; calls `look` with each, its exit code and its output."""
    with tempfile.TemporaryDirectory(prefix="ooc-docs-", dir=os.getcwd()) as directory:
        stage = Stage(directory)
        for block in blocks_of(text):
            if block.language == "console" and block.is_run:
                for command in block.commands():
                    look(command, *stage.run(command))
        return {path.name: path.read_bytes() for path in stage.place.glob("*.svg")}


def contrast(one, other):
    """Returns the contrast of two colours, 1 to 21, by the formula of WCAG 2."""
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                  for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class DocsTest(unittest.TestCase):
    maxDiff = None

    def check(self, name, command, exit_code, printed):
        with self.subTest(f"{name}:{command.begin}: {command.text}"):
            fails = any(line.startswith("ooc-run: error:") for line in command.shown)
            self.assertEqual(exit_code != 0, fails, f"exit code {exit_code}\n{printed}")
            if fails:
                self.assertEqual(str(exit_code), command.exit_code or str(exit_code))
            if command.shown and not is_expected(command.shown, printed):
                self.fail(difference(command.shown, printed.splitlines()))

    def test_commands_print_what_is_shown(self):
        for name, text in PLAYED.items():
            pictures = play(text, lambda command, *result: self.check(name, command, *result))
            for picture, drawn in pictures.items():
                kept = ROOT / "docs" / picture
                if kept.exists():
                    self.assertEqual(drawn, kept.read_bytes(), f"{name} draws another {picture}")

    def test_pictures_are_drawn_by_the_readme(self):
        pictures = {path.name for path in (ROOT / "docs").glob("*.svg")}
        for picture in pictures - DRAWN_BY_HAND:
            self.assertIn(f"--plot {picture}", DOCUMENTS["README.md"])

    def test_pictures_that_are_drawn_by_hand_are_shown_and_fit_light_and_dark_pages(self):
        for picture in DRAWN_BY_HAND:
            self.assertIn(f'src="docs/{picture}"', DOCUMENTS["README.md"])
            page = DOCUMENTS[f"docs/{Path(picture).stem}.md"]
            self.assertIn(f'src="{picture}"', page)
            drawing = (ROOT / "docs" / picture).read_text(encoding="utf-8")
            ElementTree.fromstring(drawing)
            colours = set(re.findall(r"#[0-9a-f]{6}\b", drawing))
            self.assertTrue(colours)
            for colour in colours:
                for paper in "#ffffff", "#0d1117":  # of GitHub
                    self.assertGreater(contrast(colour, paper), 3, f"{colour} on {paper}")
            self.assertNotIn('width="100%"', drawing, "a background")

    def test_what_is_not_run_has_a_reason(self):
        reasons = dict(NOT_RUN)
        for name, text in DOCUMENTS.items():
            for block in blocks_of(text):
                if block.is_run:
                    continue
                # A block of another language is known by its first line.
                first = (block.commands()[0].text if block.language == "console"
                         else block.lines[0]).split("  #")[0].rstrip()
                reason = reasons.pop((name, first), None)
                self.assertIsNotNone(reason, f"{name}:{block.line}: not in NOT_RUN: {first}")
                print(f"not run: {name}:{block.line}: {first}: {reason}")
        self.assertFalse(reasons, "reasons for blocks that are run, or not there")

    def test_every_block_is_of_a_known_kind(self):
        for name, text in DOCUMENTS.items():
            indented = re.search(r"(?m)^[ \t>]+```\w", text)
            self.assertIsNone(indented, f"{name}: an indented block is not run")
            for block in blocks_of(text):
                place = f"{name}:{block.line}"
                self.assertIn(block.language, LANGUAGES, place)
                if block.language == "console":
                    self.assertTrue(block.lines and block.lines[0].startswith("$ "), place)
                else:
                    self.assertFalse(any(line.startswith("$ ") for line in block.lines),
                                     f"{place}: commands stand in ```console blocks")

    def test_programs_are_those_that_are_built(self):
        examples = ROOT / "examples"
        programs = {path.read_text(encoding="utf-8") for path in examples.glob("*.c*")}
        # The name of the target does not matter.
        target = re.compile(r"(?<=target_link_libraries\()\S+")
        build = target.sub("TARGET", (examples / "CMakeLists.txt").read_text(encoding="utf-8"))
        shown = {"cpp": 0, "cmake": 0}
        for name, text in DOCUMENTS.items():
            for block in blocks_of(text):
                if block.language == "cpp":
                    excerpt = "\n".join(block.lines) + "\n"
                    self.assertTrue(any(excerpt in program for program in programs),
                                    f"{name}:{block.line}: is in no program of examples/")
                elif block.language == "cmake" and not block.name:
                    for line in block.lines:
                        self.assertIn(target.sub("TARGET", line), build, f"{name}:{block.line}")
                shown[block.language] = shown.get(block.language, 0) + 1
        self.assertTrue(shown["cpp"] and shown["cmake"], "the README shows neither")

    def test_verdicts_are_those_of_the_program(self):
        source = (ROOT / "tests/apps/run/verdict_test.cpp").read_text(encoding="utf-8")
        known = set(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", source)))
        shown = [line for block in blocks_of(DOCUMENTS["docs/verdict.md"])
                 if block.language == "text"
                 for line in "\n".join(block.lines).replace("\n  ", " ").splitlines()]
        self.assertTrue(shown)
        self.assertEqual([line for line in shown if line not in known], [])

    def test_links_into_documents_lead_to_headings(self):
        anchors = {}
        for name, text in DOCUMENTS.items():
            drawings = {line for block in blocks_of(text) for line in block.lines}
            titles = (line.lstrip("# ") for line in text.splitlines()
                      if line.startswith("#") and line not in drawings)
            anchors[name] = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
                             for title in titles}
        for name, text in DOCUMENTS.items():
            for document, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
                place = os.path.normpath(Path(name).parent / document) if document else name
                self.assertIn(anchor, anchors[place], name)

    def test_commands_in_passing_have_the_options_that_they_name(self):
        usage = {}
        for name, text in DOCUMENTS.items():
            for command, rest in re.findall(r"`ooc-run ([a-z0-9]+)([^`\n]*)`", text):
                if command not in usage:
                    done = subprocess.run([PROGRAM, command, "--help"], capture_output=True,
                                          text=True, env=clean_environment(), check=False)
                    self.assertEqual(done.returncode, 0, f"{name}: ooc-run {command}")
                    usage[command] = set(re.findall(r"--[a-z][a-z-]*", done.stdout))
                named = re.findall(r"(?<!\S)--[a-z][a-z-]*", rest)
                self.assertEqual(set(named) - usage[command], set(), f"{name}: ooc-run {command}")


def write():
    """Updates the documents where they show other output than is printed."""
    for name, text in PLAYED.items():
        lines, differing = text.splitlines(), []

        def look(command, _, printed, differing=differing):
            if command.shown and not is_expected(command.shown, printed):
                differing.append((command, SPEED.sub("…", printed).rstrip().splitlines()))

        pictures = play(text, look)
        for command, printed in reversed(differing):
            lines[command.begin:command.end] = printed
        (ROOT / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for picture, drawn in pictures.items():
            if (ROOT / "docs" / picture).exists():
                (ROOT / "docs" / picture).write_bytes(drawn)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
