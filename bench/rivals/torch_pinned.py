#!/usr/bin/env python3
"""PyTorch with one thread, which reads into three pinned buffers in turn, each with a stream."""
import itertools

import torch

import on_torch

BLOCK_BYTES = 16 << 20


class Slot:
    def __init__(self):
        self.pinned = torch.empty(BLOCK_BYTES, dtype=torch.uint8, pin_memory=True)
        self.on_gpu = torch.empty(BLOCK_BYTES, dtype=torch.uint8, device="cuda")
        self.stream = torch.cuda.Stream()
        self.bytes = 0

    def read(self, file):
        self.stream.synchronize()  # wait for the last copy from this buffer
        self.bytes = file.readinto(memoryview(self.pinned.numpy()))
        return self.bytes

    def copy(self):
        with torch.cuda.stream(self.stream):
            self.on_gpu.copy_(self.pinned, non_blocking=True)

    def compute(self, function):
        with torch.cuda.stream(self.stream):
            return function(self.on_gpu[:self.bytes])


def on_blocks(path, function):
    slots = itertools.cycle([Slot(), Slot(), Slot()])
    copied = None
    with open(path, "rb", buffering=0) as file:
        while (slot := next(slots)).read(file):
            slot.copy()
            # bincount waits for the GPU. Running it on the previous block overlaps this copy.
            if copied:
                yield copied.compute(function)
            copied = slot
    if copied:
        yield copied.compute(function)


if __name__ == "__main__":
    on_torch.main(on_blocks)
