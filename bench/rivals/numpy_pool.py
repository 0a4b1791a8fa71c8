#!/usr/bin/env python3
"""NumPy on all cores: a pool of processes, each working on blocks of the memory-mapped file."""
import functools
import multiprocessing
import os

import numpy as np

import on_numpy
import rival

BLOCK_BYTES = rival.block_bytes(4)  # bincount converts it to eight-byte integers: 32 MiB


def work(path, dtype, function, begin):
    count = min(BLOCK_BYTES, os.path.getsize(path) - begin) // np.dtype(dtype).itemsize
    return function(np.memmap(path, dtype, "r", offset=begin, shape=count))


def on_blocks(path, dtype, function):
    begins = range(0, os.path.getsize(path), BLOCK_BYTES)
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        yield from pool.imap_unordered(functools.partial(work, path, dtype, function), begins,
                                       chunksize=4)


if __name__ == "__main__":
    on_numpy.main(on_blocks)
