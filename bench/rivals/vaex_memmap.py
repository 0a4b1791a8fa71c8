#!/usr/bin/env python3
"""Vaex over np.memmap. The environment sets the rows of a chunk (VAEX_CHUNK_SIZE)."""
import numpy as np
import vaex

import rival


def frame(path):
    return vaex.from_arrays(value=np.memmap(path, np.float32, "r"))


def histogram_f4(path):
    counts = frame(path).count(binby="value", limits=rival.RANGE, shape=rival.BINS)
    return {"counts": counts.tolist()}


def hist2d(path):
    pairs = np.memmap(path, np.float32, "r").reshape(-1, 2)
    counts = vaex.from_arrays(x=pairs[:, 0], y=pairs[:, 1]).count(
        binby=["x", "y"], limits=[rival.RANGE] * 2, shape=(rival.BINS, rival.BINS))
    return {"counts": counts.ravel().tolist()}


def statistics(path):
    data = frame(path)
    total, extremes, variance = (method("value", delay=True)
                                 for method in (data.sum, data.minmax, data.var))
    data.execute()  # all in one pass
    return rival.statistics(len(data), total.get(), *extremes.get(), variance.get())


if __name__ == "__main__":
    rival.main({"vaex-core": vaex.__version__["vaex-core"], "numpy": np.__version__},
               histogram_f4=histogram_f4, hist2d=hist2d, statistics=statistics)
