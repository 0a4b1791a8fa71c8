#!/usr/bin/env python3
"""Tests that help, man pages, reference and completion agree; all come from one table."""

import os
import pty
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from cli_support import PROGRAM, CliTest, clean_environment, main

REFERENCE = Path(__file__).resolve().parents[2] / "docs/reference.md"
FOLDER = Path(PROGRAM).parent / "manual"  # the files that are installed


def generate(*words):
    return subprocess.run([PROGRAM, "--generate", *words], capture_output=True, text=True,
                          check=True, timeout=300, env=clean_environment()).stdout


def long_help(*command):
    return subprocess.run([PROGRAM, "help", *command], capture_output=True, text=True, check=True,
                          timeout=300, env=clean_environment()).stdout


def commands():
    section = long_help().split("[options]\n")[1].split("\n\n")[0]
    return [name for name in re.findall(r"^  (\w+) ", section, re.M) if name != "help"]


class Option:
    """An option, parsed from a line of the long help."""

    def __init__(self, letter, name, argument, meaning):
        self.letter, self.name, self.argument, self.meaning = letter, name, argument, meaning

    @staticmethod
    def of(command):
        line = r"^.{11}(?:-(\w), )?--([a-z-]+) ?(\S*) +(\S.*)$"
        often = long_help(command).split("\nrarely ")[0]  # what follows are only names
        options = [Option(*parts) for parts in re.findall(line, often, re.M)]
        for section in long_help("tuning").split("\n\n")[1:]:
            commands_of, lines = section.split(":\n", 1)
            names = commands_of.removeprefix("all but ").split()
            if (command in names) != commands_of.startswith("all but "):
                options += [Option(*parts) for parts in re.findall(line, lines, re.M)]
        return options


OPTIONS = {command: Option.of(command) for command in commands()}

# Values that completion offers for an option.
VALUES = {
    "--device": {"auto", "cpu", "cuda", "all"}, "--engine": {"auto", "uring", "threads"},
    "--direct": {"auto", "yes", "no"}, "--progress": {"auto", "plain", "none"},
    "--nan": {"propagate", "omit"}, "--compute": {"f32", "tf32", "bf16", "f64"},
    "--bins": {"sqrt", "sturges", "scott", "fd", "auto"},
    "--histogram": {"sqrt", "sturges", "scott", "fd", "auto"},
    "--pattern": {"uniform", "normal", "sequence", "constant", "zipf", "position"},
    "--dtype": set("u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 bf16".split()),
    "--to": set("u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 bf16".split()),
}


class TableTest(CliTest):
    def test_there_is_something_to_compare(self):
        self.assertIn("histogram", OPTIONS)
        for command, options in OPTIONS.items():
            self.assertIn("json", [option.name for option in options], command)
        self.assertEqual([option.letter for option in OPTIONS["gen"] if option.name == "output"],
                         ["o"])

    def test_values_are_taken_and_others_refused(self):
        """The parser accepts only the values that completion offers, before it opens a file."""
        for command, options in OPTIONS.items():
            words = {"gen": ["-o", "y", "--size", "8"], "matmul": ["x", "x", "-o", "y"],
                     "convert": ["x", "-o", "y"]}.get(command, ["x"])
            for option in options:
                name = f"--{option.name}"
                for value in VALUES.get(name, ()):
                    done = self.run_program(command, *words, name, value, "--json")
                    self.assertNotIn(f"error: {name} {value}", done.stderr)
                    (self.directory / "y").unlink(missing_ok=True)
                if name in VALUES:
                    done = self.run_program(command, *words, name, "nonsense")
                    self.assertIn(f"error: {name} nonsense: ", done.stderr)


class ManualTest(CliTest):
    def page(self, *command):
        """Returns the text of a manual page."""
        return generate("man", *command).replace("\\-", "-").replace("\\(aq", "'")

    def test_every_command_and_option_is_there(self):
        program = self.page()
        for command, options in OPTIONS.items():
            self.assertIn(f"\n\\fB{command}\\fR\n", program)
            self.assertIn(f".BR ooc-run-{command} (1)", program)
            page = self.page(command)
            for option in options:
                letter = f"\\fB-{option.letter}\\fR, " if option.letter else ""
                argument = f" \\fI{option.argument}\\fR" if option.argument else ""
                self.assertIn(f".TP\n{letter}\\fB--{option.name}\\fR{argument}\n{option.meaning}\n",
                              page)

    def test_pages_are_well_formed(self):
        checkers = {"mandoc": ["-Tlint", "-Wwarning"], "groff": ["-man", "-ww", "-z", "-Tutf8"]}
        for checker, arguments in checkers.items():
            if not shutil.which(checker):
                print(f"man pages are not checked by {checker}, which is not installed")
                continue
            for command in [[], *([name] for name in OPTIONS)]:
                with self.subTest(checker=checker, command=command):
                    done = subprocess.run([checker, *arguments], input=generate("man", *command),
                                          capture_output=True, text=True, check=False, timeout=60)
                    complaints = [line for line in (done.stdout + done.stderr).splitlines()
                                  if "missing date" not in line]  # left out on purpose
                    self.assertEqual(complaints, [])

    def test_what_is_installed_is_what_is_generated(self):
        self.assertEqual({path.name for path in FOLDER.glob("*.1")},
                         {"ooc-run.1", *(f"ooc-run-{command}.1" for command in OPTIONS)})
        self.assertEqual((FOLDER / "ooc-run.1").read_text(), generate("man"))
        for command in OPTIONS:
            self.assertEqual((FOLDER / f"ooc-run-{command}.1").read_text(),
                             generate("man", command))
        for name, shell in {"ooc-run": "bash", "_ooc-run": "zsh", "ooc-run.fish": "fish"}.items():
            self.assertEqual((FOLDER / name).read_text(), generate(f"complete-{shell}"))

    def test_what_cannot_be_generated(self):
        self.check_error(2, "--generate", "mna")
        self.check_error(2, "--generate")
        self.check_error(2, "--generate", "man", "hist")
        self.check_error(2, "--generate", "reference", "reduce")
        self.check_error(2, "--generate", "man", "reduce", "histogram")


class ReferenceTest(CliTest):
    def test_every_option_is_there(self):
        chapters = generate("reference").split("\n## ")
        for command, options in OPTIONS.items():
            chapter, = (text for text in chapters if text.startswith(f"{command}\n"))
            for option in options:
                letter = f"`-{option.letter}`, " if option.letter else ""
                argument = f" {option.argument}" if option.argument else ""
                row = f"| {letter}`--{option.name}{argument}` | {option.meaning} |"
                self.assertIn(row, chapter)

    def test_the_committed_page_is_the_generated_one(self):
        self.assertEqual(REFERENCE.read_text(), generate("reference"),
                         f"make it anew: {PROGRAM} --generate reference > {REFERENCE}")


class CompletionTest:
    """Tests completion in a shell. `complete` returns the words offered for each line."""

    shell = ""

    def setUp(self):
        super().setUp()
        for name in ("one.f32", "two.svg", "three.png"):
            self.write(name, b"")

    def check(self, expected):
        """Checks that each line of `expected` is completed to exactly its words."""
        if not shutil.which(self.shell):
            print(f"completion is not tried in {self.shell}, which is not installed")
            return
        found = self.complete(list(expected))
        for line, words in expected.items():
            self.assertEqual(found[line] - {""}, set(words), line)

    def test_commands(self):
        self.check({"ooc-run ": {*OPTIONS, "help", "stats"}, "ooc-run histo": {"histogram"},
                    "ooc-run sta": {"stats"}, "ooc-run help ": {*OPTIONS, "tuning", "stats"},
                    "ooc-run help tu": {"tuning"},
                    "ooc-run --generate ": {"man", "reference", "complete-bash", "complete-zsh",
                                            "complete-fish"}})

    def test_options(self):
        self.check({f"ooc-run {command} --": {"--help", *(f"--{option.name}" for option in options)}
                    for command, options in {**OPTIONS, "stats": OPTIONS["reduce"]}.items()})

    def test_values(self):
        lines = {}
        for command in ("histogram", "reduce", "quantile", "top", "distinct", "hist2d", "matmul",
                        "convert", "gen"):
            for option in OPTIONS[command]:
                name = f"--{option.name}"
                if name in VALUES:
                    lines[f"ooc-run {command} {name} "] = VALUES[name]
        self.check({**lines, "ooc-run reduce --engine th": {"threads"},
                    "ooc-run quantile --method l": {"linear", "lower"},
                    "ooc-run histogram --range ": set(), "ooc-run gen --size ": set()})

    def test_files(self):
        files = {"one.f32", "two.svg", "three.png"}
        self.check({"ooc-run histogram ": files, "ooc-run info one": {"one.f32"},
                    "ooc-run gen -o ": files, "ooc-run reduce --trace t": {"two.svg", "three.png"}})


class BashTest(CompletionTest, CliTest):
    shell = "bash"

    def complete(self, lines):
        """Calls the completion function as readline does. compopt needs readline, so it is replaced
        by one that does what readline does for "-o default"."""
        script = self.write("completion", generate("complete-bash").encode())
        program = f"source {script}\n" + r'''
compopt() { [[ $* != "-o default" ]] || mapfile -t COMPREPLY < <(compgen -f -- "$word"); }
while IFS= read -r line; do
  read -ra COMP_WORDS <<<"${line//=/ = }"
  [[ $line != *[\ =] ]] || COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _ooc_run
  printf '%s\n' "${COMPREPLY[@]}" =
done
'''
        done = subprocess.run(["bash", "--norc", "-c", program], input="\n".join(lines) + "\n",
                              capture_output=True, text=True, check=True, cwd=self.directory,
                              timeout=300, env=clean_environment())
        self.assertEqual(done.stderr, "")
        return dict(zip(lines, (set(part.split("\n")) - {"completion"}
                                for part in done.stdout.split("=\n"))))

    def test_pictures_and_equal_signs(self):
        self.check({"ooc-run histogram --plot ": {"two.svg", "three.png"},
                    "ooc-run histogram --engine=": VALUES["--engine"],
                    "ooc-run histogram --engine=u": {"uring"}, "ooc-run gen -": {
                        "-h", "--help", *(f"--{option.name}" for option in OPTIONS["gen"])}})


class FishTest(CompletionTest, CliTest):
    shell = "fish"

    def complete(self, lines):
        script = self.write(".completion", generate("complete-fish").encode())
        words = ["fish", "--no-config", "-c",
                 f"source {script}; while read line; complete -C $line; echo =; end"]
        done = subprocess.run(words, input="\n".join(lines) + "\n", capture_output=True, text=True,
                              check=True, cwd=self.directory, timeout=300,
                              env=clean_environment(HOME=str(self.directory)))
        parts = done.stdout.split("=\n")
        return {line: {word.split("\t")[0] for word in part.split("\n")}
                for line, part in zip(lines, parts)}


class ZshTest(CompletionTest, CliTest):
    shell = "zsh"

    # Print the words that are offered in a form that no other output has.
    SETUP = r'''
PROMPT= fpath=($FOLDER $fpath)
autoload -Uz compinit && compinit -D -u
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a offers
  builtin compadd -A offers "$@"
  print -rl -- \<${^offers}\>
  builtin compadd "$@"
}
finish() {
  print -r -- "<" end ">"
  comppostfuncs=(finish)  # zsh clears it each time
}
finish
'''

    def complete(self, lines):
        self.write("_ooc-run", generate("complete-zsh").encode())
        setup = self.write(".setup", self.SETUP.encode())
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.directory)
            os.execvpe("zsh", ["zsh", "-f", "-i"],
                       clean_environment(FOLDER=str(self.directory), TERM="dumb"))
        try:
            self.answer(terminal, f"source {setup}\n")
            # ^U clears the line before the next one.
            return {line: self.answer(terminal, f"\x15{line}\t") - {"_ooc-run"} for line in lines}
        finally:
            os.close(terminal)
            os.waitpid(process, 0)

    def answer(self, terminal, keys):
        """Returns the words that zsh offers after these keys."""
        os.write(terminal, keys.encode())
        shown = b""
        while b"< end >" not in shown:
            shown += os.read(terminal, 4096)
        return set(re.findall("<([^ >]+)>", shown.decode()))


if __name__ == "__main__":
    main()
