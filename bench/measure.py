#!/usr/bin/env python3
"""Measures ooc-run against the limits of the machine and against NumPy.

    bench/measure.py gpu --file big.bin --out R.json    link, null reader, disk, page cache, memory
    bench/measure.py cpu --file big.f32 --out R.json    the CPU device against NumPy
    bench/measure.py cold --file big.bin --out R.json   from a disk, against plain reads of it
    bench/measure.py half --file big.bin --out R.json   half cached, against each half alone
    bench/measure.py depth --file big.bin --out R.json  queue depth: fixed, tuned while reading
    bench/measure.py fused --file big.f32 --out R.json  two answers from one read, against two runs
    bench/measure.py fio --file big.bin --out R.json    our disk sweep against fio's
    bench/measure.py buffers --file big.bin --out R.json   reads spread over more memory

Each figure is a median of runs that are interleaved with those of its limit, so that noise affects
both alike. Both terms of a ratio are measured in one run of this script. Missing files are
generated. ooc-run and ooc-bench must be on the PATH.
"""
import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time

GIB = 1 << 30


def call(*command):
    """Runs a command and returns the JSON document that it prints."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def median(figures):
    return statistics.median(figures)


def mean(figures):
    return {"mean": statistics.mean(figures),
            "standard_error": statistics.stdev(figures) / len(figures) ** 0.5}


def spread(figures):
    return {"median": median(figures), "min": min(figures), "max": max(figures),
            "runs": len(figures)}


def evict(path, size=0):
    """Evicts a file, or its first `size` bytes, from the page cache."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fdatasync(descriptor)
    os.posix_fadvise(descriptor, 0, size, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def warm(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(16 << 20):
            pass


def generate(path, gib, dtype):
    if os.path.exists(path) and os.path.getsize(path) == gib * GIB:
        return
    subprocess.run(["ooc-run", "gen", "-o", path, "--size", f"{gib}G", "--dtype", dtype, "--force",
                    "--quiet"], check=True, stdout=subprocess.DEVNULL)


def machine():
    def first_line(*command):
        if not shutil.which(command[0]):
            return None
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip().splitlines()[0] if done.stdout.strip() else None

    with open("/proc/cpuinfo") as file:
        model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) * 1024
    return {"kernel": platform.release(), "cpu": model, "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": memory, "date": time.strftime("%Y-%m-%d"),
            "gpu": first_line("nvidia-smi", "--query-gpu=name,driver_version",
                              "--format=csv,noheader"),
            "ooc_run": first_line("ooc-run", "--version")}


def run_rate(*arguments):
    """Runs ooc-run; returns its rate, without the start-up of the GPU, and its report."""
    report = call("ooc-run", *arguments, "--json", "--quiet")
    run = report["run"]
    return report["input"]["bytes"] / (run["seconds"] - run["device_seconds"]), report


def steady_rate(report):
    """Returns the rate from the end of the first chunk to the end of the last one."""
    run = report["run"]
    bytes_left = report["input"]["bytes"] * (1 - 1 / run["chunks"])
    return bytes_left / (run["seconds"] - run["startup_seconds"])


def held_out_best(rates):
    """Returns for each round the rate of the setting that was best in all other rounds. (The best
    rate of all rounds would be biased upwards: by 5 % if rates vary by 10 %.)"""
    rounds = range(len(next(iter(rates.values()))))

    def without(figures, left_out):
        return median([figure for i, figure in enumerate(figures) if i != left_out])

    return [rates[max(rates, key=lambda way: without(rates[way], i))][i] for i in rounds]


def cold(options):
    """Measures histograms of a file that is not in the page cache, interleaved with plain direct
    reads of it. Each setting of `options.also` and of the reads runs once per round."""
    generate(options.file, options.gib, "u1")
    settings = [(block << 10, depth) for block, depth in ((512, 8), (512, 16), (512, 32), (1024, 8),
                                                          (1024, 16), (2048, 8))]
    device = [] if options.cpu else ["--cuda"]
    disks = {setting: [] for setting in settings}
    passes = {way: [] for way in ("", *options.also)}
    for _ in range(options.runs):
        for setting in random.sample([*disks, *passes], len(disks) + len(passes)):
            evict(options.file)
            if setting in passes:
                passes[setting].append(call("ooc-bench", "file", options.file, *device, "--dtype",
                                            "u1", "--runs", 1, *setting.split()))
            else:
                disks[setting].append(call("ooc-bench", "disk", options.file, "--runs", 1,
                                           "--block", setting[0], "--depth", setting[1])
                                      ["best_bytes_per_second"])
    best, alike = held_out_best(disks), disks[512 << 10, 16]

    def against_limits(runs):
        assert all(run["direct"] for run in runs), "the file was not cold"
        rates = [run["bytes_per_second"]["median"] for run in runs]
        return {"bytes_per_second": spread(rates),
                "ratio": median(rates) / median(best),
                "ratio_to_reads_alike": median(rates) / median(alike),
                "mean": mean(rates),
                "ratio_of_means": statistics.mean(rates) / statistics.mean(alike),
                "reader_waits": spread([run["reader_waits"] for run in runs]),
                "chosen": [run["queue_depth"] for run in runs],
                "cpu_seconds_per_gb": spread([run["cpu_seconds_per_gb"]["median"]
                                              for run in runs])}

    return {**against_limits(passes[""]),
            "also": {way: against_limits(passes[way]) for way in options.also},
            "limit": {"best": spread(best),
                      "sweep": [{"block_bytes": block, "in_flight": depth,
                                 "bytes_per_second": spread(disks[block, depth]),
                                 "mean": mean(disks[block, depth])}
                                for block, depth in settings]}}


def gpu(options):
    results = {}
    links, nulls = [], {"auto": [], "4M": [], "16M": []}
    for _ in range(3):
        links.append(call("ooc-bench", "link", "--cuda", "--runs", 3))
        for chunk, rates in nulls.items():
            chosen = [] if chunk == "auto" else ["--chunk", int(chunk[:-1]) << 20]
            rates.append(call("ooc-bench", "null", "--cuda", "--mib", 16384, "--runs", 3, *chosen))
    limit = median([link["best_bytes_per_second"] for link in links])
    results["null_reader"] = {
        "limit": {"pinned_h2d_bytes_per_second": limit, "by_chunk": links[0]["by_chunk"],
                  "pinned_seconds_per_gib": links[0]["pinned_seconds_per_gib"]},
        "by_chunk": {chunk: {"chunk_bytes": rates[0]["chunk_bytes"],
                             "bytes_per_second": median([r["bytes_per_second"]["median"]
                                                         for r in rates]),
                             "ratio": median([r["bytes_per_second"]["median"]
                                              for r in rates]) / limit}
                     for chunk, rates in nulls.items()}}
    print("null reader", json.dumps(results["null_reader"]["by_chunk"]), file=sys.stderr)

    generate(options.file, options.gib, "u1")
    results["cold"] = cold(options)
    print("cold ratio", results["cold"]["ratio"], file=sys.stderr)

    warm(options.file)
    rates = []
    for _ in range(options.runs):
        rate, report = run_rate("histogram", options.file, "--device", "cuda")
        rates.append(rate)
    results["warm"] = {"bytes_per_second": spread(rates), "ratio_to_link": median(rates) / limit,
                       "run": report["run"]}
    reduce_rates = [run_rate("reduce", options.file, "--dtype", "f4", "--device", "cuda")[0]
                    for _ in range(options.runs)]
    results["warm_reduce_f4"] = {"bytes_per_second": spread(reduce_rates)}
    print("warm", median(rates) / 1e9, "reduce", median(reduce_rates) / 1e9, file=sys.stderr)

    results["flat"] = flat(options, "histogram", options.file, "--device", "cuda")
    results["memory"] = memory("--cuda")
    return results


def flat(options, *arguments):
    """Measures the rates of an eighth of the file and of the whole file, without start-up."""
    rates = {"eighth": [], "whole": []}
    for _ in range(options.runs):
        for part, divisor in (("eighth", 8), ("whole", 1)):
            count = options.gib * GIB // divisor
            report = run_rate(*arguments, "--dtype", "u1", "--count", count)[1]
            rates[part].append(steady_rate(report))
    return {**{part: spread(figures) for part, figures in rates.items()},
            "ratio": median(rates["whole"]) / median(rates["eighth"])}


def memory(*device):
    """Measures the peak memory above that of an open device, for 8 GiB and 1 TiB of data."""
    return {name: call("ooc-bench", "null", "--operation", "reduce", "--dtype", "f4", "--mib", mib,
                       "--runs", 1, *device)
            for name, mib in (("8GiB", 8 << 10), ("1TiB", 1 << 20))}


def cpu(options):
    import numpy

    generate(options.file, options.gib, "f4")
    warm(options.file)
    data = numpy.memmap(options.file, dtype="<f4", mode="r")
    size = data.nbytes

    def timed(body):
        begin = time.perf_counter()
        body()
        return size / (time.perf_counter() - begin)

    def numpy_statistics():
        data.sum(dtype="f8"), data.min(), data.max(), data.argmin(), data.argmax()
        data.mean(dtype="f8"), data.var(dtype="f8")

    ways = {
        "numpy_histogram": lambda: timed(lambda: numpy.histogram(data, 256, (0, 1))),
        "ooc_histogram": lambda: run_rate("histogram", options.file, "--dtype", "f4", "--range",
                                          "0:1", "--device", "cpu")[0],
        "numpy_statistics": lambda: timed(numpy_statistics),
        "ooc_histogram_u1": lambda: run_rate("histogram", options.file, "--dtype", "u1",
                                             "--device", "cpu")[0],
        "ooc_reduce": lambda: run_rate("reduce", options.file, "--dtype", "f4", "--device",
                                       "cpu")[0],
        "cat": lambda: timed(lambda: subprocess.run(["sh", "-c", 'cat "$1" > /dev/null', "-",
                                                     options.file], check=True)),
    }
    rates = {name: [] for name in ways}
    for _ in range(options.runs):
        for name, way in ways.items():
            rates[name].append(way())
    result = {name: spread(figures) for name, figures in rates.items()}
    result["histogram_to_numpy"] = median(rates["ooc_histogram"]) / median(rates["numpy_histogram"])
    result["reduce_to_numpy"] = median(rates["ooc_reduce"]) / median(rates["numpy_statistics"])
    result["flat"] = flat(options, "reduce", options.file, "--device", "cpu")
    result["memory"] = memory()
    return result


def half(options):
    """Measures a file whose first half is not in the page cache, and each half alone."""
    generate(options.file, options.gib, "u1")
    size = options.gib * GIB
    device = ["--device", "cpu" if options.cpu else "cuda"]

    def seconds(*part):
        run = call("ooc-run", "histogram", options.file, *device, *part, "--json", "--quiet")["run"]
        reading = run["stages"]["disk"]["busy_seconds"]  # part of it during GPU start-up
        return max(run["seconds"] - run["device_seconds"], reading), run

    parts = {"cold_half": ["--count", size // 2], "warm_half": ["--offset", size // 2], "whole": []}
    times = {name: [] for name in parts}
    warm(options.file)
    for _ in range(options.runs):
        # Random order: the first after a pause may find the disk faster.
        for name in random.sample(list(parts), len(parts)):
            evict(options.file, size // 2)
            taken, run = seconds(*parts[name])
            times[name].append(taken)
            if name == "whole":
                whole = run
                assert 0.49 < run["page_cache_fraction"] < 0.51, "the file was not half cached"
    limit = max(median(times["cold_half"]), median(times["warm_half"]))
    return {**{name: spread(figures) for name, figures in times.items()},
            "ratio_to_slower_half": median(times["whole"]) / limit,
            "run": whole}


def fused(options):
    """Measures statistics and counts from one read against two separate commands."""
    generate(options.file, options.gib, "f4")
    device = [options.file, "--dtype", "f4", "--device", "cpu" if options.cpu else "cuda"]
    commands = {"reduce": ["reduce", *device],
                "histogram": ["histogram", *device, "--bins", "256", "--range", "0:1"],
                "both": ["reduce", *device, "--histogram", "256", "--range", "0:1"]}
    result = {}
    for place, prepare_file in {"from_disk": evict, "from_page_cache": warm}.items():
        times, runs = {name: [] for name in commands}, {}
        for _ in range(options.runs):
            for name in random.sample(list(commands), len(commands)):
                prepare_file(options.file)
                begin = time.perf_counter()
                runs[name] = call("ooc-run", *commands[name], "--json", "--quiet")["run"]
                times[name].append(time.perf_counter() - begin)
        apart = [one + other for one, other in zip(times["reduce"], times["histogram"])]
        result[place] = {**{name: spread(figures) for name, figures in times.items()},
                         "apart": spread(apart),
                         "ratio_to_apart": median(times["both"]) / median(apart),
                         "run": runs["both"]}
    return result


def fio(options):
    """Measures reads by fio and by ooc-bench, in turn, with equal block size and depth."""
    generate(options.file, options.gib, "u1")
    memory_kind = "mmaphuge" if options.hugetlb else "malloc"
    ours, theirs = [], []
    for _ in range(options.runs):
        evict(options.file)
        ours.append(call("ooc-bench", "disk", options.file, "--runs", 1, "--block", 1 << 20,
                         "--depth", 8)["best_bytes_per_second"])
        evict(options.file)
        report = call("fio", "--name=sweep", f"--filename={options.file}", "--readonly",
                      "--rw=read", "--bs=1M", "--iodepth=8", "--ioengine=io_uring", "--direct=1",
                      "--fixedbufs", f"--mem={memory_kind}", "--output-format=json")
        theirs.append(report["jobs"][0]["read"]["bw_bytes"])
    return {"block_bytes": 1 << 20, "in_flight": 8, "ooc_bench": spread(ours),
            "fio": spread(theirs), "fio_memory": memory_kind,
            "ratio": median(ours) / median(theirs)}


def depth(options):
    """Measures fixed queue depths against a tuned one, on the disk and on a simulated disk whose
    reads take 20 ms each."""
    generate(options.file, options.gib, "u1")
    device = [] if options.cpu else ["--cuda"]
    sources = {
        "disk": ["file", options.file],
        "delay_20_ms": ["null", "--delay", 20, "--mib", options.gib * 1024],
    }
    result = {}
    for name, source in sources.items():
        rates = {"tuned": [], **{str(n): [] for n in (4, 8, 16, 32, 96)}}
        chosen = []
        for _ in range(options.runs):
            # Random order: the first after a pause may find the disk faster.
            for way, figures in random.sample(list(rates.items()), len(rates)):
                fixed = [] if way == "tuned" else ["--depth", way]
                evict(options.file)
                report = call("ooc-bench", *source, *device, *fixed, "--dtype", "u1", "--runs", 1)
                figures.append(report["bytes_per_second"]["median"])
                if way == "tuned":
                    chosen.append(report["queue_depth"])
        best = max(median(figures) for way, figures in rates.items() if way != "tuned")
        result[name] = {**{way: spread(figures) for way, figures in rates.items()},
                        "chosen": chosen,
                        "tuned_to_first": median(rates["tuned"]) / median(rates["16"]),
                        "tuned_to_best": median(rates["tuned"]) / best}
    return result


def buffers(options):
    """Measures the cost of spreading reads over more memory, with 8 blocks of 1 MiB in flight."""
    generate(options.file, options.gib, "u1")
    rates = {}
    for _ in range(options.runs):
        for blocks in (8, 16, 64, 256):
            evict(options.file)
            rates.setdefault(f"{blocks} MiB", []).append(
                call("ooc-bench", "disk", options.file, "--runs", 1, "--block", 1 << 20,
                     "--depth", 8, "--buffers", blocks)["best_bytes_per_second"])
    return {memory_size: spread(figures) for memory_size, figures in rates.items()}


def main():
    measurements = {measure.__name__: measure for measure in (gpu, cpu, cold, half, depth,
                                                             fused, fio, buffers)}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(measurements))
    parser.add_argument("--file", required=True)
    parser.add_argument("--gib", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hugetlb", action="store_true", help="huge pages for fio's buffers")
    parser.add_argument("--cpu", action="store_true",
                        help="cold, half, depth, fused: on the CPU device")
    parser.add_argument("--also", action="append", default=[], metavar="'--streams 2'",
                        help="cold: other options of ooc-bench to try in the same rounds")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    if options.what in ("cold", "gpu") and options.runs < 2:
        parser.error("--runs must be at least 2: the best setting is that of the other rounds")
    result = {"command": " ".join(["bench/measure.py"] + sys.argv[1:]), "machine": machine(),
              options.what: measurements[options.what](options)}
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
