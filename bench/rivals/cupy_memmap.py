#!/usr/bin/env python3
"""CuPy with slices of np.memmap: the driver copies directly from pages of the page cache."""
import cupy
import numpy as np

import on_cupy

BLOCK_BYTES = 256 << 20


def blocks(path):
    data = np.memmap(path, np.uint8, "r")
    for begin in range(0, len(data), BLOCK_BYTES):
        yield cupy.asarray(data[begin:begin + BLOCK_BYTES])


if __name__ == "__main__":
    on_cupy.main(blocks)
