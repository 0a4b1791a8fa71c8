"""Compares the rivals' answers with each other."""
import math
from itertools import accumulate

from rival import JOBS


def same_number(one, other, tolerance=0):
    both_nan = math.isnan(one) and math.isnan(other)
    return both_nan or one == other or abs(one - other) <= tolerance


def agree(one, other, job, count):
    """True if two answers are the same. Sums may differ by rounding, since their order differs.

    So may the bins of values next to an edge: NumPy rounds the edges to f4, other programs do not.
    """
    if "counts" in one:
        moved = (abs(mine - its) for mine, its in zip(accumulate(one["counts"]),
                                                      accumulate(other["counts"])))
        return max(moved) <= (1e-6 * count if job in ("histogram_f4", "hist2d") else 0)
    if "values" in one:
        # The ranks of quantiles may differ by one, and sums and means by rounding.
        tolerance = 1e-6 if job in ("quantile", "columns", "gram") else 0
        return len(one["values"]) == len(other["values"]) and all(
            same_number(mine, its, tolerance * max(abs(mine), 1e-3))
            for mine, its in zip(one["values"], other["values"]))
    if "loss" in one:
        return same_number(one["loss"], other["loss"], 1e-5 * abs(one["loss"]))
    largest = max(abs(one["min"]), abs(one["max"]))
    rounding = {"sum": 1e-9 * largest * count, "mean": 1e-9 * largest, "stddev": 1e-9 * largest}
    return all(same_number(one[key], other[key], rounding.get(key, 0)) for key in one)


def find_wrong(answers, job, file_bytes):
    """Returns the errors by name of the rival. The answer of the majority counts as right."""
    count = file_bytes // int(JOBS[job][1:])  # of values, or pairs of them
    if job == "hist2d":
        count //= 2
    agreeing = {name: [other for other in answers
                       if agree(answers[name], answers[other], job, count)]
                for name in answers}
    most = max(map(len, agreeing.values()), default=0)
    majority = most * 2 > len(answers)
    wrong = {}
    for name, others in agreeing.items():
        if "counts" in answers[name] and sum(answers[name]["counts"]) != count:
            wrong[name] = "its counts do not add up to the number of values"
        elif not majority:
            wrong[name] = f"no majority: agrees with {', '.join(others)}"
        elif len(others) * 2 <= len(answers):
            wrong[name] = "differs from most others"
    return wrong
