#!/usr/bin/env python3
"""Compiles operators that are wrong, and expects one short error for each, in one sentence.

    wrong_operators_test.py FILE COMPILER [OPTION...]
"""

import pathlib
import re
import shutil
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
most_lines = 22  # of an error, with all that the compiler says about its place
not_there = 77

# The first line of what a compiler says about an error: GCC begins with the place of the
# instantiation, clang and nvcc with the error.
beginnings = {
    "gcc": r"^.*: In (?:instantiation of|substitution of|function|member function) ",
    "clang": r"^.*: (?:fatal )?error: ",
    "nvcc": r"^.*\): (?:catastrophic )?error",
}


def kind_of(compiler):
    if "nvcc" in pathlib.Path(compiler).name:
        return "nvcc"
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    return "clang" if "clang" in version else "gcc"


def expected():
    """Returns the words that the error for each operator is to contain."""
    found = re.findall(r"^struct (\w+)[^\n]*// (.*)$", source.read_text(), re.MULTILINE)
    assert len(found) >= 30, found
    return dict(found)


def errors_of(compiler, options, kind):
    """Returns what the compiler says, an item for each error."""
    command = [compiler, "-std=c++20", *options]
    if kind == "nvcc":
        command += ["-x", "cu", "-cuda", "-o", "/dev/null", "-diag-suppress", "177"]
    else:
        command += ["-fsyntax-only"]
    if kind == "clang":
        command += ["-ferror-limit=0"]
    done = subprocess.run([*command, source], capture_output=True, text=True)
    assert done.returncode != 0, "it compiles"
    items, lines = [], []
    for line in (done.stderr + done.stdout).splitlines():
        if line.lstrip().startswith(("In file included", "from ")):
            continue
        if re.match(beginnings[kind], line):
            items.append(lines)
            lines = []
        lines.append(line)
    items.append(lines)
    return [lines for lines in items if re.search(r"error: ", "\n".join(lines))]


def unquoted(text):
    """Some compilers show another character instead of a `."""
    return re.sub(r"[`?]", "", text)


def main():
    compiler, *options = sys.argv[2:]
    if shutil.which(compiler) is None:
        print("there is no", compiler)
        return not_there
    words = expected()
    said = {name: [] for name in words}
    wrong = []
    for lines in errors_of(compiler, options, kind_of(compiler)):
        text = "\n".join(lines)
        of = [name for name in re.findall(r"wrong::(\w+)", text) if name in words]
        if not of:
            wrong.append("an error of no operator:\n" + text)
        for name in of[:1]:
            said[name].append(lines)
    for name, errors in said.items():
        text = "\n".join("\n".join(lines) for lines in errors)
        if len(errors) != 1 or text.count("error: ") != 1:
            wrong.append(f"{name}: {len(errors)} errors instead of one\n{text}")
        elif unquoted(words[name]) not in unquoted(text):
            wrong.append(f"{name}: does not say {words[name]!r}\n{text}")
        elif len(errors[0]) > most_lines:
            wrong.append(f"{name}: {len(errors[0])} lines\n{text}")
    print("\n\n".join(wrong) or f"{len(words)} operators, one sentence each")
    return 1 if wrong else 0


sys.exit(main())
