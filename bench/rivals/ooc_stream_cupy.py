#!/usr/bin/env python3
"""Our Python module as a loop over batches on the GPU, on which CuPy computes."""
import cupy
import ooc

import on_cupy
import rival


def blocks(path):
    for chunk in ooc.stream(ooc.open(path, "u1"), rows=rival.BATCH_BYTES, device="cuda"):
        yield cupy.from_dlpack(chunk)


if __name__ == "__main__":
    on_cupy.main(blocks, ooc=ooc.__version__)
