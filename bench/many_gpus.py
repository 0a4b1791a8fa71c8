#!/usr/bin/env python3
"""Measures what several GPUs of one machine give beside one of them and beside its cores.

    bench/many_gpus.py measure --dir DIR --out R.json    7 minutes with 2, 4 or 8 GPUs
    bench/many_gpus.py table R.json...                   as Markdown

--dir must be on a disk, which gets a file of 8 GiB. All other files are written to --shm, a tmpfs:
80 GiB. Runs of all numbers of devices take turns. ooc-run, ooc-run-mpi and ooc-bench must be on
the PATH. Each result is compared with that of one GPU: its bits must be the same.
"""
import json
import os
import subprocess
import sys
import tempfile

from headline import measure_parts, parse_words
from measure import GIB, call, evict, generate, machine, median, spread

SCANS = {"reduce f4": ("reduce", "scan.f32"),
         "histogram u1": ("histogram", "scan.u8")}
MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]


def gpus():
    listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True, check=True)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def numbers_of_gpus(most):
    """1, 2, 4 and so on, and all."""
    numbers = [1]
    while 2 * numbers[-1] < most:
        numbers.append(2 * numbers[-1])
    return numbers + ([most] if most > 1 else [])


def device_of(number):
    return "cuda:" + ",".join(str(i) for i in range(number))


def run(way, command, *words):
    """Runs ooc-run, or ooc-run-mpi with a GPU for each rank, and returns its report. `way`: the
    device, or the number of ranks."""
    program = ["ooc-run"] if isinstance(way, str) else [*MPI, way, "ooc-run-mpi"]
    device = way if isinstance(way, str) else "cuda"
    return call(*program, command, *words, "--device", device, "--json", "--quiet")


def name_of(way):
    return way if isinstance(way, str) else f"{way} ranks"


class Rates:
    """The rates of one way to run."""

    def __init__(self):
        self.whole, self.working, self.start, self.idle, self.bytes = [], [], [], [], []
        self.notes = set()

    def add(self, report):
        run = report["run"]
        shares = run["devices"] or run["ranks"] or [{
            "bytes": report["input"]["bytes"], "start_seconds": run["startup_seconds"],
            "busy_seconds": run["seconds"] - run["startup_seconds"], "idle_seconds": 0}]
        self.whole.append(run["bytes_per_second"])
        # The rate of all at once, had they started together.
        self.working.append(sum(share["bytes"] / share["busy_seconds"] for share in shares
                                if share["bytes"]))
        self.start.append(max(share["start_seconds"] for share in shares))
        self.idle.append(max(share["idle_seconds"] for share in shares))
        self.bytes = [share["bytes"] for share in shares]
        self.notes |= set(run["reasons"])

    def described(self):
        return {"whole_bytes_per_second": spread(self.whole),
                "working_bytes_per_second": spread(self.working),
                "start_seconds": spread(self.start), "idle_seconds": spread(self.idle),
                "bytes_of_each": self.bytes, "reasons": sorted(self.notes)}


def measure_links(options):
    """Measures copies from page-locked memory to each GPU alone, then to all at once, by a process
    for each."""
    def copies(i):
        return subprocess.Popen(["ooc-bench", "link", "--cuda", "--runs", "2"],
                                env={**os.environ, "CUDA_VISIBLE_DEVICES": str(i)},
                                stdout=subprocess.PIPE)

    def rates(processes):
        return [json.loads(process.communicate()[0])["best_bytes_per_second"]
                for process in processes]
    alone = [rates([copies(i)])[0] for i in range(options.gpus)]
    together = rates([copies(i) for i in range(options.gpus)])
    return {"alone": alone, "together": together, "sum": sum(together)}


def measure_scan(name, options):
    """Measures one command on 1 to n GPUs, all cores, both, and with a rank for each GPU. The file
    is in memory and is given several times. The limit of all is the rate at which all cores copy
    it out of the page cache into a pool, and do nothing else."""
    command, file = SCANS[name]
    path = os.path.join(options.shm, file)
    generate(path, options.gib, "f4" if file.endswith("f32") else "u1")
    words = [path] * options.times + (["--range", "0:256"] if command == "histogram" else [])
    ways = [device_of(number) for number in options.numbers] + ["cpu", "all", options.gpus]
    rates = {name_of(way): Rates() for way in ways}
    expected, others, limits = None, set(), []
    for _ in range(options.runs):
        reading = call("ooc-bench", "read", path, "--runs", 1)
        limits.append(reading["bytes_per_second"]["median"])
        for way in ways:
            report = run(way, command, *words)
            expected = expected or report["result"]
            if report["result"] != expected:
                others.add(name_of(way))
            rates[name_of(way)].add(report)
    return {"command": " ".join(["ooc-run", command, file, f"({options.times} times)",
                                 *words[options.times:]]),
            "bytes": options.times * options.gib * GIB, "different_results": sorted(others),
            "page_cache_bytes_per_second": spread(limits),
            **{name: found.described() for name, found in rates.items()}}


def measure_cold(options):
    """Measures a file that is not in the page cache. ooc-run takes one of several devices then;
    ranks share the file all the same."""
    path = os.path.join(options.dir, "cold.f32")
    generate(path, 8, "f4")
    ways = [device_of(1), device_of(options.gpus), options.gpus]
    rates = {name_of(way): Rates() for way in ways}
    for _ in range(options.runs):
        for way in ways:
            evict(path)
            rates[name_of(way)].add(run(way, "reduce", path))
    os.remove(path)
    return {name: found.described() for name, found in rates.items()}


def measure_product(options):
    """Measures a product of matrices of f4 in memory on 1 to n GPUs, and with a rank for each.
    Then a product of integers in f8, of which any order of sums has the same bits."""
    length = options.length
    shapes = ["--shape-a", f"{length}x{length}", "--shape-b", f"{length}x{length}"]
    paths = [os.path.join(options.shm, name) for name in ("a.f32", "b.f32", "c.f32")]
    for seed, path in enumerate(paths[:2]):
        call("ooc-run", "gen", "-o", path, "--count", length * length, "--dtype", "f4", "--pattern",
             "normal", "--seed", seed, "--force", "--quiet", "--json")
    ways = [device_of(number) for number in options.numbers] + [options.gpus]
    seconds = {name_of(way): {"whole": [], "start": [], "working": []} for way in ways}
    blocks = {}
    for _ in range(options.runs):
        for way in ways:
            report = run(way, "matmul", *paths[:2], *shapes, "-o", paths[2])
            os.remove(paths[2])
            now, shares = report["run"], report["run"]["devices"] or report["run"]["ranks"]
            start = max(s["start_seconds"] for s in shares) if shares else now["startup_seconds"]
            found = seconds[name_of(way)]
            found["whole"].append(now["seconds"])
            found["start"].append(start)
            found["working"].append(max(s["busy_seconds"] for s in shares) if shares
                                    else now["seconds"] - start)
            plan = report["result"]["plan"]
            blocks[name_of(way)] = [plan["row_blocks"], plan["column_blocks"]]
    for path in paths[:2]:
        os.remove(path)
    different = different_products(ways, options)
    return {"length": length, "blocks": blocks, "different_bytes": different,
            **{name: {what: spread(figures) for what, figures in found.items()}
               for name, found in seconds.items()}}


def different_products(ways, options):
    """Returns the ways by which a product of integers has other bytes than on one GPU."""
    length = min(options.length, 8192)
    whole, wide = (os.path.join(options.shm, name) for name in ("i.i8", "i.f64"))
    call("ooc-run", "gen", "-o", whole, "--count", length * length, "--force", "--quiet", "--json")
    call("ooc-run", "convert", whole, "-o", wide, "--force", "--quiet", "--json")
    shapes = ["--shape-a", f"{length}x{length}", "--shape-b", f"{length}x{length}"]
    expected, different = None, []
    for number, way in enumerate([*ways, "cpu"]):
        path = os.path.join(options.shm, f"product-{number}.f64")
        run(way, "matmul", wide, wide, *shapes, "-o", path, "--force")
        if expected is None:
            expected = path
            continue
        if subprocess.run(["cmp", "--silent", expected, path], check=False).returncode:
            different.append(name_of(way))
        os.remove(path)
    for path in (whole, wide, expected):
        os.remove(path)
    return different


PARTS = {"link": measure_links,
         **{name: lambda options, name=name: measure_scan(name, options) for name in SCANS},
         "cold": measure_cold, "matmul": measure_product}


def measure(options):
    options.gpus = gpus()
    options.numbers = numbers_of_gpus(options.gpus)
    result = {"command": " ".join(["bench/many_gpus.py"] + sys.argv[1:]),
              "machine": {**machine(), "gpus": options.gpus}}
    # Rates that bench has measured on this machine would leave out GPUs that are to be measured.
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        measure_parts(PARTS, options, result)
    for name in ("scan.f32", "scan.u8"):
        path = os.path.join(options.shm, name)
        if os.path.exists(path):
            os.remove(path)
    sys.exit(1 if parts_with_other_bits(result) or result["failed"] else 0)


def parts_with_other_bits(result):
    """Returns the parts in which some way to run had another result than one GPU."""
    return [name for name, part in result.items() if isinstance(part, dict) and
            (part.get("different_results") or part.get("different_bytes"))]


def rows_of(result):
    """Returns rows of a table: a name, and a text for each way."""
    def gigabytes(figures):
        return f"{figures['median'] / 1e9:.1f}"

    def ways_of(part):
        return {name: found for name, found in part.items() if isinstance(found, dict) and
                ("whole" in found or "whole_bytes_per_second" in found)}

    rows = []
    for name in (*SCANS, "cold"):
        if name not in result:
            continue
        ways = ways_of(result[name])
        one = ways["cuda:0"]["working_bytes_per_second"]["median"]
        rows.append((f"{name}, GB/s", {way: gigabytes(found["whole_bytes_per_second"])
                                       for way, found in ways.items()}))
        rows.append((f"{name}, while all work", {
            way: f"{gigabytes(found['working_bytes_per_second'])} "
                 f"({found['working_bytes_per_second']['median'] / one:.2f})"
            for way, found in ways.items()}))
    if "matmul" in result:
        ways = ways_of(result["matmul"])
        one = ways["cuda:0"]["working"]["median"]
        rows.append(("matmul, s", {way: f"{found['whole']['median']:.2f}"
                                   for way, found in ways.items()}))
        rows.append(("matmul, work", {
            way: f"{found['working']['median']:.2f} ({one / found['working']['median']:.2f})"
            for way, found in ways.items()}))
    return rows


def table(path):
    result = json.load(open(path))
    lines = [f"{result['machine']['gpus']} GPUs ({result['machine']['gpu']}), "
             f"{result['machine']['cores']} cores"]
    if "link" in result:
        alone = median(result["link"]["alone"])
        lines.append(f"copies, GB/s: {alone / 1e9:.1f} each alone, "
                     f"{result['link']['sum'] / 1e9:.1f} all at once")
    for name in SCANS:
        if name in result:
            rate = result[name]["page_cache_bytes_per_second"]["median"]
            lines.append(f"the page cache, all cores, beside {name}: {rate / 1e9:.1f} GB/s")
    rows = rows_of(result)
    names = list(dict.fromkeys(name for _, cells in rows for name in cells))
    lines += ["", "| | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    for what, cells in rows:
        lines.append(f"| {what} | " + " | ".join(cells.get(name, "") for name in names) + " |")
    lines += ["", "Other bits: " + (", ".join(parts_with_other_bits(result)) or "none") + "."]
    return "\n".join(lines)


def add_own_options(parser):
    parser.add_argument("--shm", default="/dev/shm")
    parser.add_argument("--times", type=int, default=8, help="a file is given so many times")
    parser.add_argument("--length", type=int, default=65536, help="rows and columns")


def main():
    options = parse_words(__doc__, 16, 3, add_own_options)
    if options.command == "measure":
        measure(options)
    else:
        print("\n\n".join(table(path) for path in options.results))


if __name__ == "__main__":
    main()
