#!/usr/bin/env python3
"""Our Python module as a loop over batches on the GPU, on which PyTorch computes."""
import ooc
import torch

import on_torch
import rival


def on_blocks(path, function):
    for chunk in ooc.stream(ooc.open(path, "u1"), rows=rival.BATCH_BYTES, device="cuda"):
        yield function(torch.from_dlpack(chunk))


if __name__ == "__main__":
    on_torch.main(on_blocks, ooc=ooc.__version__)
