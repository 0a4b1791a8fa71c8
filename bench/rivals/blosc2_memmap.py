#!/usr/bin/env python3
"""Python-Blosc2's lazy expressions over np.memmap. It has no histograms."""
import blosc2
import numpy as np

import rival


def statistics(path):
    data = np.memmap(path, np.float32, "r")
    values = blosc2.lazyexpr("x", {"x": data})
    total = values.sum(dtype=np.float64)
    # This is faster than values.var().
    squares = blosc2.lazyexpr("(x - mean) ** 2", {"x": data, "mean": total / data.size})
    return rival.statistics(data.size, total, values.min(), values.max(),
                            squares.sum(dtype=np.float64) / data.size)


if __name__ == "__main__":
    rival.main({"blosc2": blosc2.__version__, "numpy": np.__version__}, statistics=statistics)
