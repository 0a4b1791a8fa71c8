#!/usr/bin/env python3
"""PyTorch with one thread per core, each with a pinned buffer and a stream.

With DIRECT=1 in the environment, reads bypass the page cache.
"""
import concurrent.futures
import os

import torch

import on_torch

BLOCK_BYTES = 4 << 20


def on_blocks(path, function):
    direct = os.O_DIRECT if os.environ.get("DIRECT") == "1" else 0
    file = os.open(path, os.O_RDONLY | direct)
    size = os.fstat(file).st_size
    threads = len(os.sched_getaffinity(0))

    def work(first_block):
        pinned = torch.empty(BLOCK_BYTES, dtype=torch.uint8, pin_memory=True)
        on_gpu = torch.empty(BLOCK_BYTES, dtype=torch.uint8, device="cuda")
        stream = torch.cuda.Stream()
        parts = []
        with torch.cuda.stream(stream):
            for begin in range(first_block * BLOCK_BYTES, size, threads * BLOCK_BYTES):
                got = os.preadv(file, [memoryview(pinned.numpy())], begin)
                on_gpu.copy_(pinned, non_blocking=True)
                parts.append(function(on_gpu[:got]))
                stream.synchronize()  # before the buffer is read into again
        return parts

    try:
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for parts in pool.map(work, range(threads)):
                yield from parts
    finally:
        os.close(file)


if __name__ == "__main__":
    on_torch.main(on_blocks)
