#!/usr/bin/env python3
"""NumPy, one thread: np.bincount over a memory-mapped file, block by block."""
import numpy as np

import rival

BLOCK_BYTES = 64 << 20


def blocks(path, dtype):
    data = np.memmap(path, dtype, "r")
    length = BLOCK_BYTES // data.itemsize
    return (data[begin:begin + length] for begin in range(0, len(data), length))


def histogram(path):
    counts = np.zeros(256, np.int64)
    for block in blocks(path, np.uint8):
        counts += np.bincount(block, minlength=256)
    return {"counts": counts.tolist()}


def reduce(path):
    return rival.merge((block.sum(dtype=np.float64), block.min(), block.max())
                       for block in blocks(path, np.float32))


if __name__ == "__main__":
    rival.main({"numpy": np.__version__}, histogram, reduce)
