#!/usr/bin/env python3
"""Measures Python's functions over arrays on a GPU beside CuPy and PyTorch, and over one field of a
file of structs beside plain numbers: medians of runs by turns. Needs the package ooc, CuPy, PyTorch
and a GPU.

    device_arrays.py STRUCTS    # 8 GiB are written there, for example in /dev/shm
"""

import os
import statistics
import sys
import time

import cupy
import numpy as np
import ooc
import torch

GIB = 1 << 30
RANGE = (-4, 4)


def seconds(job):
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    job()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begin


def compare(title, nbytes, jobs, runs):
    times = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(runs):
        for name, job in jobs.items():
            times[name].append(seconds(job))
    print(title)
    for name, each in times.items():
        median = statistics.median(each)
        print(f"  {name:36} {nbytes / median / 1e9:8.1f} GB/s {1e3 * median:8.2f} ms "
              f"({1e3 * min(each):.2f} to {1e3 * max(each):.2f})")


def compare_arrays(count):
    x = cupy.random.default_rng(1).standard_normal(count, dtype="f4")
    tensor, other = torch.from_dlpack(x), cupy.empty_like(x)
    compare(f"an array of {4 * count >> 20} MiB of f4 on the GPU", 4 * count, {
        "cupy: a copy": lambda: cupy.copyto(other, x),
        "ooc.reduce": lambda: ooc.reduce(x),
        "cupy: sum": lambda: float(x.sum()),
        "cupy: sum, min, max, argmin, argmax":
            lambda: [float(each) for each in (x.sum(), x.min(), x.max(), x.argmin(), x.argmax())],
        "torch.var_mean": lambda: torch.var_mean(tensor),
        "ooc.histogram, 256 bins": lambda: ooc.histogram(x, 256, RANGE),
        "cupy.histogram": lambda: cupy.histogram(x, 256, RANGE),
        "torch.histc": lambda: torch.histc(tensor, 256, *RANGE),
    }, runs=9)


def compare_fields(path):
    dtype = np.dtype([("price", "f8"), ("volume", "i4"), ("flag", "u4")])
    table = np.zeros(1 << 24, dtype)
    table["price"] = np.random.default_rng(1).normal(0, 1, len(table))
    with open(path, "wb") as file:
        for _ in range(8 * GIB // table.nbytes):
            file.write(table.tobytes())
    structs, plain = ooc.open(path, dtype), ooc.open(path, "f8")
    compare("8 GiB of structs of 16 bytes; GB/s of the structs", 8 * GIB, {
        "ooc.reduce of the field": lambda: ooc.reduce(structs["price"]),
        "ooc.reduce of all bytes as f8": lambda: ooc.reduce(plain),
        "ooc.histogram of the field": lambda: ooc.histogram(structs["price"], 256, RANGE),
        "ooc.histogram of all bytes as f8": lambda: ooc.histogram(plain, 256, RANGE),
    }, runs=7)
    os.unlink(path)


def main():
    path, = sys.argv[1:]
    for count in 1 << 20, 2 * GIB:
        compare_arrays(count)
        cupy.get_default_memory_pool().free_all_blocks()
    compare_fields(path)


if __name__ == "__main__":
    main()
