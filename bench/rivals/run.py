#!/usr/bin/env python3
"""Runs the same job on the same file with ooc-run and with other common programs.

    bench/rivals/run.py --file big.bin --warm --out warm.json
    bench/rivals/run.py --file big.bin --cold --only ooc_run,kvikio_tuned,fio --out cold.json
    bench/rivals/run.py --file big.f32 --warm --job statistics --out statistics.json

Prints a table, and writes all figures to --out with the machine and the versions. The runs of all
rivals are interleaved. A rival that is not installed is left out, with the reason. ooc-run must be
on the PATH.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from answers import find_wrong
from page_cache import cached_fraction
from rival import JOBS
from rivals import WRITTEN, rivals
from table import markdown

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import measure  # noqa: E402 (from the parent folder)


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no error message"


def probe(rival):
    """Returns the versions that a rival uses. Raises RuntimeError if it cannot run."""
    try:
        for command in (rival.build, rival.probe):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    except FileNotFoundError as error:
        raise RuntimeError(f"{error.filename} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError("it did not start within 300 s") from error
    except subprocess.CalledProcessError as error:
        raise RuntimeError(last_line(error.stderr)) from error
    said = done.stdout.strip()
    return json.loads(said) if said.startswith("{") else said.splitlines()[0]


def prepare(path, cold):
    """Evicts the file or loads it into the page cache; returns the fraction that is then cached."""
    if cold:
        measure.evict(path)
    elif cached_fraction(path) < 1:
        measure.warm(path)
    cached = cached_fraction(path)
    if cold and cached > 0.01:
        sys.exit(f"{path}: {cached:.0%} of it stay in the page cache; no cold run is possible here")
    return cached


def run_once(rival, variant, options):
    """Runs a rival once; returns its figures, or {"error": ...}."""
    cached = prepare(options.file, options.cold)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    try:
        done = subprocess.run(rival.command + variant.arguments, capture_output=True, text=True,
                              env={**os.environ, **variant.environment}, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {options.timeout} s"}
    process_seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        if done.returncode != 0:
            return {"error": last_line(done.stderr)}
        report = rival.read(done.stdout) if rival.read else {"seconds": process_seconds}
    finally:
        Path(options.file + WRITTEN).unlink(missing_ok=True)
    return {"seconds": report.pop("seconds"), "process_seconds": process_seconds,
            "cpu_seconds": (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime),
            "cached_before": cached, "facts": report.pop("facts", {}), "answer": report or None}


def fastest_variant(rival, options):
    """Runs each variant twice; returns the fastest one and the seconds of all."""
    if len(rival.variants) == 1:
        return rival.variants[0], {}
    trials = {variant.name: [] for variant in rival.variants}
    for _ in range(2):
        for variant in rival.variants:
            trials[variant.name].append(run_once(rival, variant, options))
    seconds = {name: [run["seconds"] for run in runs if "seconds" in run]
               for name, runs in trials.items()}
    chosen = min(rival.variants, key=lambda v: min(seconds[v.name], default=float("inf")))
    return chosen, {name: seconds[name] or runs[0]["error"] for name, runs in trials.items()}


def summary(runs, variant, trials, versions):
    figures = {key: measure.spread([run[key] for run in runs])
               for key in ("seconds", "process_seconds", "cpu_seconds")}
    return {**figures, "cached_before": max(run["cached_before"] for run in runs),
            "settings": {"environment": variant.environment, "arguments": variant.arguments},
            "trials": trials, "versions": versions, "facts": runs[-1]["facts"],
            "answers": runs[-1]["answer"] is not None}


def file_facts(path):
    kind = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True)
    return {"path": path, "bytes": os.path.getsize(path), "file_system": kind.stdout.strip()}


def compare(options, folder):
    """Measures all rivals; calls `options.write` with the result so far after each round."""
    result = {"command": " ".join(["bench/rivals/run.py"] + sys.argv[1:]),
              "machine": {**measure.machine(), "python": sys.version.split()[0]},
              "file": file_facts(options.file), "job": options.job,
              "cache": "cold" if options.cold else "warm", "rivals": {}, "left_out": {}}
    ready = []
    for rival in rivals(options.file, options.job, options.cold, folder):
        if options.only and rival.name not in options.only:
            continue
        if rival.absent:
            result["left_out"][rival.name] = rival.absent
            continue
        try:
            ready.append((rival, probe(rival)))
        except RuntimeError as error:
            result["left_out"][rival.name] = str(error)
    prepare(options.file, cold=False)
    ready = [(rival, versions, *fastest_variant(rival, options)) for rival, versions in ready]

    runs = {}
    for number in range(options.runs):
        for rival, versions, variant, trials in ready:
            done = runs.setdefault(rival.name, [])
            spent = sum(run["process_seconds"] for run in done)
            if rival.name in result["left_out"] or spent > options.budget:
                continue
            run = run_once(rival, variant, options)
            print(f"round {number + 1}, {rival.name}: "
                  f"{run.get('error') or format(run['seconds'], '.3f') + ' s'}", file=sys.stderr)
            if "error" in run:
                result["left_out"][rival.name] = "failed: " + run["error"]
                result["rivals"].pop(rival.name, None)
                continue
            done.append(run)
            result["rivals"][rival.name] = summary(done, variant, trials, versions)
        result["wrong_answers"] = find_wrong(
            {name: done[-1]["answer"] for name, done in runs.items()
             if name in result["rivals"] and done[-1]["answer"]},
            options.job, result["file"]["bytes"])
        options.write(result)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", required=True, help="generated if it is not there")
    parser.add_argument("--gib", type=int, default=8, help="size of a generated file [8]")
    parser.add_argument("--job", choices=JOBS, default="histogram")
    cache = parser.add_mutually_exclusive_group(required=True)
    cache.add_argument("--warm", action="store_true", help="the file is in the page cache")
    cache.add_argument("--cold", action="store_true", help="the file is evicted before each run")
    parser.add_argument("--only", type=lambda names: names.split(","), help="names, by commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budget", type=float, default=120,
                        help="seconds after which a rival is not run again [120]")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run [300]")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    if not os.path.exists(options.file):
        measure.generate(options.file, options.gib, JOBS[options.job])

    def write(result):
        with open(options.out, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")

    options.write = write
    with tempfile.TemporaryDirectory() as folder:
        result = compare(options, folder)
    write(result)
    print(markdown(result))
    sys.exit(1 if result.get("wrong_answers") else 0)


if __name__ == "__main__":
    main()
