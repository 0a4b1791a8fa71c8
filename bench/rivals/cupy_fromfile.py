#!/usr/bin/env python3
"""CuPy with np.fromfile, cupy.asarray and cupy.bincount in turn, in large blocks."""
import cupy
import numpy as np

import on_cupy

BLOCK_BYTES = 256 << 20


def blocks(path):
    with open(path, "rb") as file:
        while len(block := np.fromfile(file, np.uint8, BLOCK_BYTES)):
            yield cupy.asarray(block)


if __name__ == "__main__":
    on_cupy.main(blocks)
