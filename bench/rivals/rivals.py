"""Defines the rivals, with the settings to try for each."""
import array
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

from rival import ABOVE, BEST, BINS, JOBS, Q, RANGE, ROW

HERE = Path(__file__).resolve().parent
CORES = len(os.sched_getaffinity(0))

# The command of ooc-run for each job, and its answer.
OOC_RUN = {
    "histogram": (["histogram"], ["counts"]),
    "histogram_f4": (["histogram", "--bins", str(BINS), "--range", "{}:{}".format(*RANGE)],
                     ["counts"]),
    "reduce": (["reduce"], ["sum", "min", "max"]),
    "statistics": (["reduce"], ["sum", "min", "max", "mean", "stddev"]),
    "quantile": (["quantile", "--q", ",".join(map(str, Q)), "--method", "lower"], ["quantiles"]),
    "top": (["top", "-k", str(BEST)], ["values"]),
    "distinct": (["distinct"], ["distinct"]),
    "columns": (["reduce", "--axis", "0", "--columns", str(ROW)], ["columns"]),
    "hist2d": (["hist2d", "--columns", "2", "--cells", str(BINS), "--ranges",
                "{}:{}".format(*RANGE)], ["counts"]),
    "gram": (["gram", "-o", "{}", "--force", "--columns", str(ROW)], ["file"]),
    "filter": (["filter", "-o", "{}", "--force", "--above", str(ABOVE)], ["kept"]),
}  # not of a loop, which is a program
WRITTEN = ".written"  # is added to the name of the data, instead of {} in a command

OF_ALL = ("quantile", "distinct")  # NumPy has no function for blocks of these


@dataclass
class Variant:
    """Settings of a rival. If there are several, run.py measures the fastest."""
    name: str = ""
    environment: dict = field(default_factory=dict)
    arguments: list = field(default_factory=list)


@dataclass
class Rival:
    name: str
    command: list
    probe: list                       # prints versions; fails if the rival cannot run here
    read: Optional[Callable] = None   # parses its output: "seconds", the answer, "facts"
    build: list = field(default_factory=lambda: ["true"])
    variants: list = field(default_factory=lambda: [Variant()])
    absent: str = ""                  # why it does not fit this job or state of the cache


def answer_of(answer, keys):
    """Returns what `keys` of a result say. JSON has no NaN: ooc-run writes it as text."""
    numbers = {"quantiles": lambda found: [each["value"] for each in found],
               "values": lambda found: [each["value"] for each in found],
               "columns": lambda found: [each["mean"] for each in found],
               "distinct": lambda found: [found], "kept": lambda found: [found]}
    if keys[0] in numbers:
        return {"values": [float(value) for value in numbers[keys[0]](answer[keys[0]])]}
    if keys == ["counts"]:
        counts = answer["counts"]
        return {"counts": sum(counts, []) if isinstance(counts[0], list) else counts}
    return {key: float(answer[key]) for key in keys}


def matrix(path):
    values = array.array("d")
    values.frombytes(Path(path).read_bytes())
    return {"values": values.tolist()}


def ooc_run(name, path, job, *arguments):
    command, keys = OOC_RUN[job]

    def read(output):
        report = json.loads(output)
        run, answer = report["run"], report["result"]
        values = matrix(path + WRITTEN) if keys == ["file"] else answer_of(answer, keys)
        facts = {key: run[key] for key in ("device", "engine", "direct", "page_cache_fraction",
                                           "chunk_bytes", "streams", "threads", "reasons")}
        # GPU start-up is excluded for all rivals, but reads from the disk during it are not.
        seconds = max(run["seconds"] - run["device_seconds"],
                      run["stages"]["disk"]["busy_seconds"])
        return {"seconds": seconds, "facts": facts, **values}

    command = [path + WRITTEN if word == "{}" else word for word in command]
    return Rival(name, ["ooc-run", *command, path, "--dtype", JOBS[job], "--json", "--quiet",
                        *arguments], ["ooc-run", "--version"], read)


def python(name, path, job, variants=None, absent=""):
    program = [sys.executable, str(HERE / f"{name}.py"), "--job", job]
    return Rival(name, program + [path], program + ["--versions"], json.loads,
                 variants=variants or [Variant()], absent=absent)


def cpp(name, path, job, folder):
    program = f"{folder}/{name}"
    build = 'cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build "$2"'
    return Rival(name, [program, path, job], ["c++", "--version"], json.loads,
                 ["sh", "-c", build, "-", str(HERE), folder],
                 absent="" if job in ("histogram", "reduce") else "it has no such job")


def kvikio_variants(cold):
    """Returns combinations of threads, task size, block size and, if cold, direct reads or not."""
    def variant(threads, task_mib, direct, block_mib=128):
        task_bytes = str(task_mib << 20)
        name = f"{threads} threads, {task_mib} of {block_mib} MiB"
        return Variant(name + (", direct" if direct else ""),
                       {"BLOCK_MIB": str(block_mib),
                        "KVIKIO_COMPAT_MODE": "ON", "KVIKIO_NTHREADS": str(threads),
                        "KVIKIO_TASK_SIZE": task_bytes, "KVIKIO_BOUNCE_BUFFER_SIZE": task_bytes,
                        "KVIKIO_AUTO_DIRECT_IO_READ": "ON" if direct else "OFF"})

    if not cold:
        return [variant(threads, task_mib, False, block_mib)
                for threads, task_mib, block_mib in ((8, 4, 128), (16, 1, 128), (16, 4, 128),
                                                     (16, 16, 128), (8, 4, 256), (16, 4, 256),
                                                     (16, 8, 256), (16, 4, 512),
                                                     (16, 8, 512))]
    direct = [variant(threads, task_mib, True)
              for threads, task_mib in ((8, 1), (16, 1), (8, 4), (16, 4), (16, 16))]
    return direct + [variant(16, 4, False)]


def block_variants(path):
    """Returns several sizes of blocks, the largest of which is the whole file."""
    whole_mib = -(-os.path.getsize(path) >> 20)
    return [Variant(f"{mib} MiB", {"BLOCK_MIB": str(mib)})
            for mib in sorted({1, 4, 16, 64, whole_mib})]


def boost_variants(path):
    return [Variant(f"{variant.name}, {name}", {**variant.environment, "FILL_THREADS": str(count)})
            for variant in block_variants(path)
            for name, count in (("threads of Python", 1), ("threads of fill()", CORES))]


def blosc2_variants():
    return [Variant(f"{threads} threads, {'JIT' if jit else 'no JIT'}",
                    {"BLOSC_NTHREADS": str(threads), "BLOSC_ME_JIT": str(jit)})
            for threads in (CORES, 2 * CORES) for jit in (0, 1)]


def vaex_variants():
    return [Variant("default")] + [Variant(f"{rows} rows", {"VAEX_CHUNK_SIZE": str(rows)})
                                   for rows in (1 << 16, 1 << 18, 1 << 22)]


def fio_variants():
    return [Variant(f"{block} x {depth}", arguments=[f"--bs={block}", f"--iodepth={depth}"])
            for block, depth in (("256k", 32), ("1M", 8), ("1M", 16), ("1M", 32), ("4M", 8))]


def floors(path, cold):
    """Returns the programs that only read and give no answer."""
    def read_fio(output):
        reads = json.loads(output)["jobs"][0]["read"]
        return {"seconds": os.path.getsize(path) / reads["bw_bytes"]}

    fio = ["fio", "--name=read", f"--filename={path}", "--readonly", "--rw=read", "--direct=1",
           "--ioengine=io_uring", "--output-format=json"]
    not_warm = "" if cold else "it reads the disk, whatever the page cache holds"
    return [
        Rival("cat", ["sh", "-c", 'cat "$1" > /dev/null', "-", path], ["cat", "--version"]),
        Rival("dd", ["dd", f"if={path}", "of=/dev/null", "iflag=direct", "bs=4M"],
              ["dd", "--version"], absent=not_warm),
        Rival("fio", fio, ["fio", "--version"], read_fio, variants=fio_variants(),
              absent=not_warm),
    ]


def rivals(path, job, cold, folder):
    """Returns all rivals, in the order of their runs. `folder` is for those that must be built."""
    direct_or_not = [Variant("buffered", {"DIRECT": "0"}), Variant("direct", {"DIRECT": "1"})]
    return [
        *(ooc_run(name, path, job, *arguments)
          for name, arguments in [("ooc_run", []), ("ooc_run_cpu", ["--device", "cpu"]),
                                  ("ooc_run_cuda", ["--device", "cuda"])] if job in OOC_RUN),
        python("ooc_python", path, job),
        python("kvikio_tuned", path, job, kvikio_variants(cold)),
        python("kvikio_default", path, job),
        python("torch_threads", path, job, direct_or_not if cold else None),
        python("torch_pinned", path, job),
        python("torch_dataloader", path, job),
        python("ooc_stream_torch", path, job),
        python("ooc_stream_cupy", path, job),
        python("ooc_stream_numpy", path, job),
        python("cupy_memmap", path, job),
        python("cupy_fromfile", path, job),
        cpp("cpp_openmp", path, job, folder),
        python("duckdb_numpy", path, job),
        python("polars_memmap", path, job),
        python("vaex_memmap", path, job, vaex_variants()),
        python("dask_memmap", path, job, block_variants(path)),
        python("boost_memmap", path, job, boost_variants(path)),
        python("blosc2_memmap", path, job, blosc2_variants()),
        python("numpy_pool", path, job, block_variants(path),
               absent="it needs all values at once" if job in OF_ALL else ""),
        python("numpy_memmap", path, job, None if job in OF_ALL else block_variants(path)),
        *floors(path, cold),
    ]
