#!/usr/bin/env python3
"""DuckDB over np.memmap, since it has no reader for raw files but can scan an array."""
import duckdb
import numpy as np

import rival


def table(path, dtype):
    return {"value": np.memmap(path, dtype, "r")}


def histogram(path):
    data = table(path, np.uint8)  # noqa: F841 (the query refers to it by name)
    counts = dict(duckdb.sql("SELECT value, count(*) FROM data GROUP BY value").fetchall())
    return {"counts": [counts.get(value, 0) for value in range(256)]}


def reduce(path):
    data = table(path, np.float32)  # noqa: F841
    query = duckdb.sql("SELECT sum(value::DOUBLE), min(value), max(value) FROM data")
    return dict(zip(("sum", "min", "max"), query.fetchall()[0]))


if __name__ == "__main__":
    rival.main({"duckdb": duckdb.__version__, "numpy": np.__version__},
               lambda: duckdb.sql("SELECT 1").fetchall(), histogram=histogram, reduce=reduce)
