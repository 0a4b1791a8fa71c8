"""Common code of the rivals in Python: the command line, the clock and the answer.

    NAME.py FILE [--job histogram|reduce]    prints JSON: "seconds" and the answer
    NAME.py --versions                       warms up and prints the versions of its libraries

`histogram` and `reduce` take the file's path and return a dictionary of plain numbers. Their
allocations are timed, as in ooc-run. `warm_up`, which starts the GPU and loads kernels, is not.
"""
import argparse
import json
import time


def main(versions, histogram, reduce, warm_up=lambda: None):
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--job", choices=["histogram", "reduce"], default="histogram")
    parser.add_argument("--versions", action="store_true")
    options = parser.parse_args()
    warm_up()
    if options.versions:
        print(json.dumps(versions))
        return
    job = {"histogram": histogram, "reduce": reduce}[options.job]
    begin = time.perf_counter()
    answer = job(options.file)
    print(json.dumps({"seconds": time.perf_counter() - begin, **answer}))


def merge(parts):
    """Merges the sums, minima and maxima of the blocks."""
    sums, minima, maxima = zip(*parts)
    return {"sum": float(sum(sums)), "min": float(min(minima)), "max": float(max(maxima))}
