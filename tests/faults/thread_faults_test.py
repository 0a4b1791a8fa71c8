#!/usr/bin/env python3
"""Makes every start of a thread in a run fail in turn: once, and from then on."""

import itertools
import os
import shutil
import tempfile

from faults_support import CHUNK, FIGURES, FaultTest, main, run_command, side_by_side

MEMORY = 7


class ThreadStartTest(FaultTest):
    """A run works with fewer threads or fails with a clear error, but never answers wrongly."""

    def setUp(self):
        super().setUp()
        self.need("strace")
        os.environ["XDG_CACHE_HOME"] = str(self.directory / "cache")

    def run_without(self, like, options, which):
        """Returns whether a run reached this start of a thread, how it ended, and what is wrong."""
        work = like.elsewhere(tempfile.mkdtemp(dir=like.outputs.parent))
        work.restore()
        log = self.directory / f"{work.outputs.name}.log"
        done = run_command([*work.words, *options], [
            "strace", "-f", "-o", log, "-e", "trace=clone3",
            "-e", f"inject=clone3:error=EAGAIN:when={which}"])
        complaint = "it hangs" if done is None else work.complaint(done, {0, MEMORY})
        shutil.rmtree(work.outputs)
        return "(INJECTED)" in log.read_text(), done, complaint and f"start {which}: {complaint}"

    def try_start(self, like, options, which):
        """Returns whether a run reached this start of a thread, and what is wrong with its end."""
        was_there, _, complaint = self.run_without(like, options, which)
        return was_there, complaint

    def walk(self, work, *options, foreign=()):
        """Makes each start of a thread fail in turn, except the starts with the numbers `foreign`,
        which a library makes. strace counts for each thread that starts others by itself."""
        for from_then_on in ("", "+"):
            points, more = 0, True
            while more:
                numbers = range(points + 1, points + 1 + os.cpu_count())
                outcomes = side_by_side(lambda number: (True, None) if number in foreign else
                                        self.try_start(work, options, f"{number}{from_then_on}"),
                                        numbers)
                self.assertFalse([complaint for _, complaint in outcomes if complaint])
                points += sum(was_there for was_there, _ in outcomes)
                more = all(was_there for was_there, _ in outcomes)
            self.assertGreater(points, len(foreign))
            FIGURES[f"starts of threads in {work.command}"] += points - len(foreign)

    def test_reduce(self):
        work = self.work("reduce")
        self.walk(work, "--checksum")
        self.walk(work, "--engine", "threads", "--direct", "no", "--chunk", 4 * CHUNK)

    def test_histogram(self):
        self.walk(self.work("histogram"))

    def test_verify(self):
        """The check works with fewer threads. Without any, the answer is printed unverified."""
        for command in ("reduce", "histogram"):
            work = self.work(command)
            self.walk(work, "--verify", "--streams", 3)
            of_the_check = next(number for number in itertools.count(1)
                                if not self.try_start(work, ["--streams", 3], number)[0])
            for which, code in ((of_the_check + 1, 0), (f"{of_the_check + 1}+", 0),
                                (f"{of_the_check}+", MEMORY)):
                was_there, done, complaint = self.run_without(
                    work, ["--verify", "--streams", 3], which)
                self.assertTrue(was_there)
                self.assertIsNone(complaint)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertTrue(work.is_right(done.stdout))
            self.assertIn("the result was not verified: starting a thread", done.stderr)

    def test_convert(self):
        self.walk(self.work("convert"))
        self.walk(self.work("convert"), "--engine", "threads", "--chunk", 4 * CHUNK)

    def test_convert_in_memory(self):
        """A separate thread allocates the pages of an output on tmpfs."""
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm")
        place = tempfile.mkdtemp(prefix="ooc-faults-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, place)
        self.walk(self.work("convert", outputs=os.path.join(place, "out")))

    def test_matmul(self):
        """OpenBLAS waits for ever for a thread that it could not start. So ooc-run first starts as
        many threads on trial as OpenBLAS will start."""
        trial = cores = len(os.sched_getaffinity(0))
        # The thread of the device starts all others but that for signals and itself.
        self.walk(self.work("matmul"), foreign=range(trial + 1, trial + cores))

    def test_gen(self):
        self.walk(self.work("gen", count=8 << 20), "--threads", 4)

    def test_bench(self):
        self.walk(self.work("bench"))


if __name__ == "__main__":
    main()
