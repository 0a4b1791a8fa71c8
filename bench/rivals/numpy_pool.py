#!/usr/bin/env python3
"""NumPy on all cores: a pool of processes, each counting blocks of the memory-mapped file."""
import multiprocessing
import os

import numpy as np

import rival

BLOCK_BYTES = 4 << 20  # bincount converts it to eight-byte integers: 32 MiB


def blocks(path):
    return [(path, begin) for begin in range(0, os.path.getsize(path), BLOCK_BYTES)]


def read(path, begin, dtype):
    count = min(BLOCK_BYTES, os.path.getsize(path) - begin) // np.dtype(dtype).itemsize
    return np.memmap(path, dtype, "r", offset=begin, shape=count)


def count(block):
    return np.bincount(read(*block, np.uint8), minlength=256)


def summarise(block):
    values = read(*block, np.float32)
    return values.sum(dtype=np.float64), values.min(), values.max()


def on_all_cores(function, path):
    cores = len(os.sched_getaffinity(0))
    with multiprocessing.Pool(cores) as pool:
        yield from pool.imap_unordered(function, blocks(path), chunksize=4)


def histogram(path):
    return {"counts": sum(on_all_cores(count, path)).tolist()}


def reduce(path):
    return rival.merge(on_all_cores(summarise, path))


if __name__ == "__main__":
    rival.main({"numpy": np.__version__}, histogram, reduce)
