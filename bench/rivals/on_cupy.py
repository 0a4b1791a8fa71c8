"""The computation of all rivals on CuPy, which differ in how they copy blocks to the GPU."""
import cupy

import rival


def histogram(blocks):
    counts = cupy.zeros(256, cupy.int64)
    for block in blocks:
        counts += cupy.bincount(block, minlength=256)
    return {"counts": counts.get().tolist()}


def reduce(blocks):
    def parts():
        for block in blocks:
            values = block.view(cupy.float32)
            yield values.sum(dtype=cupy.float64).get(), values.min().get(), values.max().get()

    return rival.merge(parts())


def loop(blocks):
    weights = cupy.array(rival.weights(), cupy.float32)
    total = cupy.zeros((), cupy.float64)
    for block in blocks:
        rows = block.view(cupy.float32).reshape(-1, rival.COLUMNS)
        for first in range(0, len(rows), rival.BATCH_ROWS):
            products = rows[first:first + rival.BATCH_ROWS] @ weights
            total += cupy.maximum(products, 0).sum(dtype=cupy.float64)
    return {"loss": float(total)}


def warm_up():
    block = cupy.zeros(rival.BATCH_BYTES, cupy.uint8)
    histogram([block])
    reduce([block])
    loop([block])


def main(blocks, **versions):
    """`blocks` takes a path and yields the file's bytes as arrays on the GPU."""
    # The default stream would wait for the streams on which KvikIO copies.
    with cupy.cuda.Stream(non_blocking=True):
        rival.main({"cupy": cupy.__version__, **versions}, warm_up,
                   histogram=lambda path: histogram(blocks(path)),
                   reduce=lambda path: reduce(blocks(path)),
                   loop=lambda path: loop(blocks(path)))
