#!/usr/bin/env python3
"""PyTorch's DataLoader: the file as a dataset of blocks, eight worker processes, pinned memory."""
import os

import numpy as np
import torch

import on_torch

BLOCK_BYTES = 16 << 20
WORKERS = 8


class Blocks(torch.utils.data.Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return -(-os.path.getsize(self.path) // BLOCK_BYTES)

    def __getitem__(self, index):
        block = np.fromfile(self.path, np.uint8, BLOCK_BYTES, offset=index * BLOCK_BYTES)
        return torch.from_numpy(block)


def on_blocks(path, function):
    loader = torch.utils.data.DataLoader(Blocks(path), batch_size=None, num_workers=WORKERS,
                                         pin_memory=True)
    for block in loader:
        yield function(block.to("cuda", non_blocking=True))


if __name__ == "__main__":
    on_torch.main(on_blocks)
