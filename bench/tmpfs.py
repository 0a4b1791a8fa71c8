#!/usr/bin/env python3
"""Measures how long the kernel takes to allocate, write and remove a file on tmpfs.

    bench/tmpfs.py --dir /dev/shm --gib 4 --out R.json

tmpfs allocates, accounts and clears each page. This limits the rate at which a run can write there.
The time of removal is the cost of replacing a file: its old pages are freed before the run ends.
"""
import argparse
import json
import os
import sys
import threading
import time

from measure import GIB, machine, spread

PIECE = 64 << 20


def allocate(descriptor, begin, _):
    os.posix_fallocate(descriptor, begin, PIECE)


def write(descriptor, begin, data):
    if os.pwrite(descriptor, data, begin) != PIECE:
        raise OSError("short write")


def timed(path, size, threads, act):
    """Returns the seconds in which `threads` threads fill a new file, and those of its removal."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.ftruncate(descriptor, size)
    pieces, lock, data = iter(range(0, size, PIECE)), threading.Lock(), bytes(PIECE)

    def work():
        while True:
            with lock:
                begin = next(pieces, None)
            if begin is None:
                return
            act(descriptor, begin, data)

    team = [threading.Thread(target=work) for _ in range(threads)]
    start = time.perf_counter()
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    filled = time.perf_counter()
    os.close(descriptor)
    os.remove(path)
    return filled - start, time.perf_counter() - filled


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--gib", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    path = os.path.join(options.dir, "ooc-tmpfs-test")
    size = options.gib * GIB
    ways = [(act, threads) for act in (allocate, write) for threads in (1, 2, 4, 8)]
    rates, removals = {way: [] for way in ways}, []
    for _ in range(options.runs):
        for way in ways:
            filled, removed = timed(path, size, way[1], way[0])
            rates[way].append(size / filled)
            removals.append(removed)
    result = {"command": " ".join(["bench/tmpfs.py"] + sys.argv[1:]), "machine": machine(),
              "bytes": size,
              "bytes_per_second": {f"{act.__name__}, {threads} threads": spread(found)
                                   for (act, threads), found in rates.items()},
              "remove_seconds": spread(removals)}
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
