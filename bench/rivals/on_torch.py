"""The computation of all rivals on PyTorch, which differ in how they copy blocks to the GPU."""
import functools

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


@functools.cache
def weights():
    return torch.tensor(rival.weights(), dtype=torch.float32, device="cuda")


def step(block):
    products = block.view(torch.float32).view(-1, rival.COLUMNS) @ weights()
    return torch.relu(products).sum(dtype=torch.float64)


def loop(parts):
    parts = list(parts)
    torch.cuda.synchronize()
    return {"loss": float(torch.stack(parts).sum())}


def warm_up(_job):
    block = torch.zeros(rival.BATCH_BYTES, dtype=torch.uint8, device="cuda")
    histogram([count(block)])
    reduce([summarise(block)])
    loop([step(block)])


def main(on_blocks, **versions):
    """`on_blocks` takes a path and a function, and yields its result for each block on the GPU."""
    rival.main({"torch": torch.__version__, **versions}, warm_up,
               histogram=lambda path: histogram(on_blocks(path, count)),
               reduce=lambda path: reduce(on_blocks(path, summarise)),
               loop=lambda path: loop(on_blocks(path, step)))
