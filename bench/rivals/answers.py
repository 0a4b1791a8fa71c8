"""Compares the rivals' answers with each other."""
import math


def same_number(one, other, tolerance=0):
    both_nan = math.isnan(one) and math.isnan(other)
    return both_nan or one == other or abs(one - other) <= tolerance


def agree(one, other, file_bytes):
    """True if two answers are the same. Sums may differ by rounding, since their order differs."""
    if "counts" in one:
        return one["counts"] == other["counts"]
    largest = max(abs(one["min"]), abs(one["max"]))
    rounding = 1e-9 * largest * file_bytes / 4
    return all(same_number(one[key], other[key], rounding if key == "sum" else 0)
               for key in ("sum", "min", "max"))


def find_wrong(answers, file_bytes):
    """Returns the errors by name of the rival. The answer of the majority counts as right."""
    agreeing = {name: [other for other in answers
                       if agree(answers[name], answers[other], file_bytes)]
                for name in answers}
    most = max(map(len, agreeing.values()), default=0)
    majority = most * 2 > len(answers)
    wrong = {}
    for name, others in agreeing.items():
        if "counts" in answers[name] and sum(answers[name]["counts"]) != file_bytes:
            wrong[name] = "its counts do not add up to the file's size"
        elif not majority:
            wrong[name] = f"no majority: agrees with {', '.join(others)}"
        elif len(others) * 2 <= len(answers):
            wrong[name] = "differs from most others"
    return wrong
