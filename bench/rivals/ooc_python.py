#!/usr/bin/env python3
"""Our Python module, as ooc_run is our program: default settings; it chooses the device."""
import ooc

import rival


def histogram(path):
    return {"counts": ooc.histogram(ooc.open(path, "u1"), 256, (0, 256)).counts.tolist()}


def histogram_f4(path):
    found = ooc.histogram(ooc.open(path, "f4"), rival.BINS, rival.RANGE)
    return {"counts": found.counts.tolist()}


def reduce(path):
    found = ooc.reduce(ooc.open(path, "f4"))
    return {"sum": found.sum, "min": found.min, "max": found.max}


def statistics(path):
    found = ooc.reduce(ooc.open(path, "f4"))
    return rival.statistics(found.count, found.sum, found.min, found.max, found.variance)


if __name__ == "__main__":
    # As for all rivals, the start of the GPU is not timed.
    rival.main({"ooc": ooc.__version__}, warm_up=lambda: ooc.sum([0]), histogram=histogram,
               histogram_f4=histogram_f4, reduce=reduce, statistics=statistics)
