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


def query(path, text, dtype=np.float32):
    """Returns the first column of a query of `data`."""
    data = table(path, dtype)  # noqa: F841
    return [row[0] for row in duckdb.sql(text).fetchall()]


def quantile(path):
    return rival.values(*query(path, f"SELECT quantile_disc(value, {list(rival.Q)}) FROM data")[0])


def top(path):
    return rival.values(*query(path, f"SELECT max(value, {rival.BEST}) FROM data")[0])


def distinct(path):
    return rival.values(*query(path, "SELECT count(DISTINCT value) FROM data", np.uint32))


def keep(path):
    data = table(path, np.float32)  # noqa: F841
    with rival.output(path) as out:
        kept = duckdb.sql(f"SELECT value FROM data WHERE value > {rival.ABOVE}").fetchnumpy()
        kept["value"].tofile(out)
    return rival.values(len(kept["value"]))


if __name__ == "__main__":
    rival.main({"duckdb": duckdb.__version__, "numpy": np.__version__},
               lambda job: duckdb.sql("SELECT 1").fetchall(), histogram=histogram, reduce=reduce,
               quantile=quantile, top=top, distinct=distinct, filter=keep)
