#!/usr/bin/env python3
"""Measures the cost of copies out of the page cache, against a GPU that reads its pages directly.

    bench/zero_copy.py --file big.bin --gib 16 --out R.json

Threads register windows of the mapped file with CUDA, read-only, copy them to the GPU, and
unregister them; no core touches the data. In the same rounds, in random order, ooc-bench runs a
pass from the page cache, which copies into a pool that is registered once and counts bytes on the
GPU.
The results are rates and CPU seconds per GB.
"""

import argparse
import ctypes
import itertools
import json
import mmap
import os
import random
import resource
import sys
import threading
import time

from measure import call, generate, machine, spread, warm

MIB = 1 << 20
READ_ONLY = 8  # cudaHostRegisterReadOnly
TO_DEVICE = 1  # cudaMemcpyHostToDevice


class Cuda:
    def __init__(self):
        self.library = ctypes.CDLL("libcudart.so")

    def __getattr__(self, name):
        def checked(*arguments):
            status = getattr(self.library, name)(*arguments)
            if status != 0:
                raise RuntimeError(f"{name}: CUDA error {status}")
        return checked


def zero_copy(cuda, path, threads, window):
    """Returns the seconds and CPU seconds of one pass."""
    size = os.path.getsize(path)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    descriptor = os.open(path, os.O_RDONLY)
    begin = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, descriptor,
                      ctypes.c_long(0))
    os.close(descriptor)
    if begin in (None, ctypes.c_void_p(-1).value):
        raise OSError(f"{path} cannot be mapped")
    windows = itertools.count()
    failures = []

    def work():
        buffer, stream = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            cuda.cudaMalloc(ctypes.byref(buffer), ctypes.c_size_t(window))
            cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
            start.wait()
            while (offset := next(windows) * window) < size:
                memory = ctypes.c_void_p(begin + offset)
                length = ctypes.c_size_t(min(window, size - offset))
                cuda.cudaHostRegister(memory, length, READ_ONLY)
                try:
                    cuda.cudaMemcpyAsync(buffer, memory, length, TO_DEVICE, stream)
                    cuda.cudaStreamSynchronize(stream)
                finally:
                    cuda.cudaHostUnregister(memory)
            done.wait()
        except threading.BrokenBarrierError:
            pass  # another thread has recorded the error
        except RuntimeError as error:
            failures.append(error)
            start.abort()
            done.abort()
        if stream:
            cuda.cudaStreamDestroy(stream)
        if buffer:
            cuda.cudaFree(buffer)

    start, done = threading.Barrier(threads + 1), threading.Barrier(threads + 1)

    def wait(barrier):
        try:
            barrier.wait()
        except threading.BrokenBarrierError:
            pass  # a worker has failed

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    wait(start)
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    wait(done)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    for worker in workers:
        worker.join()
    libc.munmap(ctypes.c_void_p(begin), ctypes.c_size_t(size))
    if failures:
        raise failures[0]
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", required=True)
    parser.add_argument("--gib", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--windows", type=int, nargs="+", default=[16, 64], metavar="MIB")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    generate(options.file, options.gib, "u1")
    warm(options.file)
    gigabytes = os.path.getsize(options.file) / 1e9
    cuda = Cuda()
    cuda.cudaFree(None)  # starts CUDA
    ways = {f"{threads} threads, windows of {window} MiB": (threads, window * MIB)
            for threads in options.threads for window in options.windows}
    figures = {name: {"gigabytes_per_second": [], "cpu_seconds_per_gb": []}
               for name in ["copied, by ooc", *ways]}
    for _ in range(options.runs):
        for name in random.sample(list(figures), len(figures)):
            if name in ways:
                seconds, cpu_seconds = zero_copy(cuda, options.file, *ways[name])
                rate, cost = gigabytes / seconds, cpu_seconds / gigabytes
            else:
                report = call("ooc-bench", "file", options.file, "--cuda", "--runs", 1)
                rate = report["bytes_per_second"]["median"] / 1e9
                cost = report["cpu_seconds_per_gb"]["median"]
            figures[name]["gigabytes_per_second"].append(rate)
            figures[name]["cpu_seconds_per_gb"].append(cost)
    result = {name: {what: spread(values) for what, values in row.items()}
              for name, row in figures.items()}
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"command": " ".join(["bench/zero_copy.py"] + sys.argv[1:]),
                   "machine": machine(), "zero_copy": result}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
