#!/usr/bin/env python3
"""np.fromfile, cupy.asarray, cupy.bincount: one after the other, in large blocks."""
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
