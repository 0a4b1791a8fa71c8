"""The files of the project, its layers, rooms and public headers, for tidy_test.py."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Each layer may include itself and those before it. Nothing may include the last: it measures.
LAYERS = ["io", "lib", "kernels", "mpi", "apps", "bench"]

# The rooms of a layer: each may include itself and those before it. Files of the layer outside of
# any room (program.cpp) may include all of them.
ROOMS = {
    "io": ["src/base", "src/file", "src/codec", "src/content", "src/dataset/formats",
           "src/dataset/formats/headers", "src/dataset", "src/pool", "src/engine", "src/http",
           "src/transfer"],
    "lib": ["src/group", "src/device", "src/observe", "src/checksum", "src/json", "src/sizing",
            "src/pass", "src/ranks", "src/inputs", "src/partials", "src/parts", "src/operators"],
    "kernels": ["src/base", "src/gemm", "src/histogram", "src/histogram_2d", "src/quantile",
                "src/top", "src/distinct", "src/reduce", "src/weighted_histogram", "src/lines",
                "src/by_column", "src/by_row", "src/gram", "src/convert", "src/scan", "src/split",
                "src/matmul/plan", "src/matmul", "src/verify"],
    "apps": ["describe-hdf5", "measure", *(f"ooc-run/{room}" for room in (
        "cli", "manual", "machine", "dataset", "request", "timeline", "rates", "result", "draw",
        "page", "run", "answers", "parts", "commands", "info", "doctor", "gen", "bench"))],
}

# Folders to which #include "..." in a layer may be relative, as in "draw/svg.hpp".
ROOM_ROOTS = {"kernels": ["kernels/src"], "apps": ["apps/ooc-run", "apps"],
              "bench": ["bench", "kernels/src", "apps"]}
CPP = {".cpp", ".hpp", ".cu"}
CODE = CPP | {".py", ".sh", ".cmake", ".in"}

# Headers that users include, next to the one that includes all of them.
PUBLIC = re.compile(r"(?:io|lib|kernels|mpi)/include/(ooc/\w+\.hpp)")
UMBRELLA = "ooc/ooc.hpp"


def project_files():
    """Returns the files of the project: those that git would track or, without git, all."""
    git = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, capture_output=True, check=False)
    if git.returncode == 0:
        names = git.stdout.decode().split("\0")
        return sorted(ROOT / name for name in names if name and (ROOT / name).is_file())
    left_out = {".git", ".deps", ".cache", "build", "__pycache__"}
    return sorted(path for path in ROOT.rglob("*")
                  if path.is_file() and not left_out & set(path.relative_to(ROOT).parts))


def without_comments_and_strings(text):
    """Returns only the C++ code, with the same numbers of lines."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda match: "\n" * match.group().count("\n") or '""', text)


FILES = {str(path.relative_to(ROOT)): path for path in project_files()}
TEXT = {}
for file_name, file_path in FILES.items():
    try:
        TEXT[file_name] = file_path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        pass  # data
CPP_CODE = {name: without_comments_and_strings(text) for name, text in TEXT.items()
            if Path(name).suffix in CPP}


def layer_of(name):
    """Returns one of LAYERS, or else the name of the top folder."""
    return name.split("/")[0]


def layer_of_header(header):
    """Returns the layer of a header <ooc/...>. CMake generates some from files with ".in"."""
    return next((layer for layer in LAYERS for end in ("", ".in")
                 if f"{layer}/include/{header}{end}" in FILES), None)


def included_file(name, header):
    """Returns the path of the private header that the file `name` includes as "header", or None.
    CMake generates a header from a file of the same name with ".in"."""
    layer = layer_of(name)
    places = [str(Path(name).parent), *ROOM_ROOTS.get(layer, [f"{layer}/src"])]
    paths = [os.path.normpath(f"{place}/{header}") for place in places]
    return next((path for path in paths if path in FILES or f"{path}.in" in FILES), None)


def room_of(name):
    """Returns the room of a file, for example "apps/ooc-run/draw"; None outside of all rooms."""
    rooms = [f"{layer}/{room}" for layer, names in ROOMS.items() for room in names]
    found = [room for room in rooms if name.startswith(f"{room}/")]
    return max(found, key=len, default=None)


def public_headers():
    """Returns the headers that users include, such as "ooc/fold.hpp"."""
    return {match[1] for match in map(PUBLIC.fullmatch, FILES) if match}


def with_all_they_include(headers):
    """Returns headers <ooc/...> and those that they include, directly or not."""
    found, left = set(), set(headers)
    while left:
        header = left.pop()
        found.add(header)
        file = next(name for layer in LAYERS for name in (f"{layer}/include/{header}",
                                                          f"{layer}/include/{header}.in")
                    if name in FILES)
        left |= set(re.findall(r"#include <(ooc/[^>]+)>", TEXT[file])) - found
    return found


def without_code(markdown):
    return re.sub(r"^```.*?^```", "", markdown, flags=re.S | re.M)


def is_code(name):
    path = Path(name)
    return path.suffix in CODE or path.name == "CMakeLists.txt" or name.startswith(
        ("scripts/", ".ci/")) or name == "datasets/fetch"


def lines_with(texts, pattern, allowed=lambda name: False):
    """Returns the lines of `texts` that match `pattern`, but for files that are allowed to."""
    return [f"{name}:{number}: {line.strip()}"
            for name, text in texts.items() if not allowed(name)
            for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]
