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


def quantile(path):
    return rival.values(*ooc.quantile(ooc.open(path, "f4"), rival.Q, method="lower"))


def top(path):
    return rival.values(*ooc.top(ooc.open(path, "f4"), rival.BEST)[0])


def distinct(path):
    return rival.values(ooc.distinct(ooc.open(path, "u4")))


def columns(path):
    return rival.values(*ooc.mean(ooc.open(path, "f4", shape=(None, rival.ROW)), axis=0))


def hist2d(path):
    pairs = ooc.open(path, "f4", shape=(None, 2))
    found = ooc.histogram2d(pairs, bins=rival.BINS, range=(rival.RANGE, rival.RANGE))
    return {"counts": found.counts.ravel().tolist()}


def gram(path):
    return rival.values(*ooc.gram(ooc.open(path, "f4", shape=(None, rival.ROW))).ravel())


def keep(path):
    with rival.output(path) as out:
        return rival.values(len(ooc.filter(ooc.open(path, "f4"), out, above=rival.ABOVE,
                                           overwrite=True)))


if __name__ == "__main__":
    # As for all rivals, the start of the GPU is not timed.
    rival.main({"ooc": ooc.__version__}, warm_up=lambda job: ooc.sum([0]), histogram=histogram,
               histogram_f4=histogram_f4, reduce=reduce, statistics=statistics,
               quantile=quantile, top=top, distinct=distinct, columns=columns, hist2d=hist2d,
               gram=gram, filter=keep)
