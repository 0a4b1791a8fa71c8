#!/usr/bin/env python3
"""Dask's arrays over np.memmap, with its scheduler of threads."""
import dask
import dask.array as da
import numpy as np

import rival


def array(path):
    data = np.memmap(path, np.float32, "r")
    return da.from_array(data, chunks=rival.block_bytes(16) // data.itemsize)


def histogram_f4(path):
    counts, _ = da.histogram(array(path), rival.BINS, rival.RANGE)
    return {"counts": counts.compute().tolist()}


def statistics(path):
    data = array(path)
    return rival.statistics(data.size, *dask.compute(
        data.sum(dtype=np.float64), data.min(), data.max(), data.var(dtype=np.float64)))


if __name__ == "__main__":
    rival.main({"dask": dask.__version__, "numpy": np.__version__}, histogram_f4=histogram_f4,
               statistics=statistics)
