"""Common code of the tests of the program. Each test is called with the path of ooc-run."""

import contextlib
import json
import mmap
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import jsonschema
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from messages import Messages  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else "ooc-run"
SCHEMA = json.loads(
    (Path(__file__).resolve().parents[2] / "apps/ooc-run/result/result.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)  # checking the schema takes longest


def clean_environment(**variables):
    """Returns the environment without variables that change what the program does or prints."""
    ours = {name: value for name, value in os.environ.items()
            if not name.startswith(("OOC_", "LC_", "AWS_")) and
            not name.lower().endswith("_proxy") and
            name not in ("NO_COLOR", "COLUMNS", "CURL_CA_BUNDLE", "SSL_CERT_FILE")}
    return {**ours, "LANG": "C.UTF-8", **variables}


def messages_of(stderr):
    """Returns errors, warnings and notes, without progress and the verdict of longer runs."""
    return "".join(re.findall(r"(?m)^(?:ooc-run: (?:error|warning|note): |  (?:why|hint): ).*\n",
                              stderr))


def default_signals():
    """Resets signals that are ignored where the test runs, as in the background of a shell."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def held_in_page_cache(path):
    """Keeps a file in the page cache. It is mapped, since a kernel with proactive reclaim (DAMON's
    pageout) evicts unmapped pages."""
    with (open(path, "rb") as file,
          mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ)):
        yield


def evict(path):
    """Evicts only this file or block device from the page cache, since other tests are running."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="ooc-cli-", dir=os.getcwd())
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.messages = Messages(self)
        self.is_skipped = False

    def tearDown(self):
        if not self.is_skipped and self._outcome.success:  # else it may have ended early
            self.assertEqual(self.messages.end(), [], "expected of commands that were not run")

    def skipTest(self, reason):
        self.is_skipped = True
        super().skipTest(reason)

    def path(self, name):
        return str(self.directory / name)

    def write(self, name, data):
        """Writes a file with the bytes of `data`; returns its path."""
        path = self.directory / name
        path.write_bytes(data.tobytes() if isinstance(data, np.ndarray) else data)
        return str(path)

    def run_program(self, *words, env=None, **options):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                              cwd=self.directory, timeout=300, check=False,
                              env=clean_environment(**(env or {})), **options)
        done.command = self.command_line(words, env)
        return done

    @staticmethod
    def command_line(words, env):
        """Returns a command as tests/messages has it: without paths, which differ by machine."""
        variables = (f"{name}={value}" for name, value in (env or {}).items()
                     if not str(value).startswith("/"))
        return shlex.join([*variables, "ooc-run", *map(str, words)])

    def start(self, *words, env=None, preexec_fn=default_signals):
        """Starts the program; it is killed when the test ends."""
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, cwd=self.directory,
                                   env=clean_environment(**(env or {})), preexec_fn=preexec_fn)
        self.addCleanup(process.kill)
        process.command = self.command_line(words, env)
        return process

    def at_work(self, *words, env=None, preexec_fn=default_signals):
        """Starts the program; returns it and its first line of progress, once it is reading."""
        process = self.start(*words, "--progress", "plain", env=env, preexec_fn=preexec_fn)
        line = process.stderr.readline()
        while line and "left" not in line:
            line = process.stderr.readline()
        return process, line

    @staticmethod
    def stop(process):
        """Stops a process. Its threads go on for a moment after the signal: this waits for them."""
        if process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def wait_for_open(self, process, size):
        """Waits until the program has a file of so many bytes open, as its output may be. Returns
        False if it ends before."""
        descriptors = f"/proc/{process.pid}/fd"
        while process.poll() is None:
            for descriptor in os.listdir(descriptors):
                with contextlib.suppress(OSError):  # closed meanwhile
                    if os.stat(f"{descriptors}/{descriptor}").st_size == size:
                        return True
            time.sleep(0.001)
        return False

    def succeed(self, *words, **options):
        done = self.run_program(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def json(self, *words, **options):
        """Returns the document that a command prints, checked against the schema."""
        return self.check_document(self.succeed(*words, "--json", **options).stdout)

    def check_document(self, text):
        document = json.loads(text)
        VALIDATOR.validate(document)
        return document

    def without_places(self, text):
        """Returns a text without what is another in each run: folders and numbers of ports."""
        text = text.replace(f"{self.directory}/", "").replace(str(self.directory), ".")
        return re.sub(r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT", text.replace(PROGRAM, "ooc-run"))

    def check_message(self, done, text=None):
        """Checks that a command has printed the messages that tests/messages expects, or that this
        text is what is expected."""
        text = self.without_places(messages_of(done.stderr) if text is None else text)
        self.assertTrue(text.endswith("\n") or not text, text)
        difference = self.messages.differ(self.without_places(done.command), text)
        if difference:
            self.fail(f"{difference}\n\nscripts/accept-messages accepts what is printed")

    def check_error(self, code, *words, **options):
        """Checks that a command fails with this exit code, no output and the message expected."""
        done = self.run_program(*words, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], "^ooc-run: error: ")
        for line in lines[1:]:
            self.assertRegex(line, "^  (why:  |hint: )[^ ]")
        self.check_message(done)
        return done

    def refuse(self, code, what, *words, hint=None, **options):
        """Checks that a command fails with this exit code, no output and a well-formed message."""
        done = self.run_program(*words, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], "^ooc-run: error: ")
        self.assertRegex(lines[0], what)
        for line in lines[1:]:
            self.assertRegex(line, "^  (why:  |hint: )[^ ]")
        if hint is not None:
            self.assertRegex(lines[-1], "^  hint: .*" + hint)
        return done


def main():
    unittest.main()
