#!/usr/bin/env python3
"""boost-histogram over np.memmap: threads of Python with a histogram each, or threads of fill()."""
import concurrent.futures
import os

import boost_histogram as bh
import numpy as np

import on_numpy
import rival

FILL_THREADS = int(os.environ.get("FILL_THREADS", "1"))


def count(*columns):
    axes = [bh.axis.Regular(rival.BINS, *rival.RANGE) for _ in columns]
    return bh.Histogram(*axes, storage=bh.storage.Int64()).fill(*columns, threads=FILL_THREADS)


def counts(path, count_block):
    threads = len(os.sched_getaffinity(0)) // FILL_THREADS
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        blocks = on_numpy.blocks(path, np.float32, rival.block_bytes(4))
        return {"counts": sum(pool.map(count_block, blocks)).values().ravel().tolist()}


if __name__ == "__main__":
    rival.main({"boost_histogram": bh.__version__, "numpy": np.__version__},
               histogram_f4=lambda path: counts(path, count),
               hist2d=lambda path: counts(path, lambda pairs: count(pairs[::2], pairs[1::2])))
