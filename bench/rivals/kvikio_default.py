#!/usr/bin/env python3
"""KvikIO with default settings, as in its manual: CuFile.read into one array on the GPU."""
import os

import cupy
import kvikio

import on_cupy

BLOCK_BYTES = 256 << 20


def blocks(path):
    size = os.path.getsize(path)
    buffer = cupy.empty(min(BLOCK_BYTES, size), cupy.uint8)
    with kvikio.CuFile(path) as file:
        for begin in range(0, size, BLOCK_BYTES):
            block = buffer[:size - begin]
            if file.read(block, file_offset=begin) != block.nbytes:
                raise OSError(f"{path}: short read")
            yield block
            # KvikIO reads on its own streams: finish counting before the buffer is overwritten.
            cupy.cuda.get_current_stream().synchronize()


if __name__ == "__main__":
    on_cupy.main(blocks, kvikio=kvikio.__version__)
