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


def columns(blocks):
    total, rows = cupy.zeros(rival.ROW), 0
    for block in blocks:
        values = block.view(cupy.float32).reshape(-1, rival.ROW)
        total += values.sum(axis=0, dtype=cupy.float64)
        rows += len(values)
    return rival.values(*(total / rows).get())


def hist2d(blocks):
    counts = cupy.zeros((rival.BINS, rival.BINS))
    for block in blocks:
        pairs = block.view(cupy.float32).reshape(-1, 2)
        counts += cupy.histogram2d(pairs[:, 0], pairs[:, 1], rival.BINS,
                                   (rival.RANGE, rival.RANGE))[0]
    return {"counts": counts.ravel().get().tolist()}


def gram(blocks):
    total = cupy.zeros((rival.ROW, rival.ROW))
    for block in blocks:
        rows = block.view(cupy.float32).reshape(-1, rival.ROW).astype(cupy.float64)
        total += rows.T @ rows
    return rival.values(*total.ravel().get())


def top(blocks):
    def best(values):
        return cupy.partition(values, len(values) - rival.BEST)[-rival.BEST:]

    parts = [best(block.view(cupy.float32)) for block in blocks]
    return rival.values(*cupy.sort(best(cupy.concatenate(parts)))[::-1].get())


def of_all(blocks, function, dtype=cupy.float32):
    """Calls a function that needs all values at once: the file must fit the GPU's memory."""
    return rival.values(*function(cupy.concatenate(list(blocks)).view(dtype)))


JOBS = {"histogram": histogram, "reduce": reduce, "loop": loop, "columns": columns,
        "hist2d": hist2d, "gram": gram, "top": top,
        "quantile": lambda blocks: of_all(blocks, lambda values: cupy.quantile(
            values, cupy.array(rival.Q), method="lower").get()),
        "distinct": lambda blocks: of_all(blocks, lambda values: [cupy.unique(values).size],
                                          cupy.uint32)}


def warm_up(job):
    JOBS[job]([cupy.zeros(rival.BATCH_BYTES, cupy.uint8)])


def main(blocks, **versions):
    """`blocks` takes a path and yields the file's bytes as arrays on the GPU."""
    # The default stream would wait for the streams on which KvikIO copies.
    with cupy.cuda.Stream(non_blocking=True):
        rival.main({"cupy": cupy.__version__, **versions}, warm_up,
                   **{name: lambda path, job=job: job(blocks(path)) for name, job in JOBS.items()})
