#!/usr/bin/env python3
"""Polars over np.memmap, which it takes as a series without a copy."""
import numpy as np
import polars as pl

import rival


def series(path, dtype="f4"):
    return pl.Series("value", np.memmap(path, dtype, "r"))


def reduce(path):
    data = series(path)
    total = data.to_frame().select(pl.col("value").cast(pl.Float64).sum()).item()
    return {"sum": total, "min": data.min(), "max": data.max()}


def quantile(path):
    data = series(path).to_frame().lazy()
    column = pl.col("value")
    found = data.select([column.quantile(q, "lower").alias(str(q)) for q in rival.Q]).collect()
    return rival.values(*found.row(0))


def top(path):
    return rival.values(*series(path).top_k(rival.BEST).sort(descending=True))


def distinct(path):
    return rival.values(series(path, "u4").n_unique())


def columns(path):
    frame = pl.DataFrame(np.memmap(path, "f4", "r").reshape(-1, rival.ROW))
    return rival.values(*frame.select(pl.all().cast(pl.Float64).mean()).row(0))


def keep(path):
    data = series(path)
    with rival.output(path) as out:
        kept = data.filter(data > rival.ABOVE)
        kept.to_numpy().tofile(out)
    return rival.values(len(kept))


if __name__ == "__main__":
    rival.main({"polars": pl.__version__, "numpy": np.__version__}, reduce=reduce,
               quantile=quantile, top=top, distinct=distinct, columns=columns, filter=keep)
