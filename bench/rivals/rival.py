"""What the rivals written in Python have in common: the command line, the clock, the answer.

    NAME.py FILE [--job histogram|reduce]    one JSON document: "seconds" and the answer
    NAME.py --versions                       what it needs, imported and warmed up

`histogram` and `reduce` take the file's path and return a dictionary of plain numbers; what they
allocate is timed, as it is in ooc-run. `warm_up` is not: it starts the GPU and loads the kernels.
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
    """Sum, minimum and maximum of the whole from those of its blocks."""
    sums, minima, maxima = zip(*parts)
    return {"sum": float(sum(sums)), "min": float(min(minima)), "max": float(max(maxima))}
