#!/usr/bin/env python3
"""Measures the figures in README on one machine, each with its limit or a rival program.

    bench/headline.py measure --dir DIR --out-dir DIR2 --out R.json    with a GPU, 8 minutes
    bench/headline.py measure --cpu --dir DIR --out R.json             without
    bench/headline.py table R.json...                                  as Markdown

--dir must be on a disk. Output files are written to --out-dir, a tmpfs. Each ratio compares medians
of runs that are interleaved with those of the limit or the rival. The table shows the median, the
lowest and the highest ratio over all machines, and the number of machines. With --cpu, parts that
need a GPU are left out.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

from measure import GIB, call, cold, generate, machine, median, run_rate, spread, steady_rate, warm
import measure_files_out

RIVALS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rivals", "run.py")


def measure_cold(options):
    """Measures a histogram of a file on the disk, interleaved with plain direct reads of it."""
    return cold(SimpleNamespace(file=options.file, gib=options.gib, runs=options.runs, also=[],
                                cpu=options.cpu))


def measure_warm(options):
    """Measures a histogram of a file in the page cache, interleaved with copies from page-locked
    memory."""
    generate(options.file, options.gib, "u1")
    warm(options.file)
    figures = {"link": [], "run": [], "steady": [], "with_gpu_start": []}
    for _ in range(options.runs):
        link = call("ooc-bench", "link", "--cuda", "--runs", 1)
        figures["link"].append(link["best_bytes_per_second"])
        rate, report = run_rate("histogram", options.file, "--device", "cuda")
        figures["run"].append(rate)
        figures["steady"].append(steady_rate(report))
        figures["with_gpu_start"].append(report["input"]["bytes"] / report["run"]["seconds"])
    link = median(figures["link"])
    return {**{name: spread(rates) for name, rates in figures.items()},
            "ratio": median(figures["run"]) / link,
            "steady_ratio": median(figures["steady"]) / link}


def measure_rivals(options):
    """Measures the same histogram by other programs, each with the fastest of its settings."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([sys.executable, RIVALS, "--file", options.file, "--warm", "--runs",
                        str(options.runs), "--budget", "15", "--timeout", "60", "--only",
                        "ooc_run_cuda,kvikio_tuned,kvikio_default,torch_pinned,cupy_memmap",
                        "--out", file.name], check=True, stdout=sys.stderr)
        found = json.load(file)
    ours = found["rivals"]["ooc_run_cuda"]["seconds"]["median"]
    return {"rivals": found["rivals"], "left_out": found["left_out"],
            "wrong_answers": found["wrong_answers"],
            "times_ours": {name: rival["seconds"]["median"] / ours
                           for name, rival in found["rivals"].items() if name != "ooc_run_cuda"}}


def files_out(options, **more):
    return SimpleNamespace(dir=options.out_dir, out_dir=options.out_dir, runs=options.runs, n=32768,
                           gib=8, cpu=False, **more)


def measure_product(options):
    """Measures a product with n = 32768 in f32, tmpfs to tmpfs, against its slowest stage: reading,
    writing or cuBLAS in core. Excludes the start-up of the GPU, but not the loading of cuBLAS."""
    paths = measure_files_out.operands(files_out(options))
    found = measure_files_out.measure_product(files_out(options), paths, "f32")
    for path in paths:
        os.remove(path)
    return found


def measure_convert(options):
    """Measures f4 to f2 from tmpfs to tmpfs against its slowest stage alone."""
    found = measure_files_out.convert(files_out(options))
    os.remove(os.path.join(options.out_dir, "convert.f32"))
    return found


def measure_numpy(options):
    """Measures histogram and statistics of cached floats on the CPU against NumPy."""
    import numpy

    path = os.path.join(options.dir, "headline.f32")
    generate(path, 1, "f4")
    warm(path)
    data = numpy.memmap(path, dtype="<f4", mode="r")

    def numpy_rate(body):
        begin = time.perf_counter()
        body()
        return data.nbytes / (time.perf_counter() - begin)

    def statistics():
        data.sum(dtype="f8"), data.min(), data.max(), data.argmin(), data.argmax()
        data.mean(dtype="f8"), data.var(dtype="f8")

    def ours(command, *arguments):
        return run_rate(command, path, "--dtype", "f4", "--device", "cpu", *arguments)[0]

    ways = {
        "numpy_histogram": lambda: numpy_rate(lambda: numpy.histogram(data, 256, (0, 1))),
        "histogram": lambda: ours("histogram", "--range", "0:1"),
        "numpy_statistics": lambda: numpy_rate(statistics),
        "reduce": lambda: ours("reduce"),
    }
    rates = {name: [] for name in ways}
    for _ in range(options.runs):
        for name, way in ways.items():
            rates[name].append(way())
    os.remove(path)
    return {"numpy": numpy.__version__, **{name: spread(found) for name, found in rates.items()},
            "histogram_ratio": median(rates["histogram"]) / median(rates["numpy_histogram"]),
            "reduce_ratio": median(rates["reduce"]) / median(rates["numpy_statistics"])}


PARTS = {"cold": measure_cold, "warm": measure_warm, "rivals": measure_rivals,
         "matmul": measure_product, "convert": measure_convert, "numpy": measure_numpy}
NEEDS_GPU = {"warm", "rivals", "matmul", "convert"}


def measure_parts(parts, options, result):
    """Adds to a result what each part measures, and writes it to a file after each. Parts that fail
    are in its "failed"."""
    result["failed"] = {}
    for name, part in parts.items():
        if options.only and name not in options.only:
            continue
        print(f"{time.strftime('%H:%M:%S')} {name}", file=sys.stderr, flush=True)
        try:
            result[name] = part(options)
        except Exception as error:  # go on with the other parts
            result["failed"][name] = repr(error)
            print(f"{name} failed: {error!r}", file=sys.stderr)
        with open(options.out, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


def measure(options):
    options.file = os.path.join(options.dir, "headline.bin")
    result = {"command": " ".join(["bench/headline.py"] + sys.argv[1:]), "machine": machine(),
              "bytes": options.gib * GIB}
    measure_parts({name: part for name, part in PARTS.items()
                   if not options.cpu or name not in NEEDS_GPU}, options, result)
    os.path.exists(options.file) and os.remove(options.file)
    sys.exit(1 if result["failed"] else 0)


# Rows of the table: text, path of the ratio in a result, format.
PERCENT, TIMES = "{:.0f} %", "{:.1f} times"
ROWS = [
    ("file on disk, `histogram`: rate / plain direct reads alike",
     ("cold", "ratio_to_reads_alike"), PERCENT),
    ("file on disk, `histogram`: rate / the best of 6 to 24 settings of plain reads",
     ("cold", "ratio"), PERCENT),
    ("file in the page cache, `histogram`: rate / copies from pinned memory",
     ("warm", "ratio"), PERCENT),
    ("the same in steady state, without its ends", ("warm", "steady_ratio"), PERCENT),
    ("the same: KvikIO in its fastest setting / ours, seconds",
     ("rivals", "times_ours", "kvikio_tuned"), TIMES),
    ("the same: KvikIO as it comes", ("rivals", "times_ours", "kvikio_default"), TIMES),
    ("the same: PyTorch, pinned buffers", ("rivals", "times_ours", "torch_pinned"), TIMES),
    ("the same: CuPy with `np.memmap`", ("rivals", "times_ours", "cupy_memmap"), TIMES),
    ("`matmul`, n = 32768, f32, tmpfs to tmpfs: seconds / its slowest stage alone",
     ("matmul", "ratio_to_limit"), "{:.2f} times"),
    ("`convert` f4 to f2, tmpfs to tmpfs: rate / its slowest stage alone",
     ("convert", "ratio_to_slowest"), PERCENT),
    ("CPU, page cache, `histogram` of f4: rate / `numpy.histogram`",
     ("numpy", "histogram_ratio"), TIMES),
    ("CPU, page cache, `reduce` of f4: rate / the same statistics by NumPy",
     ("numpy", "reduce_ratio"), TIMES),
]


def at(result, path):
    for key in path:
        result = result.get(key) if isinstance(result, dict) else None
    return result


def load(path):
    """Loads a result of this script, or converts one of measure.py or rivals/run.py."""
    result = json.load(open(path))
    if "gpu" in result:
        gpu = result["gpu"]
        return {"cold": {"ratio": gpu["cold"]["ratio"]},
                "warm": {"ratio": gpu["warm"]["ratio_to_link"]}}
    if "histogram_u1" in result:
        return {"warm": {"ratio": result["ratio"]}}
    if "rivals" in result and result.get("job") == "histogram" and result["cache"] == "warm":
        seconds = {name: rival["seconds"]["median"] for name, rival in result["rivals"].items()}
        ours = seconds.pop("ooc_run_cuda")
        result["rivals"] = {"times_ours": {name: other / ours for name, other in seconds.items()}}
    return result


def table(paths):
    results = [load(path) for path in paths]
    lines = ["| what | median | lowest | highest | machines |", "| --- | --- | --- | --- | --- |"]
    for what, path, form in ROWS:
        ratios = [ratio for result in results if (ratio := at(result, path)) is not None]
        if not ratios:
            continue
        scale = 100 if form == PERCENT else 1
        cells = [form.format(scale * figure)
                 for figure in (median(ratios), min(ratios), max(ratios))]
        lines.append("| " + " | ".join([what, *cells, str(len(ratios))]) + " |")
    return "\n".join(lines)


def parse_words(description, gib, runs, add_more):
    """Parses `measure` with its options, those of `add_more(parser)` among them, or `table`."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--dir", required=True)
    measuring.add_argument("--gib", type=int, default=gib, help="size of a file")
    measuring.add_argument("--runs", type=int, default=runs)
    measuring.add_argument("--only", type=lambda names: names.split(","), help="parts, by commas")
    measuring.add_argument("--out", required=True)
    add_more(measuring)
    showing = commands.add_parser("table")
    showing.add_argument("results", nargs="+")
    return parser.parse_args()


def add_own_options(parser):
    parser.add_argument("--out-dir", default="/dev/shm")
    parser.add_argument("--cpu", action="store_true")


def main():
    options = parse_words(__doc__, 8, 5, add_own_options)
    if options.command == "measure":
        measure(options)
    else:
        print(table(options.results))


if __name__ == "__main__":
    main()
