#!/usr/bin/env python3
"""Makes every system call of a small run fail in turn: once, and from then on."""

import re
import shutil
import tempfile
from pathlib import Path

from faults_support import CHUNK, FIGURES, FaultTest, main, run_command, side_by_side

# The errors that are injected into each call, and the exit codes that the run may end with.
INPUT, OUTPUT, MEMORY = 4, 6, 7
FAULTS = {
    "openat": (["EMFILE", "EIO"], {INPUT, OUTPUT, MEMORY}),
    "newfstatat": (["EIO"], {INPUT, OUTPUT}),
    "fstatfs": (["EIO"], {INPUT, OUTPUT}),
    "statx": (["ENOSYS", "EIO"], set()),
    "fcntl": (["EINVAL"], {INPUT, OUTPUT}),
    "ioctl": (["EIO"], set()),
    "lseek": (["EIO"], set()),
    "read": (["EIO"], set()),
    "fallocate": (["ENOSPC", "EOPNOTSUPP", "EINTR"], {OUTPUT}),
    "ftruncate": (["EFBIG"], {OUTPUT}),
    "flock": (["EAGAIN"], set()),
    "io_uring_setup": (["EPERM", "ENOSYS", "ENOMEM", "EMFILE"], set()),
    "io_uring_register": (["ENOMEM", "EINVAL"], set()),
    "io_uring_enter": (["EINTR", "EAGAIN", "EBUSY", "EBADF"], {INPUT, OUTPUT}),
    "mmap": (["ENOMEM"], {MEMORY}),
    "brk": (["ENOMEM"], {MEMORY}),
    "mprotect": (["ENOMEM"], {MEMORY}),
    "madvise": (["EINVAL", "ENOMEM"], set()),
    "pread64": (["EIO", "EINTR", "EAGAIN"], {INPUT}),
    "pwrite64": (["ENOSPC", "EINTR"], {OUTPUT}),
    "fsync": (["EIO"], {OUTPUT}),
    "sync_file_range": (["EIO", "ENOSYS"], {OUTPUT}),
    "link": (["EPERM"], {OUTPUT}),
    "linkat": (["EIO"], {OUTPUT}),
    "rename": (["EIO"], {OUTPUT}),
    "renameat2": (["EIO"], {OUTPUT}),
    "unlink": (["EIO"], set()),
    "close": (["EIO", "EINTR"], set()),
    "clone3": (["EAGAIN", "ENOMEM"], {MEMORY}),
    "getdents64": (["EIO"], set()),
    "getrandom": (["EINTR", "ENOSYS"], {OUTPUT}),
    "prlimit64": (["EPERM"], set()),
    "sched_getaffinity": (["ENOSYS"], set()),
    "mincore": (["ENOMEM"], set()),
    "rt_sigprocmask": (["EINVAL"], set()),
    "rt_sigtimedwait": (["EINTR"], set()),
}
# These errors are retried for ten seconds, so they are injected only once here.
ONLY_ONCE = {("fallocate", "EINTR"), ("pread64", "EINTR"), ("io_uring_enter", "EINTR"),
             ("io_uring_enter", "EAGAIN"), ("io_uring_enter", "EBUSY"), ("pwrite64", "EINTR"),
             ("pread64", "EAGAIN"), ("getrandom", "EINTR")}
MOST_CALLS = 40  # of one name in one thread
FILTER = "--seccomp-bpf"  # strace 5.3


def calls_of(log):
    """Returns the numbers of calls by name: of those before main(), and of all of each thread."""
    loader, threads = {}, {}
    main_thread, in_main = None, False
    for line in log.read_text().splitlines():
        match = re.match(r"(\d+) +(\w+)\(", line)
        if not match:
            continue
        thread, name = match.groups()
        main_thread = main_thread or thread
        in_main = in_main or name == "fcntl"  # the first that main() makes
        counts = threads.setdefault(thread, {})
        counts[name] = counts.get(name, 0) + 1
        if not in_main:
            loader[name] = loader.get(name, 0) + 1
    return loader, threads


class SystemCallTest(FaultTest):
    def points(self, work, options):
        """Yields (call, error, which of the calls) for each run to try."""
        log = self.directory / "calls"
        done = run_command([*work.words, *options], ["strace", "-f", "-o", log])
        self.assertIsNone(work.complaint(done, {0}))
        loader, threads = calls_of(log)
        for name, (errors, _) in FAULTS.items():
            # strace counts the calls of each thread separately.
            first = loader.get(name, 0) + 1
            last = min(first + MOST_CALLS,
                       max(counts.get(name, 0) for counts in threads.values()))
            for error in errors:
                for number in range(first, last + 1):
                    yield name, error, str(number)
                    if (name, error) not in ONLY_ONCE:
                        yield name, error, f"{number}+"

    def walk(self, command, *options, through=()):
        """Makes each call of a run fail in turn. The calls `through` must be among them."""
        self.need("strace")
        trial = run_command(["--version"], ["strace", "-f", "-o", "/dev/null"])
        if trial.returncode != 0:
            self.skipTest(f"strace: {trial.stderr}")
        # Other calls do not stop a run, which takes half the time.
        filtered = run_command(["--version"], ["strace", FILTER, "-f", "-o", "/dev/null"])
        self.only_these = [FILTER] if filtered.returncode == 0 else []
        work = self.work(command)
        work.evict()
        points = list(self.points(work, options))
        names = {name for name, _, _ in points}
        self.assertLessEqual(set(through), names)
        complaints = side_by_side(lambda point: self.try_point(work, options, *point), points)
        found = [text for text in complaints if text is not None]
        self.assertFalse(found, "\n".join(["", *found]))

    def try_point(self, like, options, name, error, which):
        """Returns what is wrong with the end of the run, or None."""
        place = Path(tempfile.mkdtemp(dir=self.directory))
        work = like.elsewhere(place)
        work.restore()
        work.evict()
        log = Path(f"{place}.log")
        # brk returns the end of the heap and no errors: -ENOMEM would be a very high address.
        fault = "retval=0" if name == "brk" else f"error={error}"
        done = run_command([*work.words, *options], [
            "strace", *self.only_these, "-f", "-o", log, "-e", f"trace={name}",
            "-e", f"inject={name}:{fault}:when={which}"])
        complaint = "it hangs"
        if done is not None:
            FIGURES["points walked"] += "(INJECTED)" in log.read_text()
            # A call that is interrupted once is repeated, so the run must succeed.
            allowed = set() if error == "EINTR" and not which.endswith("+") else FAULTS[name][1]
            if name == "unlink":  # the empty file of a trial, which the next run removes
                for path in work.outputs.glob(".*.ooc-tmp"):
                    if path.stat().st_size == 0:
                        path.unlink()
            complaint = work.complaint(done, allowed | {0})
        shutil.rmtree(place)
        return complaint and f"{name} {error} when={which}: {complaint}"

    def test_reduce(self):
        self.walk("reduce", "--chunk", 4 * CHUNK, "--threads", 4,
                  through=["statx", "io_uring_setup", "io_uring_register", "io_uring_enter"])

    def test_reduce_with_threads(self):
        # One thread makes all reads, so that it makes more of them than the loader, whose calls do
        # not fail.
        self.walk("reduce", "--chunk", 4 * CHUNK, "--direct", "no", "--threads", 1,
                  through=["pread64", "clone3"])

    def test_convert(self):
        self.walk("convert", "--chunk", 4 * CHUNK,
                  through=["io_uring_enter", "fallocate", "fsync", "linkat", "rename"])

    def test_convert_with_threads(self):
        self.walk("convert", "--engine", "threads", "--chunk", CHUNK, "--threads", 1,
                  through=["pread64", "pwrite64"])


if __name__ == "__main__":
    main()
