"""Common code of the rivals in Python: the command line, the clock and the answer.

    NAME.py FILE --job JOB         prints JSON: "seconds" and the answer
    NAME.py --versions --job JOB   warms up and prints the versions of its libraries

A job is a function that takes the file's path and returns a dictionary of plain numbers. Its
allocations are timed, as in ooc-run. `warm_up`, which starts the GPU and loads kernels, is not.
"""
import argparse
import contextlib
import json
import math
import os
import tempfile
import time

JOBS = {"histogram": "u1", "histogram_f4": "f4", "reduce": "f4", "statistics": "f4", "loop": "f4",
        "quantile": "f4", "top": "f4", "distinct": "u4", "columns": "f4", "filter": "f4",
        "hist2d": "f4", "gram": "f4"}
BINS = 100  # of histogram_f4, and of each axis of hist2d
RANGE = (0, 1)
Q = (0.25, 0.5, 0.99)  # of quantile: values of the data, as method="lower" finds them
BEST = 100  # of top
ROW = 128  # of columns and gram: values in a row
ABOVE = 0.5  # of filter, which writes a file
# Of loop: batches of rows, as in training. Each is multiplied by a small matrix; the answer is the
# sum of the positive products.
COLUMNS, BATCH_ROWS = 1024, 4096
BATCH_BYTES = COLUMNS * BATCH_ROWS * 4


def weights():
    return [[math.cos(row * 8 + column) for column in range(8)] for row in range(COLUMNS)]


def main(versions, warm_up=None, **jobs):
    """Runs one of `jobs`. Before, `warm_up` gets its name; without one, it runs on a small file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--job", choices=jobs, required=True)
    parser.add_argument("--versions", action="store_true")
    options = parser.parse_args()
    job = jobs[options.job]
    if warm_up:
        warm_up(options.job)
    else:
        on_small_file(job)
    if options.versions:
        print(json.dumps(versions))
        return
    begin = time.perf_counter()
    answer = job(options.file)
    print(json.dumps({"seconds": time.perf_counter() - begin, **answer}))


def on_small_file(job):
    """Makes libraries import what they import when they are first used."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(1 << 20))
        file.flush()
        job(file.name)


def block_bytes(default_mib):
    """Returns the size of a block, which run.py sets if it tries several."""
    return int(os.environ.get("BLOCK_MIB", default_mib)) << 20


@contextlib.contextmanager
def output(path):
    """Yields the name of a file beside the data, which is deleted at the end."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(path))) as file:
        yield file.name


def values(*found):
    return {"values": [float(value) for value in found]}


def merge(parts):
    """Merges the sums, minima and maxima of the blocks."""
    sums, minima, maxima = zip(*parts)
    return {"sum": float(sum(sums)), "min": float(min(minima)), "max": float(max(maxima))}


def statistics(count, total, least, most, variance):
    return {"sum": float(total), "min": float(least), "max": float(most),
            "mean": float(total / count), "stddev": float(variance) ** 0.5}
