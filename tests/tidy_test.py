#!/usr/bin/env python3
"""Checks the small rules of CONTRIBUTING.md, so that reviews can focus on the large ones."""

import fnmatch
import re
import unittest
from pathlib import Path

from tidy_project import (CPP_CODE, FILES, LAYERS, ROOMS, ROOT, TEXT, UMBRELLA, included_file,
                          is_code, layer_of, layer_of_header, lines_with, public_headers, room_of,
                          with_all_they_include, without_code)

MAX_SOURCES = 16  # in a room

MAX_COLUMNS = 100
MAX_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_BYTES = 1 << 20

# The one header that uses both backends, and the only one that checks for the compiler.
BACKENDS_MEET = "lib/include/ooc/execute.hpp"

# The one header that refuses an older standard of the language.
LANGUAGE = "io/include/ooc/detail/base/language.hpp"

MAX_PUBLIC = 35  # one for each operator and concept, and that of ooc::mpi

# Documents for those who change the library, which may name its parts.
INSIDE = re.compile(r"(io|lib|kernels|mpi|apps|bench)/.*|docs/decisions/.*|CONTRIBUTING\.md")

# Headers without a test file of the same name, and the files that test them.
TESTED_ELSEWHERE = {
    LANGUAGE: "tests/package_test.sh",
    "io/include/ooc/detail/base/api.hpp": "tests/linking_test.py",
    "io/include/ooc/detail/file/extent.hpp": "tests/io/pool/plan_test.cpp",
    "io/include/ooc/detail/base/byte_reader.hpp": "tests/lib/parts/collect_test.cpp",
    "io/include/ooc/detail/base/random_words.hpp": "tests/cli/split_test.py",
    "io/include/ooc/detail/base/version.hpp": "tests/lib/pass/coordinator_version_test.cpp",
    "io/include/ooc/detail/pool/blocks.hpp": "tests/io/pool/share_test.cpp",
    "io/include/ooc/detail/http/remote_object.hpp": "tests/cli/remote_test.py",
    "io/include/ooc/detail/dataset/sample.hpp": "tests/cli/info_test.py",
    "io/include/ooc/detail/file/page_reader.hpp": "tests/io/dataset/judgement_test.cpp",
    "io/include/ooc/detail/dataset/producer.hpp": "tests/io/transfer/producer_reader_test.cpp",
    "lib/include/ooc/detail/partials/partial_functions.hpp":
        "tests/lib/partials/partials_test.cpp",
    "lib/include/ooc/detail/pass/operation.hpp": "tests/lib/pass/coordinator_test.cpp",
    "io/include/ooc/detail/transfer/transfer.hpp": "tests/io/transfer/writer_test.cpp",
    "kernels/include/ooc/detail/kernels/blas.hpp": "tests/kernels/gemm/gemm_test.cpp",
    "kernels/include/ooc/detail/kernels/chunk_kernel.hpp": "tests/apps/bench/run_test.cpp",
    "kernels/include/ooc/ooc.hpp": "tests/package_test.sh",
    "mpi/include/ooc/mpi.hpp": "tests/mpi_test.py",
    "lib/include/ooc/execute.hpp": "tests/lib/operators/fold_test.cu",
    "lib/include/ooc/detail/sizing/io_config.hpp": "tests/lib/sizing/layout_test.cpp",
    "lib/include/ooc/detail/sizing/typical_rates.hpp": "tests/apps/run/device_choice_test.cpp",
    "lib/include/ooc/detail/observe/reporters.hpp": "tests/lib/observe/trace_event_test.cpp",
    "lib/include/ooc/detail/parts/checkpoint_file.hpp":
        "tests/lib/parts/checkpoint_test.cpp",
    "lib/include/ooc/detail/operators/fold_job.hpp": "tests/lib/parts/checkpoint_test.cpp",
    "lib/include/ooc/detail/operators/fold_operation.hpp": "tests/lib/operators/fold_test.cu",
    "lib/include/ooc/detail/parts/resumable_job.hpp":
        "tests/lib/operators/output_job_test.cpp",
    "io/include/ooc/memory.hpp": "tests/lib/device/memory_test.cpp",
    "io/include/ooc/detail/base/heap_memory.hpp": "tests/io/pool/slots_test.cpp",
    "io/include/ooc/detail/dataset/source_access.hpp": "tests/io/dataset/source_test.cpp",
    "io/include/ooc/detail/dataset/target_file.hpp": "tests/io/dataset/target_test.cpp",
    "lib/include/ooc/detail/device/binding.hpp": "tests/lib/pass/guest_test.cpp",
    "lib/include/ooc/detail/device/decoder.hpp": "tests/lib/device/device_test.cpp",
    "lib/include/ooc/detail/device/resident_room.hpp":
        "tests/lib/operators/resident_limits_test.cpp",
    "lib/include/ooc/detail/inputs/pass_inputs.hpp": "tests/lib/inputs/zip_test.cpp",
    "lib/include/ooc/detail/parts/found.hpp": "tests/lib/parts/collect_test.cpp",
    "lib/include/ooc/detail/parts/saved_part.hpp": "tests/lib/parts/part_file_test.cpp",
    "lib/include/ooc/detail/parts/part_file.hpp": "tests/lib/parts/part_file_test.cpp",
    "lib/include/ooc/detail/pass/run_pass.hpp": "tests/lib/pass/coordinator_test.cpp",
    "lib/include/ooc/detail/pass/reservation.hpp": "tests/lib/pass/coordinator_test.cpp",
    "lib/include/ooc/records.hpp": "tests/lib/inputs/fields_test.cpp",
}

STANDARD = re.compile(r"[a-z_]+")
SYSTEM = re.compile(
    r"(sys|linux|asm)/.+|(dirent|fcntl|immintrin|poll|pthread|sched|signal|spawn|unistd)\.h")
THIRD_PARTY = {
    "io": re.compile(r"liburing\.h|curl/curl\.h|dlfcn\.h|nlohmann/json\.hpp"),
    "lib": re.compile(r"xxhash\.h|nlohmann/json\.hpp"),
    "kernels": re.compile(r"(thrust|cub|cuda)/.+|dlfcn\.h"),
    "mpi": re.compile(r"mpi\.h"),
    "apps": re.compile(r"(boost/program_options|nlohmann|fmt|protozero)[/.].+|hdf5\.h"),
    "bench": re.compile(r"(boost/program_options|nlohmann)[/.].+"),
}
CUDA = re.compile(r"cuda[\w./]*|cublas_v2\.h|thrust/.+|cub/.+|nvtx3/.+")


def functions(code):
    """Yields the head and the number of lines of each function of namespaces and classes."""
    blocks, begin = [], 0
    for mark in re.finditer(r"[{};]", code):
        if mark[0] == "{":
            head = re.sub(r"alignas\(\w+\)", "", code[begin:mark.start()].strip())
            if blocks and blocks[-1][0] != "scope":
                kind = "inside"
            elif re.search(r"\b(namespace|class|struct|enum|union|extern)\b(?!.*\)\s*\w*$)", head,
                           re.S):
                kind = "scope"
            else:
                kind = "function" if "(" in head else "value"
            blocks.append((kind, head, mark.start()))
        elif mark[0] == "}":
            kind, head, start = blocks.pop()
            if kind == "function":
                yield head, code.count("\n", start, mark.start()) + 1
        begin = mark.end()


def may_use_cuda(name):
    """True if a file may include CUDA's headers: a private header, if all its users may."""
    if name.endswith(".cu") or name == BACKENDS_MEET or name.startswith("lib/src/device/cuda"):
        return True
    users = [user for user in CPP_CODE
             if any(included_file(user, header) == name for header in
                    re.findall(r'#include "([^"]+)"', TEXT[user]))]
    return "/src/" in name and name.endswith(".hpp") and all(map(may_use_cuda, users))


class TidyTest(unittest.TestCase):
    def check_lines(self, texts, pattern, rule, allowed=lambda name: False):
        """Fails if a line of `texts` matches `pattern`, unless its file is allowed to."""
        found = lines_with(texts, pattern, allowed)
        self.assertFalse(found, f"{rule}:\n" + "\n".join(found))

    def library_code(self):
        return {name: code for name, code in CPP_CODE.items()
                if layer_of(name) in ("io", "lib", "kernels")}

    def test_finds_the_project(self):
        for layer in LAYERS:
            self.assertTrue(any(layer_of(name) == layer for name in CPP_CODE), layer)

    def test_layers_point_one_way(self):
        wrong = []
        for name in CPP_CODE:
            layer = layer_of(name)
            if layer not in LAYERS:
                continue
            below = LAYERS[:LAYERS.index(layer) + 1]
            for kind, header in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', TEXT[name], re.M):
                if kind == '"':
                    fine = included_file(name, header) is not None
                elif header.startswith("ooc/"):
                    fine = layer_of_header(header) in below
                elif STANDARD.fullmatch(header) or SYSTEM.fullmatch(header):
                    fine = True
                elif CUDA.fullmatch(header):
                    fine = may_use_cuda(name)
                else:
                    fine = THIRD_PARTY[layer].fullmatch(header) is not None
                if not fine:
                    wrong.append(f"{name} includes {header}")
        self.assertFalse(wrong, "bench -> apps -> kernels -> lib -> io, and what each may use:\n" +
                         "\n".join(wrong))

    def test_rooms_point_one_way(self):
        wrong = []
        for name in CPP_CODE:
            room = room_of(name)
            if room is None:
                continue
            layer = layer_of(name)
            order = [f"{layer}/{each}" for each in ROOMS[layer]]
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', TEXT[name], re.M):
                included = room_of(included_file(name, header) or "")
                if included not in order[:order.index(room) + 1]:
                    wrong.append(f"{name} includes {header}")
        self.assertFalse(wrong, "each room of ROOMS may include those before it:\n" +
                         "\n".join(wrong))

    def test_every_room_is_listed_and_small(self):
        for layer, rooms in ROOMS.items():
            readme = TEXT[f"{layer}/README.md"]
            for room in rooms:
                line = rf"(?m)^\| `{re.sub('^(src|ooc-run)/', '', room)}/` \| \S"
                self.assertTrue(re.search(line, readme),
                                f"{layer}/README.md has no line for the room {room}")
                sources = [name for name in CPP_CODE if room_of(name) == f"{layer}/{room}"
                           and not name.endswith(".hpp")]
                self.assertTrue(sources, f"{layer}/{room} is empty")
                self.assertLessEqual(len(sources), MAX_SOURCES, f"{layer}/{room} is too large")
            allowed = {f"{layer}/{root}" for root in ("include/ooc", "src", "ooc-run", layer)}
            homeless = [name for name in CPP_CODE if layer_of(name) == layer
                        and room_of(name) is None and str(Path(name).parent) not in allowed
                        and not name.startswith(f"{layer}/include/ooc/detail/")]
            self.assertFalse(homeless, "files in a folder that is no room")

    def test_filters_of_tests_match_some(self):
        """A pattern of LONG_WITH_TSAN that matches nothing leaves its tests where they were."""
        for layer in ("lib", "kernels"):
            listed = re.search(r'string\(JOIN ":" \w+_long_with_tsan\n(.*?)\)',
                               TEXT[f"tests/{layer}/CMakeLists.txt"], re.S).group(1)
            names = [".".join(name) for file in CPP_CODE if file.startswith(f"tests/{layer}/")
                     for name in re.findall(r"TEST\w*\(\s*(\w+),\s*(\w+)\)", TEXT[file])]
            for pattern in listed.split():
                plain = re.sub(r"^\*/", "", re.sub(r"/\*$", ".*", pattern))
                self.assertTrue(fnmatch.filter(names, plain), f"{pattern} matches no test")

    def test_tests_are_where_their_subject_is(self):
        """tests/apps/draw/svg_test.cpp is about a file of that name in that room."""
        for layer, roots in (("io", ["io/src"]), ("lib", ["lib/src", "tests/lib"]),
                             ("kernels", ["kernels/src", "kernels/include/ooc/detail/kernels"]),
                             ("apps", ["apps/ooc-run"])):
            for name in CPP_CODE:
                if not name.startswith(f"tests/{layer}/") or "_test." not in name:
                    continue
                folder = str(Path(name).parent.relative_to(f"tests/{layer}"))
                self.assertTrue(any((ROOT / root / folder).is_dir() for root in roots), name)

    def test_backends_meet_in_one_header(self):
        self.check_lines(CPP_CODE, r"^\s*#\s*(if|ifdef|ifndef|elif)\b",
                         "no conditional compilation",
                         allowed=lambda name: name in (BACKENDS_MEET, LANGUAGE))
        code = CPP_CODE[BACKENDS_MEET]
        self.assertEqual(set(re.findall(r"#\s*if\w*\s+(\w+)", code)), {"__CUDACC__"})

    def test_headers_are_included_once(self):
        for name in CPP_CODE:
            if name.endswith(".hpp"):
                self.assertIn("#pragma once", TEXT[name], name)

    def test_the_library_neither_prints_nor_exits(self):
        self.check_lines(
            self.library_code(),
            r"\bstd::(cout|cerr|clog)\b|\b(printf|fprintf|puts|fputs|perror)\s*\(|"
            r"(?<![\w.>])(_?exit|quick_exit)\s*\(|\bstd::(abort|terminate)\b",
            "io, lib and kernels neither print nor end the program")

    def test_memory_has_owners(self):
        code = {name: re.sub(r"\boperator\s+(new|delete)\b|=\s*delete\b|<new>", "", text)
                for name, text in CPP_CODE.items() if layer_of(name) in LAYERS}
        self.check_lines(code, r"\bnew\b(?!\s*\()|\bdelete\b|\b(malloc|free|realloc)\s*\(",
                         "no naked new or delete")

    def test_no_namespace_is_emptied(self):
        self.check_lines(CPP_CODE, r"\busing\s+namespace\s+std\s*;", "no `using namespace std`")

    def test_text_is_clean(self):
        code = {name: text for name, text in TEXT.items() if is_code(name)}
        self.check_lines(code, r"\t", "no tabs")
        self.check_lines(code, r"\s+$", "no space at the end of a line")
        self.check_lines(code, r"^.{%d,}$" % (MAX_COLUMNS + 1), f"at most {MAX_COLUMNS} columns")
        self.check_lines(TEXT, r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b", "nothing left to do",
                         allowed=lambda name: name == "LICENSE")
        for name, text in code.items():
            self.assertTrue(text.endswith("\n"), f"{name} ends without a newline")

    @staticmethod
    def option_tables():
        return "".join(text for name, text in TEXT.items() if name.endswith("_options.hpp"))

    def test_the_library_names_no_option_of_the_program(self):
        names = re.findall(r'\.name = "([a-z-]+)"', self.option_tables())
        self.assertIn("chunk", names)
        options = "|".join(names)
        library = {name: text for name, text in TEXT.items()
                   if name.startswith(("io/", "lib/", "kernels/"))}
        self.check_lines(library, rf"(?<![\w-])(?<!; )--({options})\b(?![.-]?\w|->)",
                         "say it as a Remedy or in the library's terms; the tables of options "
                         "in apps/ooc-run/cli/ say which setting each sets")

    def test_settings_of_remedies_have_options(self):
        """Every setting that the library names exists, and an option says that it sets it."""
        library = {name: TEXT[name] for name in self.library_code()}
        in_remedies = r'RemedyAction::\w+,\s*"([\w:]+)"'
        in_texts = r'"[^"\n]*\b((?:Options|\w+Options|Format|Target)::[a-z]\w*)[^"\n]*"'
        named = {setting for text in library.values() for pattern in (in_remedies, in_texts)
                 for setting in re.findall(pattern, text)}
        rows = set(re.findall(r'\.sets = "([\w:]+)"', self.option_tables()))
        self.assertEqual(named, rows)
        headers = "".join(text for name, text in library.items() if "/include/" in name)
        for setting in named:
            owner, member = setting.split("::")
            body = re.search(rf"\b(?:struct|class) (?:OOC_API )?{owner} {{(.*?)^}};", headers,
                             re.S | re.M)
            self.assertRegex(body.group(1) if body else "", rf"\b{member}\b", setting)

    def test_files_are_short(self):
        too_long = [f"{name}: {text.count(chr(10))} lines" for name, text in TEXT.items()
                    if is_code(name) and text.count("\n") > MAX_LINES]
        self.assertFalse(too_long, f"at most {MAX_LINES} lines:\n" + "\n".join(too_long))
        too_big = [name for name, path in FILES.items() if path.stat().st_size > MAX_BYTES]
        self.assertFalse(too_big, "data does not belong into the repository")

    def test_functions_fit_a_screen(self):
        found = {name: list(functions(code)) for name, code in CPP_CODE.items()}
        self.assertGreater(sum(map(len, found.values())), 5000)
        too_long = [f"{name}: {lines} lines: {head}" for name, all_of_file in found.items()
                    for head, lines in all_of_file if lines > MAX_FUNCTION_LINES]
        self.assertFalse(too_long, f"at most {MAX_FUNCTION_LINES} lines:\n" + "\n".join(too_long))

    def test_nothing_names_a_machine(self):
        self.check_lines(TEXT, r"(?<![\w.}])/(" + "work|root|home|Users" + r")/\w",
                         "no paths of one machine")

    def test_every_file_is_built(self):
        """A CMakeLists.txt lists every source and public header."""
        listed = set()
        for name, text in TEXT.items():
            if Path(name).name == "CMakeLists.txt":
                words = re.findall(r"[\w./-]+\.(?:cpp|hpp|cu)\b", text)
                listed |= {(FILES[name].parent / word).resolve() for word in words}
        unlisted = [name for name in CPP_CODE if FILES[name].resolve() not in listed
                    and not (name.endswith(".hpp") and "/include/" not in name)]
        self.assertFalse(unlisted, "files that no CMakeLists.txt lists:\n" + "\n".join(unlisted))

    def test_source_properties_reach_the_library(self):
        """CMake ignores what a folder sets for sources of a target that was made elsewhere."""
        for layer in LAYERS[:3]:
            for command in re.findall(r"set_property\(SOURCE[^)]*\)|set_source_files_p[^)]*\)",
                                      TEXT[f"{layer}/CMakeLists.txt"]):
                self.assertIn("TARGET_DIRECTORY ooc", command, f"{layer}/CMakeLists.txt")

    def test_private_headers_are_used(self):
        included = {header for text in TEXT.values()
                    for header in re.findall(r'#\s*include\s*[<"]([^>"]+)', text)}
        unused = [name for name in CPP_CODE
                  if name.endswith(".hpp") and "/include/" not in name
                  and not any(f"/{name}".endswith(f"/{header}") for header in included)]
        self.assertFalse(unused, "headers that nothing includes")

    def test_public_headers_are_few(self):
        public = public_headers()
        self.assertIn(UMBRELLA, public)
        self.assertLessEqual(len(public - {UMBRELLA}), MAX_PUBLIC, sorted(public))
        umbrella = with_all_they_include({UMBRELLA})
        apart = {"ooc/execute.hpp", "ooc/mpi.hpp"}  # which need Thrust, and MPI
        self.assertEqual(public - umbrella, apart, f"{UMBRELLA} includes all others")

    def test_headers_are_installed_where_public_ones_include_them(self):
        installed = set()
        for layer in LAYERS[:4]:
            text = TEXT[f"{layer}/CMakeLists.txt"]
            variables = dict(re.findall(r"set\((\w+) (\S+)\)", text))
            text = re.sub(r"\${(\w+)}", lambda match: variables.get(match[1], ""), text)
            for files in re.findall(r"FILE_SET HEADERS.*?FILES(.*?)(?:PRIVATE|\))", text, re.S):
                installed |= set(re.findall(r"ooc/[\w/]+\.hpp", files))
        self.assertEqual(installed, with_all_they_include(public_headers()))

    def test_documents_name_headers_that_users_may_include(self):
        public = public_headers()
        for name, text in TEXT.items():
            if not name.startswith(("examples/", "tests/linking/")) and not name.endswith(".md"):
                continue
            for header in re.findall(r"(?<![\w-])ooc/[a-z_/]+\.hpp", text):
                if INSIDE.fullmatch(name):
                    self.assertIsNotNone(layer_of_header(header), f"{name} names {header}")
                elif name != "CHANGELOG.md":  # which names headers of the past, too
                    self.assertIn(header, public, name)
        listed = TEXT["docs/library.md"].partition("\n## Headers\n")[2].partition("\n## ")[0]
        self.assertEqual(set(re.findall(r"ooc/\w+\.hpp", listed)), public, "docs/library.md")

    def test_the_tutorial_has_tables_of_all_options_and_errors(self):
        headers = "".join(text for name, text in CPP_CODE.items() if "/include/ooc/" in name)

        def rows_of(kind):
            """Returns the names in the first column of a table of docs/library.md."""
            table = re.search(rf"(?m)^\| (?:field of )?`{kind}`.*((?:\n\|.*)+)",
                              TEXT["docs/library.md"])[1]
            return re.findall(r"`([\w.]+)`", "".join(re.findall(r"(?m)^\| [^|]+ \|", table)))

        for kind in ("Options", "PassOptions", "Format", "ErrorKind"):
            body = re.search(rf"\n(?:struct|enum class) (?:OOC_API )?{kind} {{(.*?)\n}};", headers,
                             re.S)[1]
            names = re.findall(r'(?m)^  (?:[^=\n]* )?([a-z_]+)(?: =.*|{.*})?[;,][ "]*$', body)
            self.assertGreater(len(names), 4, kind)
            self.assertEqual(sorted(rows_of(kind)), sorted(names), f"the table of {kind}")
        fields = {name.split(".")[-1] for name in rows_of("Stats")}
        self.assertGreater(len(fields), 20)
        self.assertLessEqual(fields, set(re.findall(r"\w+", headers)), "the table of Stats")

    def test_every_header_has_a_test(self):
        untested = []
        for name in CPP_CODE:
            if not name.endswith(".hpp") or "/include/" not in name:
                continue
            test = re.compile(rf"tests/{layer_of(name)}/(.+/)?{Path(name).stem}_test\.(cpp|cu)")
            elsewhere = TESTED_ELSEWHERE.get(name)
            if elsewhere not in FILES and not any(map(test.fullmatch, FILES)):
                untested.append(name)
        self.assertFalse(untested, "headers without a test:\n" + "\n".join(untested))

    def test_links_lead_somewhere(self):
        broken = [f"{name}: {link}" for name, text in TEXT.items() if name.endswith(".md")
                  for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", without_code(text))
                  if "://" not in link and not (FILES[name].parent / link).exists()]
        self.assertFalse(broken, "links to files that are not there:\n" + "\n".join(broken))


if __name__ == "__main__":
    unittest.main()
