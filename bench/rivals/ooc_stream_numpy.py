#!/usr/bin/env python3
"""Our Python module as a loop over batches on the CPU, on which NumPy computes."""
import numpy as np
import ooc

import on_numpy
import rival


def on_blocks(path, dtype, function):
    rows = rival.BATCH_BYTES // np.dtype(dtype).itemsize
    for chunk in ooc.stream(ooc.open(path, dtype), rows=rows, device="cpu"):
        yield function(np.from_dlpack(chunk))


if __name__ == "__main__":
    on_numpy.main(on_blocks, ooc=ooc.__version__)
