"""The computation of all rivals on NumPy, which differ in how they go through the blocks."""
import functools
import os

import numpy as np

import rival


def blocks(path, dtype, block_bytes):
    """Yields the blocks of the memory-mapped file."""
    data = np.memmap(path, dtype, "r")
    length = block_bytes // data.itemsize
    return (data[begin:begin + length] for begin in range(0, len(data), length))


def count(block):
    return np.bincount(block, minlength=256)


def count_in_bins(block):
    return np.histogram(block, rival.BINS, rival.RANGE)[0]


def summarise(block):
    return block.sum(dtype=np.float64), block.min(), block.max()


def describe(block):
    return block.size, *summarise(block), block.var(dtype=np.float64)


def loop(parts):
    return {"loss": float(sum(parts))}


@functools.cache
def weights():
    return np.array(rival.weights(), "f4")


def step(block):
    products = block.reshape(-1, rival.COLUMNS) @ weights()
    return np.maximum(products, 0).sum(dtype="f8")


def merge_statistics(parts):
    """Merges the counts, sums, minima, maxima and variances of the blocks."""
    counts, sums, minima, maxima, variances = map(np.array, zip(*parts))
    count, total = counts.sum(), sums.sum()
    squares = counts * (variances + (sums / counts - total / count) ** 2)
    return rival.statistics(count, total, minima.min(), maxima.max(), squares.sum() / count)


def fitting(block):
    return block[block > rival.ABOVE]


def keep(on_blocks, path):
    count = 0
    with rival.output(path) as out, open(out, "wb") as file:
        for kept in on_blocks(path, "f4", fitting):
            kept.tofile(file)
            count += len(kept)
    return rival.values(count)


def column_sums(block):
    return block.reshape(-1, rival.ROW).sum(axis=0, dtype="f8")


def columns(on_blocks, path):
    rows = os.path.getsize(path) // (4 * rival.ROW)
    return rival.values(*(sum(on_blocks(path, "f4", column_sums)) / rows))


def count_pairs(block):
    return np.histogram2d(block[::2], block[1::2], rival.BINS, (rival.RANGE, rival.RANGE))[0]


def products(block):
    rows = block.reshape(-1, rival.ROW).astype("f8")
    return rows.T @ rows


def best_of(block):
    return np.partition(block, -rival.BEST)[-rival.BEST:]


def top(on_blocks, path):
    best = np.concatenate(list(on_blocks(path, "f4", best_of)))
    return rival.values(*np.sort(best)[::-1][:rival.BEST])


def of_all(path, dtype, function):
    """Calls a function that needs all values at once."""
    return rival.values(*function(np.memmap(path, dtype, "r")))


def main(on_blocks, **versions):
    """`on_blocks` takes a path, a type and a function, and yields its result for each block."""
    rival.main({"numpy": np.__version__, **versions}, warm_up=lambda job: None,
               histogram=lambda path: {"counts": sum(on_blocks(path, "u1", count)).tolist()},
               histogram_f4=lambda path: {
                   "counts": sum(on_blocks(path, "f4", count_in_bins)).tolist()},
               reduce=lambda path: rival.merge(on_blocks(path, "f4", summarise)),
               statistics=lambda path: merge_statistics(on_blocks(path, "f4", describe)),
               loop=lambda path: loop(on_blocks(path, "f4", step)),
               quantile=lambda path: of_all(
                   path, "f4", lambda x: np.quantile(x, rival.Q, method="lower")),
               distinct=lambda path: of_all(path, "u4", lambda x: [np.unique(x).size]),
               top=lambda path: top(on_blocks, path),
               columns=lambda path: columns(on_blocks, path),
               hist2d=lambda path: {
                   "counts": sum(on_blocks(path, "f4", count_pairs)).ravel().tolist()},
               gram=lambda path: rival.values(*sum(on_blocks(path, "f4", products)).ravel()),
               filter=lambda path: keep(on_blocks, path))
