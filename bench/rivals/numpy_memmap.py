#!/usr/bin/env python3
"""NumPy, one thread, over a memory-mapped file, block by block."""
import on_numpy
import rival


def on_blocks(path, dtype, function):
    return map(function, on_numpy.blocks(path, dtype, rival.block_bytes(64)))


if __name__ == "__main__":
    on_numpy.main(on_blocks)
