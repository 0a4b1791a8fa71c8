#!/usr/bin/env python3
"""KvikIO, tuned: two reads are in flight while a third block is counted.

The environment sets threads, task size, bounce buffers and direct reads (KVIKIO_*) and the size of
a block in MiB (BLOCK_MIB). run.py tries several settings and measures the fastest.
"""
import collections
import os

import cupy
import kvikio

import on_cupy
import rival

BLOCK_BYTES = rival.block_bytes(128)
READS_AHEAD = 2


def blocks(path):
    size = os.path.getsize(path)
    buffers = [cupy.empty(min(BLOCK_BYTES, size), cupy.uint8) for _ in range(READS_AHEAD + 1)]
    counting = cupy.cuda.get_current_stream()
    reads = collections.deque()

    def finish():
        block, read = reads.popleft()
        if read.get() != block.nbytes:
            raise OSError(f"{path}: short read")
        return block

    with kvikio.CuFile(path) as file:
        for number, begin in enumerate(range(0, size, BLOCK_BYTES)):
            block = buffers[number % len(buffers)][:size - begin]
            reads.append((block, file.pread(block, file_offset=begin)))
            if len(reads) > READS_AHEAD:
                yield finish()
                counting.synchronize()  # the next read goes to the buffer that was counted
        while reads:
            yield finish()


if __name__ == "__main__":
    on_cupy.main(blocks, kvikio=kvikio.__version__)
