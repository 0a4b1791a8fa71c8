#!/usr/bin/env python3
"""Measures what limits scans of a file in the page cache on a GPU.

    bench/warm_limits.py --file big.bin --out R.json

Each round runs, in this order: copies from page-locked memory alone (the link), reads of the file
into the pool alone, both at once without waiting for each other, the pipeline with reads that
complete at once, and whole runs. The memory of the host serves both reads and copies, so the rates
of both at once are the limit of a run; what a run stays below them is the cost of the pipeline and
of its ends. ooc-run and ooc-bench must be on the PATH.
"""
import argparse
import json

from measure import GIB, call, generate, machine, median, run_rate, spread, steady_rate, warm


def measure_round(path, gib, runs):
    """Appends the figures of one round to `runs`, in bytes per second."""
    def add(name, rate):
        runs.setdefault(name, []).append(rate)

    link = call("ooc-bench", "link", "--cuda", "--runs", 1)
    add("link", link["best_bytes_per_second"])
    add("read_alone", call("ooc-bench", "read", path, "--cuda", "--runs", 3)
        ["bytes_per_second"]["median"])
    both = call("ooc-bench", "read", path, "--cuda", "--copying", "--runs", 3)
    add("read_while_copying", both["bytes_per_second"]["median"])
    add("copies_while_reading", both["copied_bytes_per_second"])
    null = call("ooc-bench", "null", "--cuda", "--mib", gib << 10, "--runs", 2)
    add("null_reader", null["bytes_per_second"]["median"])
    for name, *words in (("histogram_u1", "histogram", path, "--dtype", "u1"),
                         ("reduce_u1", "reduce", path, "--dtype", "u1"),
                         ("reduce_f4", "reduce", path, "--dtype", "f4")):
        rate, report = run_rate(*words, "--device", "cuda")
        add(name, rate)
        add(name + "_steady", steady_rate(report))
    return report["run"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", required=True)
    parser.add_argument("--gib", type=int, default=16, help="size of the file if it is made")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    generate(options.file, options.gib, "f4")
    warm(options.file)
    runs = {}
    for _ in range(options.runs):
        last = measure_round(options.file, options.gib, runs)
    link = median(runs["link"])
    result = {"command": f"bench/warm_limits.py --file {options.file} --runs {options.runs}",
              "machine": machine(), "bytes": options.gib * GIB,
              "bytes_per_second": {name: spread(rates) for name, rates in runs.items()},
              "ratio_to_link": {name: median(rates) / link for name, rates in runs.items()},
              "last_run": last}
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    for name, rates in runs.items():
        print(f"{name:24} {median(rates) / 1e9:6.1f} GB/s  {median(rates) / link:6.1%} of the link")


if __name__ == "__main__":
    main()
