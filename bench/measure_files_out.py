#!/usr/bin/env python3
"""Measures runs that write a file against their stages, each alone.

    bench/measure_files_out.py convert --dir DIR --out-dir DIR2 --out R.json   f4 to f2, warm
    bench/measure_files_out.py matmul --dir DIR --out-dir DIR2 --out R.json    n = 32768, GPU
    bench/measure_files_out.py matmul --cpu --n 8192 --dir ...                 the CPU device

Missing inputs are generated in --dir. They are read from the page cache. Outputs are written to
--out-dir. Figures are medians of runs that are interleaved with those of the stages.
ooc-run and ooc-bench must be on the PATH.
"""
import argparse
import json
import os
import sys

from measure import GIB, call, generate, machine, median, spread, warm


def stage(options, what, *arguments, runs=1):
    """Measures a stage alone, in bytes per second."""
    device = [] if options.cpu else ["--cuda"]
    return call("ooc-bench", what, *arguments, *device, "--runs", runs)


def link_rates(options):
    link = stage(options, "link", runs=3)
    both = max(row["both_at_once_bytes_per_second"]["median"] for row in link["by_chunk"])
    return {"there": link["best_bytes_per_second"], "home": link["best_home_bytes_per_second"],
            "both_at_once": both}


def device_option(options):
    return ["--device", "cpu" if options.cpu else "cuda"]


def run(options, *arguments):
    return call("ooc-run", *arguments, *device_option(options), "--json", "--quiet", "--force")


def convert(options):
    """Measures f4 to f2. Rates are bytes of input per second; the output has half as many bytes."""
    source = os.path.join(options.dir, "convert.f32")
    target = os.path.join(options.out_dir, "convert.f16")
    generate(source, options.gib, "f4")
    warm(source)
    mib = options.gib * 1024 // 2
    figures = {"read": [], "write": [], "whole": [], "with_gpu_start": []}
    for _ in range(options.runs):
        figures["read"].append(stage(options, "read", source)["bytes_per_second"]["median"])
        written = stage(options, "write", target, "--mib", mib)["bytes_per_second"]["median"]
        figures["write"].append(2 * written)
        report = run(options, "convert", source, "-o", target, "--to", "f2")
        seconds = report["run"]["seconds"]
        figures["with_gpu_start"].append(report["input"]["bytes"] / seconds)
        seconds -= report["run"]["device_seconds"]
        figures["whole"].append(report["input"]["bytes"] / seconds)
        os.remove(target)
    stages = {"read": median(figures["read"]), "write": median(figures["write"])}
    if not options.cpu:
        link = link_rates(options)
        stages["h2d"] = min(link["there"], link["both_at_once"])
        stages["d2h"] = 2 * link["both_at_once"]
    kernel = stage(options, "convert", "--dtype", "f4", "--to", "f2", runs=5)
    stages["kernel"] = kernel["bytes_per_second"]["median"]
    slowest = min(stages, key=stages.get)
    return {"input_bytes": options.gib * GIB,
            "whole_bytes_per_second": spread(figures["whole"]),
            "with_gpu_start_bytes_per_second": spread(figures["with_gpu_start"]),
            "stages_alone_bytes_per_second": stages,
            "spread_of_stages": {name: spread(figures[name]) for name in ("read", "write")},
            "slowest": slowest, "ratio_to_slowest": median(figures["whole"]) / stages[slowest],
            "run": report["run"]}


def product(options, paths, n, target, *extra):
    report = run(options, "matmul", paths[0], paths[1], "-o", target, "--dtype", "f4",
                 "--shape-a", f"{n}x{n}", "--shape-b", f"{n}x{n}", *extra)
    os.remove(target)
    return report


def measure_product(options, paths, compute, extra=()):
    """Measures one setting of matmul, interleaved with its stages. The slowest is the limit."""
    n = options.n
    target = os.path.join(options.out_dir, "c.f32")
    read, written, core, reports = [], [], [], []
    for _ in range(options.runs):
        rates = [stage(options, "read", path) for path in paths]
        read.append(sum(r["bytes"] / r["bytes_per_second"]["median"] for r in rates))
        mib = n * n * 4 // (1 << 20)
        rate = stage(options, "write", target, "--mib", max(mib, 1))
        written.append(rate["bytes"] / rate["bytes_per_second"]["median"])
        gemm = stage(options, "gemm", "--n", n, "--compute", compute, runs=3)
        core.append(gemm["seconds"]["median"])
        reports.append(product(options, paths, n, target, "--compute", compute, *extra))
    whole = [report["run"]["seconds"] for report in reports]
    # Exclude only the start-up of the GPU, not loading and planning after it.
    seconds = [report["run"]["seconds"] - report["run"]["device_seconds"] for report in reports]
    limits = {"read": median(read), "write": median(written), "gemm_in_core": median(core)}
    limit = max(limits.values())
    return {"n": n, "compute": compute, "library": gemm["library"], "options": list(extra),
            "seconds": spread(seconds), "seconds_with_gpu_start": spread(whole),
            "seconds_before_first_read": median([r["run"]["startup_seconds"] -
                                                 r["run"]["device_seconds"] for r in reports]),
            "stages_alone_seconds": limits, "limit_seconds": limit,
            "ratio_to_limit": median(seconds) / limit,
            "result": reports[-1]["result"], "run": reports[-1]["run"]}


def operands(options):
    """Generates two square matrices, loads them into the page cache, and returns their paths."""
    n = options.n
    paths = [os.path.join(options.dir, name) for name in ("a.f32", "b.f32")]
    for seed, path in enumerate(paths):
        if not os.path.exists(path) or os.path.getsize(path) != n * n * 4:
            call("ooc-run", "gen", "-o", path, "--count", n * n, "--dtype", "f4", "--pattern",
                 "normal", "--seed", seed, "--force", "--quiet", "--json")
        warm(path)
    return paths


def matmul(options):
    n = options.n
    paths = operands(options)
    results = {"f32": measure_product(options, paths, "f32")}
    if not options.cpu:
        results["tf32"] = measure_product(options, paths, "tf32")
        tight = measure_product(options, paths, "f32", ("--vram", "2GiB"))
        link = link_rates(options)
        bytes_over_link = tight["result"]["link_bytes"]
        there = bytes_over_link - tight["result"]["bytes_written"]
        read_rate = 2 * n * n * 4 / tight["stages_alone_seconds"]["read"]
        tight["link"] = link
        tight["limit_seconds"] = max(tight["limit_seconds"], there / link["there"],
                                     tight["result"]["bytes_read"] / read_rate)
        tight["ratio_to_limit"] = tight["seconds"]["median"] / tight["limit_seconds"]
        results["f32_vram_2GiB"] = tight
    return results


def main():
    measurements = {measure.__name__: measure for measure in (convert, matmul)}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(measurements))
    parser.add_argument("--dir", required=True)
    parser.add_argument("--out-dir", required=True)
    parser.add_argument("--gib", type=int, default=8)
    parser.add_argument("--n", type=int, default=32768)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="the CPU device")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    result = {"command": " ".join(["bench/measure_files_out.py"] + sys.argv[1:]),
              "machine": machine(), options.what: measurements[options.what](options)}
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
