"""The computation of all rivals on PyTorch, which differ in how they copy blocks to the GPU."""
import torch

import rival


def count(block):
    return torch.bincount(block, minlength=256)


def summarise(block):
    values = block.view(torch.float32)
    return torch.stack([values.sum(dtype=torch.float64), *values.aminmax()])


def histogram(parts):
    """Adds the counts of the blocks, which several streams may still be computing."""
    parts = list(parts)
    torch.cuda.synchronize()
    return {"counts": torch.stack(parts).sum(0).tolist()}


def reduce(parts):
    parts = list(parts)
    torch.cuda.synchronize()
    return rival.merge(torch.stack(parts).tolist())


def warm_up():
    block = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    histogram([count(block)])
    reduce([summarise(block)])


def main(on_blocks):
    """`on_blocks` takes a path and a function, and yields its result for each block on the GPU."""
    rival.main({"torch": torch.__version__}, warm_up,
               histogram=lambda path: histogram(on_blocks(path, count)),
               reduce=lambda path: reduce(on_blocks(path, summarise)))
